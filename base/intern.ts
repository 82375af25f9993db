// Makes equal values one object, as long as it is referenced: what thousands of documents have in common stands in memory
// once, and so in the processor's cache. Values are shared from the second use on: what there is once costs nothing.

import { hashText } from './hash-text.ts'

/** Longer keys are rarely those of two. */
const LONGEST = 4096

/**
 * @param from values that nearly always come again are shared from their first use on
 * @returns a function that gives the value of a key: one that is in use, or what `make` gives
 * @example
 * const intern = createInterner<readonly string[]>()
 * intern('a,b', () => ['a', 'b']) // of its own
 * intern('a,b', () => ['a', 'b']) === intern('a,b', () => ['a', 'b']) // true
 */
export const createInterner = <V extends object>({
  from = 'second',
}: { readonly from?: 'first' | 'second' } = {}): ((key: string, make: () => V) => V) => {
  const known = new Map<string, WeakRef<V>>()
  const freed = new FinalizationRegistry<string>((key) => {
    // Another value of this key may have been made since.
    if (known.get(key)?.deref() === undefined) known.delete(key)
  })
  const salt = (lastNumber += 1)
  return (key, make) => {
    if (key.length > LONGEST) return make()
    const before = known.get(key)?.deref()
    if (before !== undefined) return before
    const made = make()
    if (from === 'second' && !wasSeen(hashText(key, 0, key.length) ^ salt)) return made
    known.set(key, new WeakRef(made))
    freed.register(made, key)
    return made
  }
}

/** 256 KB. */
const PLACES = 65_536
/** So many places are looked at: a hash that finds them taken replaces another. */
const PROBES = 8

const hashes = new Int32Array(PLACES)
let replaced = 0

/**
 * Whether a hash comes for the second time. It may forget: what has not come for long counts as new. In one of 2^27 cases
 * it takes one key for another, which is then shared at its first use.
 */
const wasSeen = (hash: number): boolean => {
  for (let probe = 0; probe < PROBES; probe++) {
    const place = (hash + probe) & (PLACES - 1)
    if (hashes[place] === hash) return true
    if (hashes[place] !== 0) continue
    hashes[place] = hash
    return false
  }
  // In turn: of a fixed choice, keys that come in turns would replace each other for ever.
  replaced = (replaced + 1) % PROBES
  hashes[(hash + replaced) & (PLACES - 1)] = hash
  return false
}

const numbers = new WeakMap<object, number>()
let lastNumber = 0

/** A number that no other object has: for keys of what is made of interned values. */
export const identityOf = (value: object): number => {
  const number = numbers.get(value) ?? (lastNumber += 1)
  numbers.set(value, number)
  return number
}

const internJson = createInterner<object>()

/**
 * Gives one object for equal data that is never changed, and is what JSON makes of it.
 * @example internData(['a']) // the same as another one that is in use
 */
export const internData = <V extends object>(value: V): V =>
  // What has the same JSON is equal, so of the same type.
  internJson(JSON.stringify(value), () => value) as V
