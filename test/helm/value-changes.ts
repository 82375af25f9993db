// Lists the changes that make one JSON value of another, each at its place, and applies them again.
//
// A place is written as a JSON pointer (RFC 6901) with one liberty: where all elements of a list have names, an element
// is called by its name, as in `/containers/gateway/args/--log-level`. Elsewhere a change stands for a run of elements,
// or of lines of a text, and its place has the index at which the run begins in what was there before.

import { isDeepStrictEqual } from 'node:util'
import { childPointer, pointerKeys } from '../../base/json-pointer.ts'

/** Without `before` it is new there; without `after` it goes away. */
export interface Change {
  readonly before?: unknown
  readonly after?: unknown
  /** The name of what a new element of a list comes after, `''`: of nothing. Where it is left out: of all others. */
  readonly behind?: string
}

/** Place → change. */
export type Changes = Readonly<Record<string, Change>>

type JsonMap = Readonly<Record<string, unknown>>
type List = readonly unknown[]
type Named = ReadonlyMap<string, unknown>
type Found = readonly (readonly [place: string, change: Change])[]

/** In the order of sorted keys, and of lists. */
export const findChanges = (before: unknown, after: unknown): Changes =>
  Object.fromEntries(changesOf('', before, after))

const changesOf = (place: string, before: unknown, after: unknown): Found => {
  if (isDeepStrictEqual(before, after)) return []
  if (isMap(before) && isMap(after)) return changesOfMaps(place, before, after)
  if (isList(before) && isList(after)) return changesOfLists(place, before, after)
  if (hasLines(before) && hasLines(after)) return changesOfTexts(place, before, after)
  return [[place, { before, after }]]
}

const changesOfMaps = (place: string, before: JsonMap, after: JsonMap): Found => {
  const [olds, nows] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const keys = [...new Set([...olds.keys(), ...nows.keys()])].sort()
  return keys.flatMap((key): Found => {
    const [here, old, now] = [childPointer(place, key), olds.get(key), nows.get(key)]
    if (now === undefined) return [[here, { before: old }]]
    if (old !== undefined) return changesOf(here, old, now)
    // A new map is told key by key: a label reads alike whether or not it is the first one.
    const isTold = isMap(now) && Object.keys(now).length > 0
    return isTold ? changesOf(here, {}, now) : [[here, { after: now }]]
  })
}

const changesOfLists = (place: string, before: List, after: List): Found => {
  const [old, now] = [byName(before), byName(after)]
  if (old !== undefined && now !== undefined && isSameOrder(old, now))
    return changesOfNamed(place, old, now)
  const isPair = (each: unknown, i: number): boolean =>
    (isMap(each) && isMap(after[i])) || (hasLines(each) && hasLines(after[i]))
  return before.length === after.length && before.every(isPair)
    ? before.flatMap((each, i) => changesOf(childPointer(place, i), each, after[i]))
    : runsOf(before, after).map(([i, change]) => [childPointer(place, i), change])
}

const changesOfNamed = (place: string, before: Named, after: Named): Found => {
  const names = [...after.keys()]
  const lastOld = names.findLastIndex((name) => before.has(name))
  return [...new Set([...before.keys(), ...names])].flatMap((name): Found => {
    const [here, old, now] = [childPointer(place, name), before.get(name), after.get(name)]
    if (now === undefined) return [[here, { before: old }]]
    if (old !== undefined) return changesOf(here, old, now)
    const at = names.indexOf(name)
    return [[here, { after: now, ...(at < lastOld && { behind: names[at - 1] ?? '' }) }]]
  })
}

const changesOfTexts = (place: string, before: string, after: string): Found =>
  runsOf(before.split('\n'), after.split('\n')).map(([i, run]) => [
    childPointer(place, i),
    {
      ...(run.before && { before: run.before.join('\n') }),
      ...(run.after && { after: run.after.join('\n') }),
    },
  ])

interface Run {
  readonly before?: List
  readonly after?: List
}

/** What lies between the common elements, each with its index in the former. */
const runsOf = (before: List, after: List): readonly (readonly [number, Run])[] => {
  const ends = [...commonElements(before, after), [before.length, after.length] as const]
  let [i, j] = [0, 0]
  return ends.flatMap(([nextI, nextJ]) => {
    const run = {
      ...(i < nextI && { before: before.slice(i, nextI) }),
      ...(j < nextJ && { after: after.slice(j, nextJ) }),
    }
    const begin = i
    ;[i, j] = [nextI + 1, nextJ + 1]
    return Object.keys(run).length === 0 ? [] : [[begin, run] as const]
  })
}

/** Indexes of a longest common subsequence. */
const commonElements = (before: List, after: List): readonly (readonly [number, number])[] => {
  const isSame = (i: number, j: number): boolean => isDeepStrictEqual(before[i], after[j])
  /** How many are common from there on. */
  const counts = new Map<string, number>()
  const countAt = (i: number, j: number): number => counts.get(`${i}/${j}`) ?? 0
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const skipped = Math.max(countAt(i + 1, j), countAt(i, j + 1))
      counts.set(`${i}/${j}`, isSame(i, j) ? 1 + countAt(i + 1, j + 1) : skipped)
    }
  const common: (readonly [number, number])[] = []
  let [i, j] = [0, 0]
  while (i < before.length && j < after.length)
    if (isSame(i, j)) common.push([i++, j++])
    else if (countAt(i + 1, j) >= countAt(i, j + 1)) i += 1
    else j += 1
  return common
}

interface Step {
  /** What is left of the way to its place. */
  readonly tokens: readonly string[]
  readonly change: Change
}

/** @throws where something else is there than a change says */
export const applyChanges = (value: unknown, changes: Changes): unknown =>
  applySteps(
    value,
    Object.entries(changes).map(([place, change]) => ({ tokens: pointerKeys(place), change })),
  )

/** Undefined, in and out: nothing is there. */
const applySteps = (value: unknown, steps: readonly Step[]): unknown => {
  if (steps.length === 0) return value
  const change = changeHere(steps)
  if (change !== undefined) {
    demandSame(value, change.before)
    return change.after
  }
  const within = byToken(steps)
  if (isList(value)) return applyToList(value, within)
  if (hasLines(value)) return applyToText(value, within)
  if (value === undefined || isMap(value)) return applyToMap(value ?? {}, within)
  throw new Error(`nothing can change within ${JSON.stringify(value)}`)
}

/** By the next token of their way. */
type Within = ReadonlyMap<string, readonly Step[]>

const applyToMap = (map: JsonMap, within: Within): JsonMap => {
  const result = new Map(Object.entries(map))
  for (const [key, steps] of within) {
    const value = applySteps(result.get(key), steps)
    if (value === undefined) result.delete(key)
    else result.set(key, value)
  }
  return Object.fromEntries(result)
}

const applyToList = (list: List, within: Within): List => {
  const named = byName(list)
  return named !== undefined && ![...within.keys()].every(isIndex)
    ? applyToNamed(named, within)
    : applyToIndexes(list, within)
}

const applyToNamed = (named: Named, within: Within): List => {
  const [values, names] = [new Map(named), [...named.keys()]]
  for (const [name, steps] of within) {
    values.set(name, applySteps(named.get(name), steps))
    if (named.has(name)) continue
    const { behind } = changeHere(steps) ?? {}
    names.splice(behind === undefined ? names.length : 1 + names.indexOf(behind), 0, name)
  }
  return names.flatMap((name) => values.get(name) ?? [])
}

const applyToIndexes = (list: List, within: Within): List => {
  const result = [...list]
  // From the end: indexes are those of the list as it was.
  for (const [token, steps] of [...within].reverse()) {
    const [i, run] = [Number(token), changeHere(steps) as Run | undefined]
    if (run === undefined) result[i] = applySteps(result[i], steps)
    else {
      const gone = result.splice(i, run.before?.length ?? 0, ...(run.after ?? []))
      demandSame(gone, run.before ?? [])
    }
  }
  return result
}

const applyToText = (text: string, within: Within): string => {
  const linesOf = (value: unknown): List | undefined =>
    typeof value === 'string' ? value.split('\n') : undefined
  const steps = Array.from(within, ([token, each]): Step => {
    const { before, after } = changeHere(each) ?? {}
    return { tokens: [token], change: { before: linesOf(before), after: linesOf(after) } }
  })
  return applyToIndexes(text.split('\n'), byToken(steps)).join('\n')
}

const changeHere = (steps: readonly Step[]): Change | undefined =>
  steps.find(({ tokens }) => tokens.length === 0)?.change

const demandSame = (value: unknown, before: unknown): void => {
  if (!isDeepStrictEqual(value, before))
    throw new Error(`there is ${JSON.stringify(value)}, not ${JSON.stringify(before)}`)
}

const byToken = (steps: readonly Step[]): Within => {
  const groups = Map.groupBy(steps, ({ tokens }) => tokens[0] ?? '')
  const inside = ({ tokens, change }: Step): Step => ({ tokens: tokens.slice(1), change })
  return new Map(Array.from(groups, ([token, group]) => [token, group.map(inside)]))
}

/** Undefined where not each has a name of its own that can't be taken for an index. */
const byName = (list: List): Named | undefined => {
  const names = list.map(nameOf)
  const isName = (name: unknown): name is string => typeof name === 'string' && !isIndex(name)
  if (!names.every(isName) || new Set(names).size < list.length) return undefined
  return new Map(names.map((name, i) => [name, list[i]]))
}

/** A flag's is `--log-level`, an alert's that of the alert. */
const nameOf = (element: unknown): unknown => {
  if (typeof element === 'string') return /^--[^=]+/.exec(element)?.[0]
  return isMap(element) ? (element['name'] ?? element['alert']) : undefined
}

const isSameOrder = (before: Named, after: Named): boolean =>
  isDeepStrictEqual(
    [...before.keys()].filter((name) => after.has(name)),
    [...after.keys()].filter((name) => before.has(name)),
  )

const isIndex = (token: string): boolean => /^\d*$/.test(token)

/** The keys of each map in it, in order. */
export const sortKeys = (value: unknown): unknown => {
  if (isList(value)) return value.map(sortKeys)
  if (!isMap(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, sortKeys(each)]))
}

const isList = (value: unknown): value is List => Array.isArray(value)

const hasLines = (value: unknown): value is string =>
  typeof value === 'string' && value.includes('\n')

const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !isList(value)
