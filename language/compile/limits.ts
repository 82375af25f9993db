// Compiles limits and time-outs (§8, behaviour §2): the nearest level that sets one wins; a limit that no level sets
// has the default of the table below.

import { childPointer } from '../../base/json-pointer.ts'
import type { BodyLimits, CallLimits } from '../compiled.ts'
import { constant, type Template } from '../expression/template.ts'
import type { Diagnostics } from './diagnostics.ts'
import {
  type FoldedMap,
  type IntegerRange,
  type Placed,
  readInteger,
  readIntegerOrWait,
} from './folded.ts'
import type { Scope } from './scope.ts'
import { warnOfShortTimeout } from './short-timeout.ts'

const DEFAULT_MAX_BYTES = 25_000_000
const DEFAULT_READ_BYTES = 8_000_000
const DEFAULT_READ_SECONDS = 15
const DEFAULT_CONNECT_TIMEOUT_MS = 8000
const DEFAULT_RETRY_TIMEOUT_MS = 5000
/** From this value on, `body_read_seconds` is read as milliseconds, as existing documents have it. */
const MILLISECONDS_FROM = 1000

const ONE_DAY_MS = 86_400_000

/** Objects that may set a limit, nearest first; then the merged `defaults` of the scope. */
export type Levels = readonly (FoldedMap | undefined)[]

/** The nearest setting of any of `names`. */
export const nearest = (
  names: readonly string[],
  levels: Levels,
  scope: Scope,
): Placed | undefined => {
  for (const level of levels)
    for (const name of names) {
      const template = level?.get(name)
      if (template !== undefined && level !== undefined)
        return { template, pointer: childPointer(level.pointer, name) }
    }
  for (const name of names) {
    const placed = scope.default(name)
    if (placed !== undefined) return placed
  }
  return undefined
}

/** Properties that set a limit, wherever they may stand. */
export const LIMIT_NAMES: readonly string[] = [
  'body_max_bytes',
  'body_max_byte',
  'body_read_bytes',
  'body_read_seconds',
  'timeout',
  'connect_timeout',
  'retries',
  'retry_timeout',
]

const LIMITS: ReadonlySet<string> = new Set(LIMIT_NAMES)

export const isLimit = (name: string): boolean => LIMITS.has(name)

/** The levels that set any limit: most set none, and need not be searched for each limit. */
const settingLimits = (levels: Levels): Levels =>
  levels.filter((level) => level?.keys.some((key) => LIMITS.has(key)))

export const compileBodyLimits = (
  all: Levels,
  scope: Scope,
  diagnostics: Diagnostics,
): BodyLimits => {
  const levels = settingLimits(all)
  const known = (names: readonly string[], range: IntegerRange): number | undefined => {
    const placed = nearest(names, levels, scope)
    return placed && readInteger(placed.template, placed.pointer, range, diagnostics)
  }
  const seconds = nearest(['body_read_seconds'], levels, scope)
  const readSeconds = known(['body_read_seconds'], { minimum: 1, maximum: ONE_DAY_MS })
  const isMilliseconds = readSeconds !== undefined && readSeconds >= MILLISECONDS_FROM
  if (isMilliseconds && seconds !== undefined)
    diagnostics.warning(
      'MillisecondsAssumed',
      seconds.pointer,
      `body_read_seconds: ${readSeconds} is taken as milliseconds`,
    )
  return {
    maxBytes: known(['body_max_bytes', 'body_max_byte'], { minimum: 0 }) ?? DEFAULT_MAX_BYTES,
    readBytes: known(['body_read_bytes'], { minimum: 1 }) ?? DEFAULT_READ_BYTES,
    readMs: isMilliseconds ? readSeconds : (readSeconds ?? DEFAULT_READ_SECONDS) * 1000,
  }
}

export const compileCallLimits = (
  all: Levels,
  scope: Scope,
  diagnostics: Diagnostics,
): CallLimits => {
  const levels = settingLimits(all)
  const limit = (name: string, range: IntegerRange): Template | undefined => {
    const placed = nearest([name], levels, scope)
    const read = placed && readIntegerOrWait(placed.template, placed.pointer, range, diagnostics)
    if (placed !== undefined && read !== undefined && name !== 'retries')
      warnOfShortTimeout(read, placed.pointer, diagnostics)
    return read
  }
  const timeout = limit('timeout', { minimum: 1, maximum: ONE_DAY_MS })
  return {
    ...(timeout === undefined ? {} : { timeout }),
    connectTimeout:
      limit('connect_timeout', { minimum: 1, maximum: ONE_DAY_MS }) ??
      constant(DEFAULT_CONNECT_TIMEOUT_MS),
    retries: limit('retries', { minimum: 0, maximum: 100 }) ?? constant(0),
    retryTimeout:
      limit('retry_timeout', { minimum: 0, maximum: ONE_DAY_MS }) ??
      constant(DEFAULT_RETRY_TIMEOUT_MS),
  }
}
