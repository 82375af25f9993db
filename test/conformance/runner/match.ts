// Compares a value with a pattern of a case, and lists the differences as texts: none means that it fits.

import { isList, isMap, onlyKey, shorten, spacedJson, type Json, type JsonMap } from './json.ts'

const KINDS: ReadonlyMap<Json, (value: Json) => boolean> = new Map([
  ['@any', () => true],
  ['@string', (value: Json) => typeof value === 'string'],
  ['@integer', (value: Json) => Number.isInteger(value)],
  ['@number', (value: Json) => typeof value === 'number'],
  ['@list', isList],
  ['@map', isMap],
])

/** Where a value stands, and whether the maps below may hold more keys than their patterns. */
export interface Place {
  readonly at: string
  readonly subset: boolean
}

/**
 * Differences between a pattern and a value.
 *
 * @example mismatches({ n: '@integer' }, { n: 'x' }, { at: 'body', subset: false })
 * // ['body/n: expected a value of kind @integer, got x']
 */
export const mismatches = (want: Json, got: Json, place: Place): string[] => {
  if (typeof want === 'string') return textMismatches(want, got, place)
  if (isList(want)) return listMismatches(want, got, place)
  if (!isMap(want)) return want === got ? [] : [unlike(want, got, place)]
  const key = onlyKey(want)
  if (key === '@some') return someMismatches(listOf(want, key), got, place)
  if (key === '@one_of') return oneOfMismatches(listOf(want, key), got, place)
  return mapMismatches(want, got, place)
}

/** A regular expression as the cases write it: `.` is any character, `(?im)` may stand in front. */
export const patternOf = (source: string): RegExp => {
  const [, flags = '', rest = ''] = /^(?:\(\?([im]+)\))?(.*)$/s.exec(source) ?? []
  return new RegExp(rest, `s${flags}`)
}

const unlike = (want: Json, got: Json, { at }: Place): string =>
  `${at}: expected ${shorten(want)}, got ${shorten(got)}`

const listOf = (want: JsonMap, key: string): readonly Json[] => {
  const list = want[key]
  return isList(list) ? list : []
}

const textMismatches = (want: string, got: Json, place: Place): string[] => {
  const isKind = KINDS.get(want)
  if (isKind !== undefined) {
    return isKind(got) ? [] : [`${place.at}: expected a value of kind ${want}, got ${shorten(got)}`]
  }
  if (!want.startsWith('~')) return want === got ? [] : [unlike(want, got, place)]
  const text = typeof got === 'string' ? got : spacedJson(got)
  return patternOf(want.slice(1)).test(text)
    ? []
    : [`${place.at}: expected to match /${want.slice(1)}/, got ${shorten(got)}`]
}

const listMismatches = (want: readonly Json[], got: Json, place: Place): string[] => {
  if (!isList(got) || got.length !== want.length) return [unlike(want, got, place)]
  return want.flatMap((pattern, i) =>
    mismatches(pattern, got[i] ?? null, { ...place, at: `${place.at}/${i}` }),
  )
}

const someMismatches = (want: readonly Json[], got: Json, { at }: Place): string[] => {
  if (!isList(got)) return [`${at}: expected a list, got ${shorten(got)}`]
  return want
    .filter(
      (pattern) =>
        !got.some((value) => mismatches(pattern, value, { at, subset: true }).length === 0),
    )
    .map((pattern) => `${at}: no element is like ${shorten(pattern)} in ${shorten(got, 400)}`)
}

const oneOfMismatches = (want: readonly Json[], got: Json, place: Place): string[] =>
  want.some((pattern) => mismatches(pattern, got, place).length === 0)
    ? []
    : [`${place.at}: expected one of ${shorten(want)}, got ${shorten(got)}`]

const mapMismatches = (want: JsonMap, got: Json, { at, subset }: Place): string[] => {
  if (!isMap(got)) return [`${at}: expected a map ${shorten(want)}, got ${shorten(got)}`]
  const faults = Object.entries(want).flatMap(([key, pattern]) =>
    memberMismatches(pattern, memberOf(got, key), { at: `${at}/${key}`, subset }),
  )
  if (subset) return faults
  const extra = Object.keys(got).filter((key) => !Object.hasOwn(want, key))
  return [
    ...faults,
    ...extra.map((key) => `${at}/${key}: unexpected, got ${shorten(memberOf(got, key))}`),
  ]
}

const memberOf = (map: JsonMap, key: string): Json | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined

const memberMismatches = (want: Json, got: Json | undefined, place: Place): string[] => {
  if (want === '@absent') {
    return got === undefined ? [] : [`${place.at}: expected to be absent, got ${shorten(got)}`]
  }
  return got === undefined
    ? [`${place.at}: missing, expected ${shorten(want)}`]
    : mismatches(want, got, place)
}
