// Keeps two connections to Redis open, one for commands and one for the subscription, and reopens them for ever. It
// is ready only while both are open, everything that was missed has been loaded, and Redis accepts writes.

import type { createClient, RedisClientType } from 'redis'
import { getCACertificates } from 'node:tls'
import { backOffMs } from '../../base/back-off.ts'
import { withTimeout } from '../../base/timeout.ts'
import { SharedStateError } from './shared-state.ts'
import { messageOf } from '../../base/thrown.ts'

type Client = Pick<
  RedisClientType,
  'connect' | 'destroy' | 'on' | 'sendCommand' | 'subscribe' | 'isReady'
>

export type SendCommand = (command: readonly string[]) => Promise<unknown>

/** All in milliseconds. */
export interface RedisTimes {
  readonly pingEveryMs: number
  readonly keepUpEveryMs: number
  /** A connection on which nothing is received for so long is frozen. */
  readonly silenceMs: number
  /** Before new connections are opened; doubled with each failure. */
  readonly firstBackOffMs: number
  /** Before a client reopens its connection. */
  readonly longestReconnectMs: number
}

const TIMES: RedisTimes = {
  pingEveryMs: 1000,
  keepUpEveryMs: 1000,
  silenceMs: 3000,
  firstBackOffMs: 500,
  longestReconnectMs: 1000,
}

export interface RedisConnectionOptions {
  readonly url: string
  readonly extraCa: readonly string[]
  readonly channel: string
  readonly onMessage: (message: string) => void
  /** Runs when both connections are open, before the state is ready. */
  readonly load: (send: SendCommand) => Promise<void>
  /** Runs at intervals while it is ready. It writes: a Redis that is full or has become a replica is unavailable. */
  readonly keepUp: (send: SendCommand) => Promise<void>
  readonly onHealth: () => void
  readonly onError: (message: string) => void
  readonly times?: Partial<RedisTimes>
}

const CONNECT_TIMEOUT_MS = 3000
const COMMAND_TIMEOUT_MS = 1000
/** For all revocations, at most a million entries. */
const LOAD_TIMEOUT_MS = 10_000
const LONGEST_BACK_OFF_MS = 5000
const MAX_WAITING_COMMANDS = 10_000

/** Two clients, as one that has subscribed takes no commands. */
interface Connections {
  readonly commands: Client
  readonly listener: Client
  /** A reconnect of the listener keeps its subscription. */
  isSubscribed: boolean
}

type Phase =
  /** The library is being loaded; it stays so if that fails. */
  | { readonly kind: 'importing' }
  /** Both connections are being opened, or reopened after an error, by the clients themselves. */
  | { readonly kind: 'connecting'; readonly connections: Connections }
  /** Both are open, and what was missed is loaded. */
  | { readonly kind: 'loading'; readonly connections: Connections }
  | {
      readonly kind: 'ready'
      readonly connections: Connections
      readonly nextKeepUp: NodeJS.Timeout
    }
  /** The connections have been dropped, and new ones are opened later. */
  | { readonly kind: 'backing_off'; readonly retry: NodeJS.Timeout }
  | { readonly kind: 'closed' }

export class RedisConnection {
  readonly #options: RedisConnectionOptions
  readonly #times: RedisTimes
  /** Work that began in a phase counts for nothing once that has ended: each phase is an object of its own. */
  #phase: Phase = { kind: 'importing' }
  /** How often the connections were dropped in a row. */
  #failures = 0
  #wasReady = false
  #lastReported = ''

  constructor(options: RedisConnectionOptions) {
    this.#options = options
    this.#times = { ...TIMES, ...options.times }
    void this.#open()
  }

  get isReady(): boolean {
    return this.#phase.kind === 'ready' && areOpen(this.#phase.connections)
  }

  /** Rejects with a SharedStateError: at once while it is not ready, after a second without a response. */
  send(command: readonly string[]): Promise<unknown> {
    if (!this.isReady) return Promise.reject(unavailable('Redis is away'))
    return this.#send(command)
  }

  /**
   * Opens new connections: behind the address there may be another Redis by now, where this one has become its replica.
   */
  reload(): void {
    if (this.#phase.kind === 'closed') return
    this.#failures++
    const backOff = { firstMs: this.#times.firstBackOffMs, capMs: LONGEST_BACK_OFF_MS }
    const retry = setTimeout(
      () => {
        void this.#open()
      },
      backOffMs(this.#failures, backOff, Math.random()),
    ).unref()
    this.#enter({ kind: 'backing_off', retry })
  }

  close(): Promise<void> {
    this.#enter({ kind: 'closed' })
    return Promise.resolve()
  }

  /**
   * The one place where the phase changes: timers and connections do not outlive the phases that they belong to, and a
   * closed connection stays closed.
   */
  #enter<P extends Phase>(next: P): P {
    const before = this.#phase
    if (before.kind === 'closed') return next
    this.#phase = next
    if (before.kind === 'backing_off') clearTimeout(before.retry)
    if (before.kind === 'ready') clearTimeout(before.nextKeepUp)
    const dropped = connectionsOf(before)
    if (dropped !== undefined && dropped !== connectionsOf(next)) {
      dropped.commands.destroy()
      dropped.listener.destroy()
    }
    if (next.kind !== 'closed') this.#notifyHealth()
    return next
  }

  /** Never rejects. */
  async #open(): Promise<void> {
    const phase = this.#enter({ kind: 'importing' })
    let connections: Connections
    try {
      const { createClient: create } = await import('redis')
      if (this.#phase !== phase) return
      connections = {
        commands: this.#create(create),
        listener: this.#create(create),
        isSubscribed: false,
      }
    } catch (error) {
      this.#report(error)
      return
    }
    this.#enter({ kind: 'connecting', connections })
    // They retry for ever by themselves, and load when they are ready: a first attempt that fails is no error of ours.
    connections.commands.connect().catch(() => undefined)
    connections.listener.connect().catch(() => undefined)
  }

  #create(create: typeof createClient): Client {
    const { url, extraCa } = this.#options
    const { longestReconnectMs, pingEveryMs, silenceMs } = this.#times
    const client = create({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING_COMMANDS,
      pingInterval: pingEveryMs,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        // A connection that is frozen: the pings above keep a good one from being idle.
        socketTimeout: silenceMs,
        reconnectStrategy: (retries) =>
          Math.min(50 * 2 ** Math.min(retries, 5), longestReconnectMs),
        ...(url.startsWith('rediss:') && extraCa.length > 0
          ? { tls: true, ca: [...getCACertificates(), ...extraCa] }
          : {}),
      },
    })
    client.on('error', (error: unknown) => {
      const connections = connectionsOf(this.#phase)
      if (connections?.commands !== client && connections?.listener !== client) return
      this.#report(error)
      this.#enter({ kind: 'connecting', connections })
    })
    client.on('ready', () => {
      void this.#load()
    })
    return client
  }

  /** Runs again after each reconnect, which has missed what was published meanwhile. Never rejects. */
  async #load(): Promise<void> {
    const connections = connectionsOf(this.#phase)
    if (connections === undefined || !areOpen(connections)) return
    const phase = this.#enter({ kind: 'loading', connections })
    const isLoaded = await this.#attempt(phase, async () => {
      await this.#subscribe(connections)
      await this.#options.load((command) => this.#send(command, LOAD_TIMEOUT_MS))
    })
    if (!isLoaded) return
    this.#failures = 0
    this.#lastReported = ''
    this.#enterReady(connections)
  }

  #enterReady(connections: Connections): void {
    const nextKeepUp = setTimeout(() => {
      void this.#keepUp()
    }, this.#times.keepUpEveryMs).unref()
    this.#enter({ kind: 'ready', connections, nextKeepUp })
  }

  /** Never rejects; ends where the next load starts it again. */
  async #keepUp(): Promise<void> {
    const phase = this.#phase
    if (phase.kind !== 'ready' || !areOpen(phase.connections)) return
    const isUpToDate = await this.#attempt(phase, () =>
      this.#options.keepUp((command) => this.#send(command, this.#times.silenceMs)),
    )
    if (isUpToDate) this.#enterReady(phase.connections)
  }

  /** False: it has failed and new connections are opened, or the phase has ended meanwhile. Never rejects. */
  async #attempt(phase: Phase, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
    } catch (error) {
      if (this.#phase === phase) {
        this.#report(error)
        this.reload()
      }
      return false
    }
    return this.#phase === phase
  }

  /** Before anything is loaded, so that nothing published in between is missed. */
  async #subscribe(connections: Connections): Promise<void> {
    if (connections.isSubscribed) return
    const { channel, onMessage } = this.#options
    await connections.listener.subscribe(channel, onMessage)
    connections.isSubscribed = true
  }

  async #send(command: readonly string[], timeoutMs = COMMAND_TIMEOUT_MS): Promise<unknown> {
    const connections = connectionsOf(this.#phase)
    if (connections === undefined) throw unavailable('Redis is away')
    const response = connections.commands.sendCommand([...command])
    const onTimeout = (): never => {
      throw new Error('no response in time')
    }
    try {
      return await withTimeout(response, { ms: timeoutMs, onTimeout })
    } catch (cause) {
      throw unavailable(`Redis could not do it: ${reasonOf(cause)}`, cause)
    }
  }

  #notifyHealth(): void {
    if (this.isReady === this.#wasReady) return
    this.#wasReady = this.isReady
    this.#options.onHealth()
  }

  /** Once for each reason, as it retries for ever. */
  #report(error: unknown): void {
    const message = reasonOf(error)
    if (this.#phase.kind === 'closed' || message === this.#lastReported) return
    this.#lastReported = message
    this.#options.onError(message)
  }
}

const connectionsOf = (phase: Phase): Connections | undefined =>
  'connections' in phase ? phase.connections : undefined

const areOpen = ({ commands, listener }: Connections): boolean =>
  commands.isReady && listener.isReady

const unavailable = (message: string, cause?: unknown): SharedStateError =>
  new SharedStateError('unavailable', message, { cause })

/** Prefers a code of node or Redis: messages may contain the address with its password. */
const reasonOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code === 'string' && !(error instanceof SharedStateError)) return code
  return messageOf(error)
    .replace(/\/\/[^@/\s]*@/g, '//')
    .slice(0, 200)
}
