// Keeps two connections to Redis open, one for commands and one for the subscription, and reopens them for ever. It
// is ready only while both are open, everything that was missed has been loaded, and Redis accepts writes.

import type { createClient, RedisClientType } from 'redis'
import { getCACertificates } from 'node:tls'
import { backOffMs } from '../../base/back-off.ts'
import { withTimeout } from '../../base/timeout.ts'
import { SharedStateAway } from './shared-state.ts'
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
  /** A connection that says nothing for so long is frozen. */
  readonly silenceMs: number
  /** Before all begins anew; doubled with each failure. */
  readonly firstPauseMs: number
  /** Before one connection is opened again. */
  readonly longestPauseMs: number
}

const TIMES: RedisTimes = {
  pingEveryMs: 1000,
  keepUpEveryMs: 1000,
  silenceMs: 3000,
  firstPauseMs: 500,
  longestPauseMs: 1000,
}

export interface RedisConnectionOptions {
  readonly url: string
  readonly extraCa: readonly string[]
  readonly channel: string
  readonly onMessage: (message: string) => void
  /** After both connections stand, before the state is ready. */
  readonly load: (send: SendCommand) => Promise<void>
  /** Now and then while it is ready. It writes: a Redis that is full or has become a replica is away. */
  readonly keepUp: (send: SendCommand) => Promise<void>
  readonly onHealth: () => void
  readonly onTrouble: (message: string) => void
  readonly times?: Partial<RedisTimes>
}

export interface RedisConnection {
  readonly isReady: boolean
  /** Something was heard and not kept: not ready until all is loaded again. */
  reload(): void
  /** Rejects with SharedStateAway: at once while it is not ready, after a second without an answer. */
  send(command: readonly string[]): Promise<unknown>
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 3000
const COMMAND_TIMEOUT_MS = 1000
/** All that is revoked, at most a million entries. */
const LOAD_TIMEOUT_MS = 10_000
const SLOWEST_PAUSE_MS = 5000
const MAX_WAITING_COMMANDS = 10_000

export const openRedis = (options: RedisConnectionOptions): RedisConnection =>
  new Connection(options)

class Connection implements RedisConnection {
  readonly #options: RedisConnectionOptions
  readonly #times: RedisTimes
  /** Of commands, and the one that listens; none between two attempts. */
  #clients: readonly Client[] = []
  #loaded = false
  /** What a trouble, a later attempt or the end has outdated counts for nothing. */
  #era = 0
  /** The client that has. */
  #subscribed: Client | undefined
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #keeping: NodeJS.Timeout | undefined
  #wasReady = false
  #closed = false
  #trouble = ''

  constructor(options: RedisConnectionOptions) {
    this.#options = options
    this.#times = { ...TIMES, ...options.times }
    void this.#open()
  }

  get isReady(): boolean {
    return this.#loaded && this.#clients.length === 2 && this.#clients.every((one) => one.isReady)
  }

  send(command: readonly string[]): Promise<unknown> {
    if (!this.isReady) return Promise.reject(new SharedStateAway('Redis is away'))
    return this.#ask(command)
  }

  /**
   * By connections of their own: behind the address there may be another Redis by now, where this one has become
   * its replica.
   */
  reload(): void {
    this.#distrust()
    this.#drop()
    this.#failures++
    const pauses = { firstMs: this.#times.firstPauseMs, capMs: SLOWEST_PAUSE_MS }
    const afterMs = backOffMs(this.#failures, pauses, Math.random())
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      void this.#open()
    }, afterMs).unref()
  }

  close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    clearTimeout(this.#keeping)
    this.#drop()
    return Promise.resolve()
  }

  /** Never rejects. */
  async #open(): Promise<void> {
    try {
      const { createClient: create } = await import('redis')
      if (this.#closed) return
      this.#clients = [this.#create(create), this.#create(create)]
    } catch (error) {
      this.#tell(error)
      return
    }
    // They retry for ever by themselves, and load when they are ready: a first attempt that fails is no error of ours.
    for (const client of this.#clients) client.connect().catch(() => undefined)
  }

  #drop(): void {
    const dropped = this.#clients
    this.#era++
    this.#clients = []
    for (const client of dropped) client.destroy()
  }

  #create(create: typeof createClient): Client {
    const { url, extraCa } = this.#options
    const { longestPauseMs, pingEveryMs, silenceMs } = this.#times
    const client = create({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING_COMMANDS,
      pingInterval: pingEveryMs,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        // A connection that is frozen: the pings above keep a good one from being idle.
        socketTimeout: silenceMs,
        reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 5), longestPauseMs),
        ...(url.startsWith('rediss:') && extraCa.length > 0
          ? { tls: true, ca: [...getCACertificates(), ...extraCa] }
          : {}),
      },
    })
    client.on('error', (error: unknown) => {
      if (!this.#clients.includes(client)) return
      this.#tell(error)
      this.#distrust()
    })
    client.on('ready', () => {
      void this.#load()
    })
    return client
  }

  #distrust(): void {
    this.#era++
    this.#loaded = false
    this.#note()
  }

  /** Again after each reconnect: what was published meanwhile was not heard. Never rejects. */
  async #load(): Promise<void> {
    if (this.#closed || this.#clients.length < 2) return
    if (!this.#clients.every((client) => client.isReady)) return
    this.#era++
    const isLoaded = await this.#attempt(async () => {
      await this.#subscribe()
      await this.#options.load((command) => this.#ask(command, LOAD_TIMEOUT_MS))
    })
    if (!isLoaded) return
    this.#loaded = true
    this.#failures = 0
    this.#trouble = ''
    this.#note()
    this.#keepUpLater()
  }

  #keepUpLater(): void {
    clearTimeout(this.#keeping)
    this.#keeping = setTimeout(() => {
      void this.#keepUp()
    }, this.#times.keepUpEveryMs).unref()
  }

  /** Never rejects; ends where the next load begins it anew. */
  async #keepUp(): Promise<void> {
    if (!this.isReady) return
    const isKept = await this.#attempt(() =>
      this.#options.keepUp((command) => this.#ask(command, this.#times.silenceMs)),
    )
    if (isKept) this.#keepUpLater()
  }

  /** False: it has failed, and all begins anew, or its outcome counts for nothing by now. Never rejects. */
  async #attempt(work: () => Promise<void>): Promise<boolean> {
    const era = this.#era
    try {
      await work()
    } catch (error) {
      if (era === this.#era) {
        this.#tell(error)
        this.reload()
      }
      return false
    }
    return era === this.#era
  }

  /** Before anything is loaded, lest something be published in between; a reconnect keeps it. */
  async #subscribe(): Promise<void> {
    const [, listener] = this.#clients
    if (listener === this.#subscribed) return
    const { channel, onMessage } = this.#options
    await listener?.subscribe(channel, onMessage)
    this.#subscribed = listener
  }

  async #ask(command: readonly string[], timeoutMs = COMMAND_TIMEOUT_MS): Promise<unknown> {
    const [commands] = this.#clients
    if (commands === undefined) throw new SharedStateAway('Redis is away')
    const answer = commands.sendCommand([...command])
    const onTimeout = (): never => {
      throw new Error('no answer in time')
    }
    try {
      return await withTimeout(answer, { ms: timeoutMs, onTimeout })
    } catch (cause) {
      throw new SharedStateAway(`Redis could not do it: ${reasonOf(cause)}`, cause)
    }
  }

  #note(): void {
    if (this.isReady === this.#wasReady) return
    this.#wasReady = this.isReady
    this.#options.onHealth()
  }

  /** Once for each reason: it is tried again and again. */
  #tell(error: unknown): void {
    const message = reasonOf(error)
    if (this.#closed || message === this.#trouble) return
    this.#trouble = message
    this.#options.onTrouble(message)
  }
}

/** Codes where there are any: messages may hold the address with its password. */
const reasonOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code === 'string') return code
  return messageOf(error)
    .replace(/\/\/[^@/\s]*@/g, '//')
    .slice(0, 200)
}
