// Compares what has come of an example with what it expects: members that it names must match, lists as a whole.

import { childPointer } from '../../base/json-pointer.ts'
import { isList, isMap, type Value, type ValueMap } from '../expression/value.ts'
import type { ExampleExpectation } from './example.ts'

export interface ObservedResponse {
  readonly status_code: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Decoded by its type; a text where that is not possible. */
  readonly body: Value
  /** What left for an upstream or a router, in order; undefined: it is not known. */
  readonly sent: readonly Value[] | undefined
}

export interface Mismatch {
  /** JSON pointer below the example: `/expect/body/id`. */
  readonly path: string
  /** What was expected, and what has come; undefined: nothing. */
  readonly expected: Value
  readonly actual: Value | undefined
}

/** @example mismatchesOf({ status_code: 200 }, observed) // [] */
export const mismatchesOf = (
  expect: ExampleExpectation,
  observed: ObservedResponse,
): readonly Mismatch[] => {
  const { status_code: status, headers = {}, body, sent } = expect
  return [
    ...(status === undefined ? [] : compare(status, observed.status_code, '/expect/status_code')),
    ...compareHeaders(headers, observed.headers, '/expect/headers'),
    ...(body === undefined ? [] : compare(body, observed.body, '/expect/body')),
    ...(sent === undefined || observed.sent === undefined ? [] : compareSent(sent, observed.sent)),
  ]
}

const compare = (expected: Value, actual: Value | undefined, path: string): readonly Mismatch[] => {
  if (!isMap(expected) || !isMap(actual))
    return isEqual(expected, actual) ? [] : [{ path, expected, actual }]
  return Object.entries(expected).flatMap(([name, member]) =>
    compare(member, own(actual, name), childPointer(path, name)),
  )
}

const own = (map: ValueMap, name: string): Value | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined

const isEqual = (left: Value, right: Value | undefined): boolean => {
  if (isList(left))
    return (
      isList(right) &&
      left.length === right.length &&
      left.every((item, index) => isEqual(item, right[index]))
    )
  if (!isMap(left)) return left === right
  if (!isMap(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isEqual(left[name] ?? null, right[name]))
  )
}

const compareHeaders = (expected: ValueMap, actual: ValueMap, at: string): readonly Mismatch[] =>
  Object.entries(expected).flatMap(([name, value]) => {
    const given = own(actual, name.toLowerCase())
    const isAsWished = value === false ? given === undefined : given === textOf(value)
    return isAsWished ? [] : [{ path: childPointer(at, name), expected: value, actual: given }]
  })

const textOf = (value: Value): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** A map stands for the only thing that was sent. */
const compareSent = (expected: Value, actual: readonly Value[]): readonly Mismatch[] => {
  const at = '/expect/sent'
  if (expected === false || expected === true)
    return expected === actual.length > 0 ? [] : [{ path: at, expected, actual }]
  const wanted = isList(expected) ? expected : [expected]
  if (wanted.length !== actual.length) return [{ path: at, expected, actual }]
  return wanted.flatMap((each, index) =>
    compareOneSent(each, actual[index], isList(expected) ? childPointer(at, index) : at),
  )
}

const compareOneSent = (
  expected: Value,
  actual: Value | undefined,
  path: string,
): readonly Mismatch[] => {
  if (!isMap(expected) || !isMap(actual)) return compare(expected, actual, path)
  const { headers, ...rest } = expected
  const sentHeaders = own(actual, 'headers')
  return [
    ...compare(rest, actual, path),
    ...(isMap(headers) && isMap(sentHeaders)
      ? compareHeaders(headers, sentHeaders, childPointer(path, 'headers'))
      : []),
  ]
}
