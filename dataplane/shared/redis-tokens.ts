// Keeps the token buckets of rate limits in Redis, for all processes that share it. A bucket is one key, which expires when the
// bucket is full again; the time that it has left is the clock, so that those of gateways need not agree.

import { type GivenBack, type LeasedState, leasedState, type LimitTake } from './rate-buckets.ts'
import type { SendCommand } from './redis-connection.ts'
import { SharedStateError } from './shared-state.ts'
import type { TokenHome } from './token-leases.ts'

export interface SharedTokens extends TokenHome {
  /** The number of processes that it is the home of. Rejects if it cannot be reached. */
  countProcesses(): Promise<number>
}

const PREFIX = 'svc-gateway:limit:'

/**
 * `taken`: tokens that were taken of a bucket and are not refilled yet. It is stored with the life that its key had then: what
 * is over of that is the time that it was refilled. A key that lives longer was left by a clock that has been set back.
 */
const FUNCTIONS = `
local function taken(key, rate)
  local value = redis.call('GET', key)
  if not value then return 0 end
  local tokens, life = string.match(value, '^(%S+) (%d+)$')
  local left = redis.call('PTTL', key)
  if left > tonumber(life) then redis.call('PEXPIRE', key, life) end
  return math.max(0, tonumber(tokens) - math.max(0, tonumber(life) - left) * rate)
end
local function put(key, tokens, rate)
  local life = string.format('%.0f', math.ceil(tokens / rate))
  if tokens <= 0 or life == '0' then return redis.call('DEL', key) end
  redis.call('SET', key, string.format('%.6f', tokens) .. ' ' .. life, 'PX', life)
end`

/**
 * KEYS: buckets; for each of them ARGV has its tokens per millisecond, its capacity, the cost and how much may be taken beyond
 * that. Takes from all or none. @returns whether it has taken; for each what was taken before, and what beyond the cost
 */
const LEASE = `${FUNCTIONS}
local before, isAllowed = {}, 1
for at, key in ipairs(KEYS) do
  local rate, capacity, cost = tonumber(ARGV[at * 4 - 3]), tonumber(ARGV[at * 4 - 2]), tonumber(ARGV[at * 4 - 1])
  before[at] = taken(key, rate)
  if rate == 0 or capacity - before[at] < cost - 1e-6 then isAllowed = 0 end
end
local reply = { isAllowed }
for at, key in ipairs(KEYS) do
  local rate, capacity, cost = tonumber(ARGV[at * 4 - 3]), tonumber(ARGV[at * 4 - 2]), tonumber(ARGV[at * 4 - 1])
  local ahead = 0
  if isAllowed == 1 then
    ahead = math.max(0, math.min(tonumber(ARGV[at * 4]), math.floor(capacity - before[at] - cost)))
    put(key, before[at] + cost + ahead, rate)
  end
  reply[at * 2] = string.format('%.6f', before[at])
  reply[at * 2 + 1] = ahead
end
return reply`

/** KEYS: buckets; for each of them ARGV has its tokens per millisecond, and how many come back. */
const GIVE_BACK = `${FUNCTIONS}
for at, key in ipairs(KEYS) do
  local rate = tonumber(ARGV[at * 2 - 1])
  put(key, taken(key, rate) - tonumber(ARGV[at * 2]), rate)
end
return 1`

/** As a script: who may not run one has no limits there. */
const COUNT = `return redis.call('PUBSUB', 'NUMSUB', ARGV[1])[2]`

const MOST_PROCESSES = 100_000
/** Redis does nothing else meanwhile. */
const GIVEN_BACK_AT_ONCE = 500

/** @param channel that every process which shares this Redis is subscribed to */
export const createRedisTokens = (send: SendCommand, channel: string): SharedTokens => ({
  lease: async (takes, ahead) => {
    const args = takes.flatMap(({ requests, seconds, capacity, cost }, at) =>
      [requests / seconds / 1000, capacity, cost, ahead[at] ?? 0].map(String),
    )
    return readLease(takes, ahead, await send(['EVAL', LEASE, ...keysOf(takes), ...args]))
  },
  giveBack: (entries) => {
    for (let at = 0; at < entries.length; at += GIVEN_BACK_AT_ONCE)
      giveBack(send, entries.slice(at, at + GIVEN_BACK_AT_ONCE))
  },
  countProcesses: async () => {
    const count = await send(['EVAL', COUNT, '0', channel])
    if (!isWhole(count) || count < 1 || count > MOST_PROCESSES) throw unexpected()
    return count
  },
})

/** What does not arrive is refilled in time. */
const giveBack = (send: SendCommand, entries: readonly GivenBack[]): void => {
  const args = entries.flatMap(({ take: { requests, seconds }, tokens }) =>
    [requests / seconds / 1000, tokens].map(String),
  )
  const keys = keysOf(entries.map(({ take }) => take))
  send(['EVAL', GIVE_BACK, ...keys, ...args]).catch(() => undefined)
}

const keysOf = (takes: readonly LimitTake[]): readonly string[] => [
  String(takes.length),
  ...takes.map(({ key }) => PREFIX + key),
]

const readLease = (
  takes: readonly LimitTake[],
  ahead: readonly number[],
  reply: unknown,
): readonly LeasedState[] => {
  if (!Array.isArray(reply) || reply.length !== 1 + 2 * takes.length) throw unexpected()
  const isAllowed = reply[0] === 1
  return takes.map((take, at) => {
    const taken = Number(reply[1 + 2 * at])
    const leased: unknown = reply[2 + 2 * at]
    if (!Number.isFinite(taken) || taken < 0) throw unexpected()
    if (!isWhole(leased) || leased < 0 || leased > (ahead[at] ?? 0)) throw unexpected()
    return { ...leasedState(take, taken, isAllowed), isShared: false, leased }
  })
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

const unexpected = (): SharedStateError =>
  new SharedStateError('unexpected_reply', 'Redis sent an unexpected reply')
