// Two connections to Redis, one for commands and one that listens: opened, kept, reopened for ever. Ready only
// while both stand and everything was loaded that was missed.

import type { createClient, RedisClientType } from 'redis'
import { getCACertificates } from 'node:tls'
import { SharedStateAway } from './shared-state.ts'
import { messageOf } from '../thrown.ts'

type Client = Pick<
  RedisClientType,
  'connect' | 'destroy' | 'on' | 'sendCommand' | 'subscribe' | 'isReady'
>

export interface RedisConnectionOptions {
  readonly url: string
  readonly extraCa: readonly string[]
  readonly channel: string
  readonly onMessage: (message: string) => void
  /** After both connections stand, before the state is ready. */
  readonly load: (send: (command: readonly string[]) => Promise<unknown>) => Promise<void>
  readonly onHealth: () => void
  readonly onTrouble: (message: string) => void
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
const PING_EVERY_MS = 1000
const SILENCE_MS = 3000
/** All that is revoked, at most a million entries. */
const LOAD_TIMEOUT_MS = 10_000
const FIRST_RELOAD_MS = 500
const SLOWEST_RELOAD_MS = 30_000
const LONGEST_PAUSE_MS = 1000
const MAX_WAITING_COMMANDS = 10_000

export const openRedis = (options: RedisConnectionOptions): RedisConnection =>
  new Connection(options)

class Connection implements RedisConnection {
  readonly #options: RedisConnectionOptions
  readonly #clients: Client[] = []
  #loaded = false
  /** Of loading: what a trouble, or a later attempt, has outdated counts for nothing. */
  #era = 0
  #isSubscribed = false
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #wasReady = false
  #closed = false
  #trouble = ''

  constructor(options: RedisConnectionOptions) {
    this.#options = options
    this.#open().catch((error: unknown) => {
      this.#tell(error)
    })
  }

  get isReady(): boolean {
    return this.#loaded && this.#clients.length === 2 && this.#clients.every((one) => one.isReady)
  }

  send(command: readonly string[]): Promise<unknown> {
    if (!this.isReady) return Promise.reject(new SharedStateAway('Redis is away'))
    return this.#ask(command)
  }

  reload(): void {
    this.#distrust()
    this.#loadLater()
  }

  close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    for (const client of this.#clients) client.destroy()
    return Promise.resolve()
  }

  async #open(): Promise<void> {
    const { createClient: create } = await import('redis')
    if (this.#closed) return
    const [commands, listener] = [this.#create(create), this.#create(create)]
    this.#clients.push(commands, listener)
    // They retry for ever by themselves, and load when they are ready: a first attempt that fails is no error of ours.
    for (const client of this.#clients) client.connect().catch(() => undefined)
  }

  #create(create: typeof createClient): Client {
    const { url, extraCa } = this.#options
    const client = create({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING_COMMANDS,
      pingInterval: PING_EVERY_MS,
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        // A connection that is frozen: the pings above keep a good one from being idle.
        socketTimeout: SILENCE_MS,
        reconnectStrategy: (retries) => Math.min(50 * 2 ** Math.min(retries, 5), LONGEST_PAUSE_MS),
        ...(url.startsWith('rediss:') && extraCa.length > 0
          ? { tls: true, ca: [...getCACertificates(), ...extraCa] }
          : {}),
      },
    })
    client.on('error', (error: unknown) => {
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
    const era = ++this.#era
    try {
      await this.#subscribe()
      await this.#options.load((command) => this.#ask(command, LOAD_TIMEOUT_MS))
    } catch (error) {
      this.#tell(error)
      if (era === this.#era) this.#loadLater()
      return
    }
    if (era !== this.#era) return
    this.#loaded = true
    this.#failures = 0
    this.#trouble = ''
    this.#note()
  }

  /** Before anything is loaded, lest something be published in between; a reconnect keeps it. */
  async #subscribe(): Promise<void> {
    if (this.#isSubscribed) return
    const { channel, onMessage } = this.#options
    await this.#clients[1]?.subscribe(channel, onMessage)
    this.#isSubscribed = true
  }

  /** The connections stand, but Redis still reads its data, or is slow. */
  #loadLater(): void {
    const afterMs = Math.min(FIRST_RELOAD_MS * 2 ** this.#failures++, SLOWEST_RELOAD_MS)
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      void this.#load()
    }, afterMs).unref()
  }

  async #ask(command: readonly string[], timeoutMs = COMMAND_TIMEOUT_MS): Promise<unknown> {
    const [commands] = this.#clients
    if (commands === undefined) throw new SharedStateAway('Redis is away')
    const answer = commands.sendCommand([...command])
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new SharedStateAway('Redis does not answer'))
    }, timeoutMs)
    try {
      return await Promise.race([answer, late.promise])
    } catch (cause) {
      throw new SharedStateAway('Redis could not do it', cause)
    } finally {
      clearTimeout(timer)
    }
  }

  #note(): void {
    if (this.isReady === this.#wasReady) return
    this.#wasReady = this.isReady
    this.#options.onHealth()
  }

  /** Once for each reason: it is tried every second. */
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
