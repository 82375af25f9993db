// Finds the known name that was probably meant, for "did you mean …?" in messages.

/** Longer names are not compared: the time it takes grows with the product of both lengths. */
const MAX_LENGTH = 64
/** Only so many candidates, the first ones, are looked at. */
const MAX_CANDIDATES = 2000
/** Names so short have too many neighbours two letters away. */
const SHORT = 4

/**
 * The candidate that is nearest to `name`: the same but for case, `_` and `-`, at most two letters apart (one
 * in a short name), the same word in the singular or plural, or one that begins with the whole of it. Undefined where
 * none is near.
 * @example nearestName('respones', ['request', 'response']) // 'response'
 */
export const nearestName = (name: string, candidates: Iterable<string>): string | undefined => {
  if (name.length > MAX_LENGTH) return undefined
  const plain = plainOf(name)
  let nearest: string | undefined
  let least = Infinity
  let left = MAX_CANDIDATES
  for (const candidate of candidates) {
    if (left-- === 0) break
    const distance = distanceTo(name, plain, candidate)
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

/**
 * The end of a sentence; empty where no candidate is near.
 * @example didYouMean('rute', ['route']) // "; did you mean 'route'?"
 */
export const didYouMean = (name: string, candidates: Iterable<string>): string => {
  const near = nearestName(name, candidates)
  return near === undefined ? '' : `; did you mean '${near}'?`
}

/**
 * Finds the known name that another one equals but for case, `_` and `-`, or but for one letter. It may be asked about
 * millions of names, so it takes a few comparisons of letters for each.
 * @example findMisspelt(['body_max_bytes'])('body_max_byts') // 'body_max_bytes'
 */
export const findMisspelt = (names: Iterable<string>): ((name: string) => string | undefined) => {
  const known = Array.from(names, (name) => ({
    name,
    lower: name.toLowerCase(),
    plain: plainOf(name),
    plural: `${plainOf(name)}s`,
  }))
  return (name) => {
    if (name.length > MAX_LENGTH) return undefined
    const lower = name.toLowerCase()
    const plain = plainOf(name)
    // Of `schemas` it is `schema`, not `schemes`.
    const same = known.find((each) => each.plain === plain || each.plural === plain)
    return (same ?? known.find((each) => isOneLetterApart(each.lower, lower)))?.name
  }
}

/** Whether a letter was put in, left out, replaced, or swapped with its neighbour. Or the same. */
const isOneLetterApart = (left: string, right: string): boolean => {
  const shorter = Math.min(left.length, right.length)
  const longer = Math.max(left.length, right.length)
  if (longer - shorter > 1) return false
  let start = 0
  while (start < shorter && left[start] === right[start]) start++
  let end = 0
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end])
    end++
  const rest = longer - start - end
  const isSwapped = (): boolean =>
    left.length === right.length &&
    left[start] === right[start + 1] &&
    left[start + 1] === right[start]
  return rest <= 1 || (rest === 2 && isSwapped())
}

const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

/** Infinity: not near. */
const distanceTo = (name: string, plain: string, candidate: string): number => {
  if (candidate === name || candidate.length > MAX_LENGTH) return Infinity
  const other = plainOf(candidate)
  const allowed = Math.min(plain.length, other.length) <= SHORT ? 1 : 2
  if (pluralOf(plain) === other || pluralOf(other) === plain) return 1
  const isComparable = plain.length > 1 && Math.abs(plain.length - other.length) <= allowed
  const distance = isComparable ? editDistance(plain, other, allowed) : Infinity
  if (distance <= allowed) return distance
  const isBeginning = candidate.startsWith(`${name}-`) || candidate.startsWith(`${name}_`)
  return isBeginning && name !== '' ? allowed : Infinity
}

/** The plural that is more than two letters away: `retry`, `retries`. Undefined where it has another form. */
const pluralOf = (plain: string): string | undefined =>
  /[^aeiou]y$/.test(plain) ? `${plain.slice(0, -1)}ies` : undefined

/**
 * Letters that are put in, left out, replaced, or swapped with their neighbour (optimal string alignment); Infinity if they
 * are more than `most`. Only what may come out is computed: a document may name 300 unknown variables beside 450 that are
 * as long, which took 5 s otherwise.
 */
const editDistance = (left: string, right: string, most: number): number => {
  let above: readonly number[] = []
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = new Array<number>(right.length + 1).fill(Infinity)
    let least = (next[0] = i)
    const to = Math.min(right.length, i + most)
    for (let j = Math.max(1, i - most); j <= to; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      const swapped = isSwap(left, right, i, j) ? (above[j - 2] ?? 0) + 1 : Infinity
      const distance = Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1)
      next[j] = distance
      least = Math.min(least, distance)
    }
    // No later one is less: a swap begins two rows before, where one more was no less than here.
    if (least > most) return Infinity
    above = row
    row = next
  }
  return row[right.length] ?? 0
}

/** Whether two letters of `left` stand the other way round in `right`, up to `i` and `j`. */
const isSwap = (left: string, right: string, i: number, j: number): boolean =>
  i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
