// Implements the shared state of replicas on Redis: single keys for what is taken, counted and replaced, and one
// sorted set for revocations, of which every process keeps a copy.

import { parseJson } from '../../base/parse-json.ts'
import { type RedisTimes, type SendCommand, RedisConnection } from './redis-connection.ts'
import { createRedisTokens, type SharedTokens } from './redis-tokens.ts'
import { Revocations } from './revocations.ts'
import { SharedStateError, type SharedHealth, type SharedState } from './shared-state.ts'

export interface RedisStateOptions {
  /** `redis://` or `rediss://`, with user and password if required. */
  readonly url: string
  /** The id of this process, unlike any other's. */
  readonly id: string
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** Called when the state of the connection changes; never with the URL's password. */
  readonly onError: (message: string) => void
  /** More CA certificates for `rediss://`, PEM. */
  readonly extraCa: readonly string[]
  readonly times?: Partial<RedisTimes>
}

const PREFIX = 'svc-gateway:'
const REVOKED = `${PREFIX}revoked`
const CHANNEL = `${PREFIX}revocations`

/** The lifetime of the mark of a process, which is renewed every second. */
const MARK_SECONDS = '60'

/** Sets KEYS[1] to ARGV[2] for ARGV[3] seconds if its value is ARGV[1]. */
const REPLACE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
  return 1
end
return 0`

/**
 * Adds ARGV[3], ARGV[5], … to the set KEYS[1] with the expiries ARGV[2], ARGV[4], …, and publishes what is new there
 * on the channel ARGV[1]. It does both atomically: whatever is in the set was published, and a process that missed
 * the message loads the set.
 */
const REVOKE = `
for at = 2, #ARGV, 2 do
  if redis.call('ZADD', KEYS[1], 'GT', 'CH', ARGV[at], ARGV[at + 1]) == 1 then
    redis.call('PUBLISH', ARGV[1], cjson.encode({ARGV[at + 1], tonumber(ARGV[at])}))
  end
end
return 1`

type Revoked = readonly [key: string, untilUnixSeconds: number]

/** Most entries of one call of `REVOKE`, as Redis does nothing else meanwhile. */
const REVOKED_AT_ONCE = 500

/** The window starts with the first call. */
const INCREMENT = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count`

/** Returns immediately; `away` until the connection is ready and the copy of the revocations is complete. */
export const createRedisState = (options: RedisStateOptions): RedisState => new InRedis(options)

export interface RedisState extends SharedState {
  readonly tokens: SharedTokens
}

const SWEEP_EVERY_MS = 60_000

class InRedis implements RedisState {
  readonly tokens: SharedTokens = createRedisTokens((command) => this.#send(command), CHANNEL)
  readonly #connection: RedisConnection
  /**
   * Sets the mark of this process: it is gone if Redis has lost data, and setting it fails if Redis cannot be written
   * to.
   */
  readonly #mark: readonly string[]
  readonly #revocations: Revocations
  /** Revocations that are not known to have reached Redis. */
  readonly #unsent = new Map<string, number>()
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  readonly #listeners: (() => void)[] = []

  constructor(options: RedisStateOptions) {
    this.#now = options.now
    this.#mark = ['SET', `${PREFIX}process:${options.id}`, '1', 'EX', MARK_SECONDS, 'GET']
    this.#revocations = new Revocations(() => options.now() / 1000)
    this.#connection = new RedisConnection({
      url: options.url,
      extraCa: options.extraCa,
      channel: CHANNEL,
      onMessage: (message) => {
        this.#receive(message)
      },
      load: (send) => this.#load(send),
      keepUp: (send) => this.#keepUp(send),
      onHealth: () => {
        for (const listener of this.#listeners) listener()
      },
      onError: options.onError,
      ...(options.times && { times: options.times }),
    })
    this.#timer = setInterval(() => {
      this.#sweep()
    }, SWEEP_EVERY_MS)
    this.#timer.unref()
  }

  get health(): SharedHealth {
    return this.#connection.isReady ? 'ok' : 'away'
  }

  onHealth(listener: () => void): void {
    this.#listeners.push(listener)
  }

  async takeOnce(key: string, ttlSeconds: number): Promise<boolean> {
    const taken = await this.#send(['SET', PREFIX + key, '1', 'NX', 'EX', seconds(ttlSeconds)])
    return taken === 'OK'
  }

  async read(key: string): Promise<string | undefined> {
    const value = await this.#send(['GET', PREFIX + key])
    return typeof value === 'string' ? value : undefined
  }

  async replace(
    key: string,
    expected: string | undefined,
    next: string,
    ttlSeconds: number,
  ): Promise<boolean> {
    const ttl = seconds(ttlSeconds)
    if (expected === undefined)
      return (await this.#send(['SET', PREFIX + key, next, 'NX', 'EX', ttl])) === 'OK'
    return (await this.#send(['EVAL', REPLACE, '1', PREFIX + key, expected, next, ttl])) === 1
  }

  async cache(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    return (await this.#send(['SET', PREFIX + key, value, 'EX', seconds(ttlSeconds)])) === 'OK'
  }

  async increment(key: string, windowSeconds: number): Promise<number> {
    return Number(await this.#send(['EVAL', INCREMENT, '1', PREFIX + key, seconds(windowSeconds)]))
  }

  /** Takes effect here immediately. If Redis cannot be reached now, the revocation is sent as soon as it can. */
  async revoke(key: string, untilUnixSeconds: number): Promise<void> {
    const until = Math.ceil(untilUnixSeconds)
    if (until <= this.#now() / 1000) return
    this.#add(key, until)
    this.#unsent.set(key, until)
    await this.#sendRevocations((command) => this.#send(command), [[key, until]])
  }

  isRevoked(key: string): boolean {
    return this.#revocations.has(key)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#connection.close()
  }

  #send(command: readonly string[]): Promise<unknown> {
    return this.#connection.send(command)
  }

  #add(key: string, until: number): void {
    try {
      this.#revocations.add(key, until)
    } catch (cause) {
      throw new SharedStateError('full', 'Too many revocations are stored', { cause })
    }
  }

  /** Loads what others revoked while Redis was away, and sends what a Redis that lost its data lacks. */
  async #load(send: SendCommand): Promise<void> {
    // First, so that a loss of data from now on is noticed.
    await send(this.#mark)
    const now = Math.floor(this.#now() / 1000)
    const reply = await send(['ZRANGEBYSCORE', REVOKED, `(${now}`, '+inf', 'WITHSCORES'])
    const known = new Map(toPairs(reply))
    for (const [key, until] of known) this.#add(key, until)
    const missing = [...this.#revocations.entries()].filter(
      ([key, until]) => until > now && (known.get(key) ?? 0) < until,
    )
    await this.#sendRevocations(send, missing)
  }

  async #keepUp(send: SendCommand): Promise<void> {
    if ((await send(this.#mark)) === null) await this.#load(send)
    else await this.#sendRevocations(send, [...this.#unsent])
  }

  async #sendRevocations(send: SendCommand, entries: readonly Revoked[]): Promise<void> {
    for (let at = 0; at < entries.length; at += REVOKED_AT_ONCE) {
      const some = entries.slice(at, at + REVOKED_AT_ONCE)
      const args = some.flatMap(([key, until]) => [String(until), key])
      await send(['EVAL', REVOKE, '1', REVOKED, CHANNEL, ...args])
      for (const [key, until] of some)
        if ((this.#unsent.get(key) ?? 0) <= until) this.#unsent.delete(key)
    }
  }

  #receive(message: string): void {
    const entry = parseMessage(message)
    if (entry === undefined) return
    try {
      this.#add(...entry)
    } catch {
      // A revocation without room here must not be lost: the copy is not used until it is complete again.
      this.#connection.reload()
    }
  }

  #sweep(): void {
    this.#revocations.sweep()
    for (const key of this.#unsent.keys()) if (!this.#revocations.has(key)) this.#unsent.delete(key)
    const now = String(Math.floor(this.#now() / 1000))
    this.#send(['ZREMRANGEBYSCORE', REVOKED, '-inf', now]).catch(() => undefined)
  }
}

const seconds = (value: number): string => String(Math.max(1, Math.ceil(value)))

/** `[member, score, …]` (RESP2), or `[[member, score], …]` (RESP3). */
const toPairs = (reply: unknown): readonly Revoked[] => {
  if (!Array.isArray(reply))
    throw new SharedStateError('unexpected_reply', 'Redis sent an unexpected reply')
  const flat: readonly unknown[] = reply.flat()
  const pairs: Revoked[] = []
  for (let at = 0; at + 1 < flat.length; at += 2)
    pairs.push([String(flat[at]), Number(flat[at + 1])])
  return pairs
}

const parseMessage = (message: string): Revoked | undefined => {
  try {
    const [key, until] = parseJson(message) as readonly unknown[]
    return typeof key === 'string' && typeof until === 'number' ? [key, until] : undefined
  } catch {
    return undefined
  }
}
