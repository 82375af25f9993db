// Finds in a body what another reader may read differently: what was checked here would not be what an upstream gets.

import { countInSteps, NO_MARKS } from '../../base/json-weight.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { MediaKind } from '../../language/routes/media-kind.ts'

/** As the error record names it in the place of a keyword. */
export type Ambiguity = 'byte_order_mark' | 'duplicate' | 'surrogate' | 'integer' | 'too_expensive'

/** Looking at each takes up to 50 ns, 10 ms in all. */
const MOST_VALUES = 200_000
const MOST_MEMBERS = 100_000
/** Listing the names of a large map takes 180 ns for each. */
const MOST_NAMES = 20_000
/** Bytes that are looked at without a pause. */
const PIECE = 64 * 1024
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Gives nothing after each piece of the bytes, which were decoded to `value`. MessagePack with equal names is not decoded. */
export function* findAmbiguity(
  kind: MediaKind,
  bytes: Buffer,
  value: Value,
): Generator<undefined, Ambiguity | undefined> {
  if (kind !== 'msgpack' && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) return 'byte_order_mark'
  if (kind === 'form' || kind === 'other') return undefined
  const members = kind === 'json' ? yield* countMembers(bytes) : undefined
  if (members !== undefined && members > MOST_MEMBERS) return 'too_expensive'
  const look = new Look(kind === 'json' && bytes.includes('\\u'))
  look.at(value)
  // Of two members of one name the value has one.
  const isDuplicate = members !== undefined && members !== look.members
  return look.found ?? (isDuplicate ? 'duplicate' : undefined)
}

function* countMembers(json: Buffer): Generator<undefined, number> {
  let marks = NO_MARKS
  for (marks of countInSteps(json)) if (json.length > PIECE) yield
  return marks.colons
}

class Look {
  found: Ambiguity | undefined = undefined
  members = 0
  #left = MOST_VALUES
  /** Only an escape can stand for half a pair. */
  readonly #hasEscapes: boolean

  constructor(hasEscapes: boolean) {
    this.#hasEscapes = hasEscapes
  }

  at(value: Value): void {
    if (--this.#left < 0) this.found ??= 'too_expensive'
    if (this.found !== undefined) return
    if (typeof value === 'string') this.#text(value)
    else if (typeof value === 'number') {
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) this.found = 'integer'
    } else if (isList(value)) for (const each of value) this.at(each)
    else if (isMap(value)) this.#map(value)
  }

  #map(map: ValueMap): void {
    const names = Object.keys(map)
    this.members += names.length
    if (names.length > MOST_NAMES) this.found = 'too_expensive'
    else
      for (const name of names) {
        this.#text(name)
        this.at(map[name] ?? null)
      }
  }

  #text(text: string): void {
    if (this.#hasEscapes && !text.isWellFormed()) this.found = 'surrogate'
  }
}
