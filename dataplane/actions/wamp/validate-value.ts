// Checks in one walk whether a value may be sent to a router (behaviour §4), and finds the first invalid place. Two
// routers were seen to end the session, or never to respond, for values that are rejected here.

import type { Host } from '../../../language/expression/functions/apply.ts'
import { spendWork, unitsOfWrittenKeys } from '../../../language/expression/functions/spend.ts'
import { keysOf } from '../../../language/expression/keys.ts'
import { SizeBudget } from '../../../language/expression/size-budget.ts'
import { isList, type Value, type ValueMap } from '../../../language/expression/value.ts'

/** Deeper values end a session on some routers. The value itself is the first level. */
const MAX_NESTING = 64

export interface InvalidPlace {
  readonly reason: string
  /** Written as a path: `.customer.name[0]`; cut where it is long. */
  readonly place: string
}

/**
 * Valid are texts and keys without half surrogate pairs that do not begin with U+0000, nested at most 64 levels, and
 * bytes. A valid value costs nothing but the walk, which is charged with what it is to write the value.
 * @param host is charged; without one each value is bounded for itself
 * @throws ExpressionError for too much work
 * @example findInvalid({ name: '\u0000x' }) // {place: '.name', reason: 'the text begins with U+0000 …'}
 */
export const findInvalid = (value: Value, host: Host = UNBOUND): InvalidPlace | undefined =>
  findInValue(value, MAX_NESTING, { size: new SizeBudget(MAX_WEIGHT), host })

/** Its weight is bounded all the same. */
const UNBOUND: Host = { budget: 0, work: Infinity }

/**
 * Beyond what any message may have: 16 MiB, and a message may be copied while it is encoded. A map that names a body
 * many times would be as large as all of them.
 */
const MAX_WEIGHT = 2 ** 26
const CONTAINER_WEIGHT = 64
const VALUE_WEIGHT = 8

const weightOf = (value: Value): number => {
  if (typeof value === 'string') return VALUE_WEIGHT + value.length
  if (typeof value !== 'object' || value === null) return VALUE_WEIGHT
  return value instanceof Uint8Array ? VALUE_WEIGHT + value.length : CONTAINER_WEIGHT
}

const TOO_LARGE: InvalidPlace = { reason: 'larger than any message may be', place: '' }

interface Walk {
  readonly size: SizeBudget
  readonly host: Host
}

const findInValue = (value: Value, levels: number, walk: Walk): InvalidPlace | undefined => {
  const weight = weightOf(value)
  if (!walk.size.take(weight)) return TOO_LARGE
  spendWork(walk.host, weight)
  if (typeof value === 'string') return isValidText(value) ? undefined : explainText(value, 'text')
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return undefined
  if (levels === 0) return { reason: `nested more than ${MAX_NESTING} levels deep`, place: '' }
  return isList(value) ? findInList(value, levels - 1, walk) : findInMap(value, levels - 1, walk)
}

const findInList = (
  list: readonly Value[],
  levels: number,
  walk: Walk,
): InvalidPlace | undefined => {
  for (let index = 0; index < list.length; index++) {
    const invalid = findInValue(list[index] ?? null, levels, walk)
    if (invalid !== undefined) return below(`[${index}]`, invalid)
  }
  return undefined
}

const findInMap = (map: ValueMap, levels: number, walk: Walk): InvalidPlace | undefined => {
  const keys = keysOf(map, walk.host)
  spendWork(walk.host, unitsOfWrittenKeys(keys.length))
  for (const key of keys) {
    if (!walk.size.take(key.length)) return TOO_LARGE
    spendWork(walk.host, key.length)
    if (!isValidText(key)) return below(`.${showKey(key)}`, explainText(key, 'key'))
    const invalid = findInValue(map[key] ?? null, levels, walk)
    if (invalid !== undefined) return below(`.${showKey(key)}`, invalid)
  }
  return undefined
}

export const isValidText = (text: string): boolean =>
  text.charCodeAt(0) !== 0 && text.isWellFormed()

const explainText = (text: string, what: 'text' | 'key'): InvalidPlace => ({
  reason:
    text.charCodeAt(0) === 0
      ? `the ${what} begins with U+0000, which not every WAMP router carries`
      : `the ${what} contains half a surrogate pair, which UTF-8 cannot represent`,
  place: '',
})

const SHOWN_PLACE = 200

/** Called on the way back up: the outer step goes before the inner ones. */
const below = (step: string, { reason, place }: InvalidPlace): InvalidPlace => ({
  reason,
  place: place.length > SHOWN_PLACE ? `${step}…` : step + place,
})

const SHOWN_KEY = 80

const showKey = (key: string): string =>
  key
    .slice(0, SHOWN_KEY)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '�')
