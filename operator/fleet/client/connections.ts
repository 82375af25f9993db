// Keeps connections to one data plane open between calls, and recreates them when the credentials change. Never aborts a
// call because of that.

import { createSecureContext, type SecureContext } from 'node:tls'
import { Pool } from 'undici'
import type { DataPlane } from '../../data-plane.ts'
import type { Credentials } from './credentials.ts'

/** Reading a certificate and a bundle of CAs costs a millisecond: done once for all that share them. */
export class SecureContexts {
  readonly #contexts = new WeakMap<Credentials['tls'], SecureContext>()

  /** @throws Error where the PEM is none */
  of(tls: Credentials['tls']): SecureContext {
    const known = this.#contexts.get(tls)
    if (known !== undefined) return known
    const { ca, cert, key } = tls
    const context = createSecureContext({
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    })
    this.#contexts.set(tls, context)
    return context
  }
}

const CONNECT_MS = 2_000
const MAX_HEAD_BYTES = 16 * 1024
/** Longer than between two polls. A data plane that closes earlier says so, and is believed. */
const KEEP_ALIVE_MS = 60_000

export class Connections {
  readonly #dataPlane: DataPlane
  readonly #contexts: SecureContexts
  #open: { readonly tls: Credentials['tls']; readonly pool: Pool } | undefined
  /** The pools of former credentials, until their last call has ended. */
  readonly #leaving = new Set<Pool>()

  constructor(dataPlane: DataPlane, contexts: SecureContexts) {
    this.#dataPlane = dataPlane
    this.#contexts = contexts
  }

  /** @throws Error where the credentials can't be used */
  poolFor({ tls }: Credentials): Pool {
    if (this.#open !== undefined && sameTls(this.#open.tls, tls)) return this.#open.pool
    const pool = this.#create(tls)
    if (this.#open !== undefined) this.#retire(this.#open.pool)
    this.#open = { tls, pool }
    return pool
  }

  /** Breaks off what is under way. */
  async destroy(): Promise<void> {
    const pools = [...this.#leaving, ...(this.#open === undefined ? [] : [this.#open.pool])]
    await Promise.all(pools.map((pool) => pool.destroy()))
  }

  #retire(pool: Pool): void {
    this.#leaving.add(pool)
    const forget = (): void => {
      this.#leaving.delete(pool)
    }
    pool.close().then(forget, forget)
  }

  #create(tls: Credentials['tls']): Pool {
    const { url } = this.#dataPlane
    const isSocket = url.startsWith('unix:')
    return new Pool(isSocket ? 'http://localhost' : url, {
      connections: 2,
      maxHeaderSize: MAX_HEAD_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      allowH2: false,
      connectTimeout: CONNECT_MS,
      ...(isSocket && { socketPath: url.slice('unix:'.length) }),
      ...(url.startsWith('https:') && { connect: this.#secure(tls) }),
    })
  }

  #secure(tls: Credentials['tls']): {
    readonly secureContext: SecureContext
    readonly servername?: string
  } {
    const servername = this.#dataPlane.serverName ?? tls.servername
    return {
      secureContext: this.#contexts.of(tls),
      ...(servername !== undefined && { servername }),
    }
  }
}

const sameTls = (left: Credentials['tls'], right: Credentials['tls']): boolean =>
  left === right ||
  (left.ca === right.ca &&
    left.cert === right.cert &&
    left.key === right.key &&
    left.servername === right.servername)
