// Bounds the WebSocket connections of one process, opens those that are carried to routers, and closes them when the gateway
// drains or what they were opened by is no longer there.

import { randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { RouterRecord } from '../../../language/realm/record.ts'
import type { Log } from '../../../telemetry/log.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { MemoryBudget } from '../../memory/memory-budget.ts'
import { GOING_AWAY, Relay, type RelayEnds, type RelayOptions, type WampRules } from './relay.ts'
import { RELAYED, type RelayHandshake } from './handshake.ts'
import {
  type ConnectOptions,
  connectRouter,
  RouterConnectError,
  type RouterConnection,
} from './router-connection.ts'
import { hasUrl, webSocketUrls } from '../../../language/realm/router-urls.ts'
import type { RouterDial } from '../transport/router-dial.ts'

export interface RelayLimits
  extends
    Pick<RelayOptions, 'idleMs' | 'stallMs' | 'lingerMs'>,
    Pick<ConnectOptions, 'connectTimeoutMs' | 'responseTimeoutMs' | 'totalMs'> {
  /** Open and being opened, in this process. */
  readonly maxRelays: number
  /** The shares of them that one realm, and one client, may have. */
  readonly realmShare: number
  readonly clientShare: number
  /** To and from routers. */
  readonly maxMessageBytes: number
  /** How often relays are checked for being idle, stalled or orphaned. */
  readonly checkMs: number
}

const LIMITS: RelayLimits = {
  maxRelays: 10_000,
  realmShare: 0.75,
  clientShare: 0.25,
  maxMessageBytes: 16 * 1024 * 1024,
  idleMs: 5 * 60_000,
  stallMs: 60_000,
  lingerMs: 2000,
  connectTimeoutMs: 5000,
  responseTimeoutMs: 5000,
  totalMs: 10_000,
  checkMs: 1000,
}

export interface RelaysOptions {
  /** As the realm's record has it now; undefined: there is no such realm, or it has no router. */
  readonly routerOf: (realmUri: string) => RouterRecord | undefined
  readonly dial: RouterDial
  readonly log: Log
  /** Charged for what ends do not take; if left out, nothing is. */
  readonly memory?: MemoryBudget
  readonly limits?: Partial<RelayLimits>
  /** Monotonic, milliseconds. */
  readonly now?: () => number
}

/** A router connection that waits for its client. Either `start` or `drop` must be called, at once. */
export interface OpenedRelay {
  /** From the router's response, for the client's: `Sec-WebSocket-Accept`, `Sec-WebSocket-Protocol`. */
  readonly accept: string
  readonly protocol: string
  /** The client has its response; `head` is what followed its handshake. */
  start(client: Duplex, head: Buffer): void
  /** The client has gone. */
  drop(): void
}

/** Whose connection it is. */
export interface RelayOwner {
  readonly realmUri: string
  /** The client by which connections are shared out; undefined: not known. */
  readonly from: string | undefined
}

/** A Close frame that ends a connection. */
export interface RelayEnd {
  readonly code: number
  readonly reason: string
}

export interface RelayRules {
  /** Asked at intervals: why the connection ends now; undefined: it goes on. */
  readonly whyOver: () => RelayEnd | undefined
  /** Rules for connections to routers. */
  readonly wamp?: WampRules | undefined
}

/** The right to one connection. */
export interface RelayPermit {
  /** Idempotent. */
  release(): void
}

interface OpenRelay {
  readonly relay: Relay
  readonly whyOver: RelayRules['whyOver']
}

/**
 * @example
 * const relays = new Relays({ routerOf: (uri) => realms.get(uri)?.router, dial, log })
 * const place = { realmUri: 'com.acme', from: '192.0.2.1', whyOver: () => undefined }
 * const opened = await relays.open(place, { key, protocols: ['wamp.2.json'] }, signal)
 */
export class Relays {
  readonly #options: RelaysOptions
  readonly #limits: RelayLimits
  readonly #now: () => number
  readonly #relays = new Set<OpenRelay>()
  readonly #closing = new AbortController()
  /** Realms whose routers accepted no connection at the last attempt. */
  readonly #unavailable = new Set<string>()
  /** Permits by realm, and by client. */
  readonly #ofRealm = new Map<string, number>()
  readonly #ofClient = new Map<string, number>()
  #permits = 0
  #timer: NodeJS.Timeout | undefined = undefined
  #whenEmpty: (() => void)[] = []

  constructor(options: RelaysOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#now = options.now ?? (() => performance.now())
  }

  /** Open now. */
  get size(): number {
    return this.#relays.size
  }

  /** Whether the realm has a router that is reached by WebSocket. */
  hasRouter(realmUri: string): boolean {
    return webSocketUrls(this.#options.routerOf(realmUri)).length > 0
  }

  /** @returns why not, if there are too many, or the gateway is shutting down */
  claim({ realmUri, from }: RelayOwner): RelayPermit | GatewayError {
    if (this.#closing.signal.aborted) return overloaded('The gateway is shutting down')
    const { maxRelays, realmShare, clientShare } = this.#limits
    if (this.#permits >= maxRelays) return overloaded('There are too many WebSocket connections')
    if ((this.#ofRealm.get(realmUri) ?? 0) >= maxRelays * realmShare)
      return overloaded('There are too many WebSocket connections of this realm')
    if (from !== undefined && (this.#ofClient.get(from) ?? 0) >= maxRelays * clientShare)
      return overloaded('There are too many WebSocket connections from this address')
    const count = (by: 1 | -1): void => {
      this.#permits += by
      add(this.#ofRealm, realmUri, by)
      if (from !== undefined) add(this.#ofClient, from, by)
    }
    count(1)
    let isReleased = false
    return {
      release: () => {
        if (!isReleased) count(-1)
        isReleased = true
      },
    }
  }

  /** Passes on what either end sends; releases the permit when both are closed. */
  carry(permit: RelayPermit, ends: RelayEnds, { whyOver, wamp }: RelayRules): void {
    const { client } = ends
    if (client instanceof Socket) client.setTimeout(0)
    const memory = this.#options.memory?.open(client)
    const relay = new Relay(ends, {
      ...this.#limits,
      wamp,
      memory,
      now: this.#now,
      mask: () => randomBytes(4),
      onClosed: () => {
        memory?.close()
        permit.release()
        this.#remove(opened)
      },
    })
    const opened: OpenRelay = { relay, whyOver }
    this.#relays.add(opened)
    this.#timer ??= setInterval(() => {
      this.#check()
    }, this.#limits.checkMs).unref()
    if (this.#closing.signal.aborted) relay.close(GOING_AWAY, 'the gateway is shutting down')
  }

  /**
   * @throws GatewayError `svc.error.bad_gateway`: no router accepts the connection; `svc.error.overloaded`: there
   * are too many, or the gateway is shutting down
   */
  async open(
    owner: RelayOwner & Pick<RelayRules, 'whyOver'>,
    handshake: RelayHandshake,
    signal: AbortSignal,
  ): Promise<OpenedRelay> {
    const permit = this.claim(owner)
    if (permit instanceof GatewayError) throw permit
    try {
      const connection = await this.#connect(owner.realmUri, handshake, signal)
      return this.#opened(permit, owner, connection)
    } catch (error) {
      permit.release()
      throw error
    }
  }

  /** Closes all with `code` and takes no new ones; resolves when the last has ended, within about 2 s. */
  closeAll(code = GOING_AWAY): Promise<void> {
    this.#closing.abort()
    for (const { relay } of this.#relays) relay.close(code, 'the gateway is shutting down')
    return new Promise((resolve) => {
      if (this.#relays.size === 0) resolve()
      else this.#whenEmpty.push(resolve)
    })
  }

  async #connect(
    realmUri: string,
    handshake: RelayHandshake,
    signal: AbortSignal,
  ): Promise<RouterConnection> {
    const urls = webSocketUrls(this.#options.routerOf(realmUri))
    const connectOptions: ConnectOptions = {
      ...this.#limits,
      now: this.#now,
      dial: this.#options.dial,
    }
    const anySignal = AbortSignal.any([signal, this.#closing.signal])
    try {
      const connection = await connectRouter(urls, handshake, connectOptions, anySignal)
      this.#unavailable.delete(realmUri)
      return connection
    } catch (error) {
      if (this.#closing.signal.aborted) throw overloaded('The gateway is shutting down', error)
      if (error instanceof RouterConnectError && !signal.aborted)
        this.#logOnce(realmUri, error.reasons)
      throw badGateway(error)
    }
  }

  /** Logs once, until a router accepts a connection again: there may be many clients that keep trying. */
  #logOnce(realm: string, reasons: readonly string[]): void {
    if (this.#unavailable.has(realm)) return
    this.#unavailable.add(realm)
    this.#options.log.warn('no router accepts a WebSocket connection', { realm, reasons })
  }

  #opened(
    permit: RelayPermit,
    { realmUri, whyOver }: RelayOwner & Pick<RelayRules, 'whyOver'>,
    { socket: peer, head: peerHead, accept, protocol, url }: RouterConnection,
  ): OpenedRelay {
    const { maxMessageBytes } = this.#limits
    const rules: RelayRules = {
      whyOver: () =>
        whyOver() ?? (hasUrl(this.#options.routerOf(realmUri), url) ? undefined : OTHER_ROUTER),
      wamp: { realmUri, format: RELAYED[protocol], maxMessageBytes },
    }
    return {
      accept,
      protocol,
      start: (client, clientHead) => {
        this.carry(permit, { client, clientHead, peer, peerHead }, rules)
      },
      drop: () => {
        permit.release()
        peer.destroy()
      },
    }
  }

  #remove(opened: OpenRelay): void {
    this.#relays.delete(opened)
    if (this.#relays.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const resolve of this.#whenEmpty) resolve()
    this.#whenEmpty = []
  }

  #check(): void {
    for (const { relay, whyOver } of this.#relays) {
      relay.check()
      const end = whyOver()
      if (end !== undefined) relay.close(end.code, end.reason)
    }
  }
}

const OTHER_ROUTER: RelayEnd = { code: GOING_AWAY, reason: 'the router of the realm has changed' }

const add = (counts: Map<string, number>, key: string, by: 1 | -1): void => {
  const count = (counts.get(key) ?? 0) + by
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

const overloaded = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('svc.error.overloaded', message, { headers: { 'retry-after': '1' }, cause })

const badGateway = (cause: unknown): GatewayError =>
  new GatewayError('svc.error.bad_gateway', 'The router of the realm takes no connection', {
    cause,
  })
