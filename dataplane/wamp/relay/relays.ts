// Opens and bounds the WebSocket connections of one process that are carried to routers, and closes them when the
// gateway drains or the router of a realm is no longer there.

import { randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { RouterRecord } from '../../../language/realm/record.ts'
import type { Log } from '../../../telemetry/log.ts'
import { GatewayError } from '../../gateway-error.ts'
import { GOING_AWAY, Relay, type RelayOptions } from './relay.ts'
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
    Pick<RelayOptions, 'maxMessageBytes' | 'idleMs' | 'stallMs' | 'lingerMs'>,
    Pick<ConnectOptions, 'connectTimeoutMs' | 'responseTimeoutMs' | 'totalMs'> {
  /** Open and being opened, in this process. */
  readonly maxRelays: number
  /** How often relays are checked for being idle, stalled or orphaned. */
  readonly checkMs: number
}

const LIMITS: RelayLimits = {
  maxRelays: 10_000,
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

/** What a connection belongs to. */
export interface RelayPlace {
  readonly realmUri: string
  /** Called at intervals: once it returns false, the connection is closed. */
  readonly isServed: () => boolean
}

interface OpenRelay {
  readonly relay: Relay
  readonly place: RelayPlace
  readonly url: string
}

/**
 * @example
 * const relays = new Relays({ routerOf: (uri) => realms.get(uri)?.router, dial, log })
 * const place = { realmUri: 'com.acme', isServed: () => true }
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
  #opening = 0
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

  /**
   * @throws GatewayError `svc.error.bad_gateway`: no router accepts the connection; `svc.error.overloaded`: there
   * are too many, or the gateway is shutting down
   */
  async open(
    place: RelayPlace,
    handshake: RelayHandshake,
    signal: AbortSignal,
  ): Promise<OpenedRelay> {
    if (this.#closing.signal.aborted) throw overloaded('The gateway is shutting down')
    if (this.#relays.size + this.#opening >= this.#limits.maxRelays)
      throw overloaded('There are too many WebSocket connections')
    this.#opening += 1
    try {
      return this.#opened(place, await this.#connect(place.realmUri, handshake, signal))
    } catch (error) {
      this.#opening -= 1
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

  #opened(place: RelayPlace, connection: RouterConnection): OpenedRelay {
    const { socket: router, head: routerHead, accept, protocol } = connection
    return {
      accept,
      protocol,
      start: (client, clientHead) => {
        this.#opening -= 1
        if (client instanceof Socket) client.setTimeout(0)
        this.#start(place, connection, { client, clientHead, router, routerHead })
      },
      drop: () => {
        this.#opening -= 1
        router.destroy()
      },
    }
  }

  #start(
    place: RelayPlace,
    { url, protocol }: RouterConnection,
    ends: ConstructorParameters<typeof Relay>[0],
  ): void {
    const relay = new Relay(ends, {
      ...this.#limits,
      realmUri: place.realmUri,
      format: RELAYED[protocol],
      now: this.#now,
      mask: () => randomBytes(4),
      onClosed: () => {
        this.#remove(opened)
      },
    })
    const opened: OpenRelay = { relay, place, url }
    this.#relays.add(opened)
    this.#timer ??= setInterval(() => {
      this.#check()
    }, this.#limits.checkMs).unref()
    if (this.#closing.signal.aborted) relay.close(GOING_AWAY, 'the gateway is shutting down')
  }

  #remove(opened: OpenRelay): void {
    this.#relays.delete(opened)
    if (this.#relays.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const resolve of this.#whenEmpty) resolve()
    this.#whenEmpty = []
  }

  /** Closes connections whose API is not served any more, or whose realm is gone or has another router. */
  #check(): void {
    for (const { relay, place, url } of this.#relays) {
      relay.check()
      if (!place.isServed()) relay.close(GOING_AWAY, 'the document was deleted or deactivated')
      else if (!hasUrl(this.#options.routerOf(place.realmUri), url))
        relay.close(GOING_AWAY, 'the router of the realm has changed')
    }
  }
}

const overloaded = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('svc.error.overloaded', message, { headers: { 'retry-after': '1' }, cause })

const badGateway = (cause: unknown): GatewayError =>
  new GatewayError('svc.error.bad_gateway', 'The router of the realm takes no connection', {
    cause,
  })
