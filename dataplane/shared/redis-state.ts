// Shared state of replicas in Redis: single keys for what is taken, counted and replaced, one sorted set for what
// is revoked, of which every process keeps a copy. Only door to redis.

import { type RedisConnection, openRedis } from './redis-connection.ts'
import { Revocations } from './revocations.ts'
import { SharedStateAway, type SharedHealth, type SharedState } from './shared-state.ts'

export interface RedisStateOptions {
  /** `redis://` or `rediss://`, with user and password if need be. */
  readonly url: string
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** Told of what changes; never the URL's password. */
  readonly onTrouble: (message: string) => void
  /** More CA certificates for `rediss://`, PEM. */
  readonly extraCa: readonly string[]
}

const PREFIX = 'svc-gateway:'
const REVOKED = `${PREFIX}revoked`
const CHANNEL = `${PREFIX}revocations`

/** Sets KEYS[1] to ARGV[2] for ARGV[3] seconds where ARGV[1] stands. */
const REPLACE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
  return 1
end
return 0`

/** The window starts with the first. */
const INCREMENT = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count`

/** Returns at once; `away` until the connection stands and the copy of what is revoked is complete. */
export const createRedisState = (options: RedisStateOptions): SharedState => new InRedis(options)

const SWEEP_EVERY_MS = 60_000

class InRedis implements SharedState {
  readonly #connection: RedisConnection
  readonly #revocations: Revocations
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  readonly #listeners: (() => void)[] = []

  constructor(options: RedisStateOptions) {
    this.#now = options.now
    this.#revocations = new Revocations(() => options.now() / 1000)
    this.#connection = openRedis({
      url: options.url,
      extraCa: options.extraCa,
      channel: CHANNEL,
      onMessage: (message) => {
        this.#learn(message)
      },
      load: (connection) => this.#load(connection),
      onHealth: () => {
        for (const listener of this.#listeners) listener()
      },
      onTrouble: options.onTrouble,
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

  async increment(key: string, windowSeconds: number): Promise<number> {
    return Number(await this.#send(['EVAL', INCREMENT, '1', PREFIX + key, seconds(windowSeconds)]))
  }

  /**
   * Known here at once, also if Redis is away: it is told when it is back. Redis is told each time, for it may
   * not have heard the first.
   */
  async revoke(key: string, untilUnixSeconds: number): Promise<void> {
    const until = Math.ceil(untilUnixSeconds)
    if (until <= this.#now() / 1000) return
    this.#add(key, until)
    await this.#send(['ZADD', REVOKED, 'GT', String(until), key])
    await this.#send(['PUBLISH', CHANNEL, JSON.stringify([key, until])])
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
      throw new SharedStateAway('Too many revocations are held', cause)
    }
  }

  /** Both ways: what others revoked while we were away, and what a Redis that lost its data must learn again. */
  async #load(send: (command: readonly string[]) => Promise<unknown>): Promise<void> {
    const now = Math.floor(this.#now() / 1000)
    const reply = await send(['ZRANGEBYSCORE', REVOKED, `(${now}`, '+inf', 'WITHSCORES'])
    const known = new Set<string>()
    for (const [key, until] of toPairs(reply)) {
      known.add(key)
      this.#add(key, until)
    }
    for (const [key, until] of this.#revocations.entries())
      if (!known.has(key)) await send(['ZADD', REVOKED, 'GT', String(until), key])
  }

  #learn(message: string): void {
    const entry = parseMessage(message)
    if (entry === undefined) return
    try {
      this.#add(...entry)
    } catch {
      // One that can't be held must not be forgotten: nobody relies on the copy until it is whole.
      this.#connection.reload()
    }
  }

  #sweep(): void {
    this.#revocations.sweep()
    const now = String(Math.floor(this.#now() / 1000))
    this.#send(['ZREMRANGEBYSCORE', REVOKED, '-inf', now]).catch(() => undefined)
  }
}

const seconds = (value: number): string => String(Math.max(1, Math.ceil(value)))

/** `[member, score, …]` (RESP2), or `[[member, score], …]` (RESP3). */
const toPairs = (reply: unknown): readonly (readonly [string, number])[] => {
  if (!Array.isArray(reply)) throw new SharedStateAway('Redis answers what nobody asked for')
  const flat: readonly unknown[] = reply.flat()
  const pairs: (readonly [string, number])[] = []
  for (let at = 0; at + 1 < flat.length; at += 2)
    pairs.push([String(flat[at]), Number(flat[at + 1])])
  return pairs
}

const parseMessage = (message: string): readonly [string, number] | undefined => {
  try {
    const [key, until] = JSON.parse(message) as readonly unknown[]
    return typeof key === 'string' && typeof until === 'number' ? [key, until] : undefined
  } catch {
    return undefined
  }
}
