// Writes what came of examples as text, as data and as a JUnit report.

import { pointerKeys } from '../../base/json-pointer.ts'
import type { Mismatch } from '../../language/examples/match-expectation.ts'
import type { Value } from '../../language/expression/value.ts'
import { printable, printableLine } from '../../telemetry/printable.ts'
import { junitReport } from '../formats/junit.ts'
import { type FileExample, operationName, type ReadExamples } from './read-examples.ts'

/** Something that is not as the example says. */
export interface ExampleFailure {
  /** In the file: `users.yaml:12:5`. */
  readonly place: string
  /** Its keys below the example: `expect.body.id`; empty: the example itself. */
  readonly member: string
  readonly message: string
  /** Lines that begin with `-` were expected, those with `+` have come; empty: the message says all. */
  readonly diff: readonly string[]
}

export interface TestedExample {
  readonly document: string
  readonly operation: string
  readonly name: string
  readonly place: string
  /** Empty: it has passed. */
  readonly failures: readonly ExampleFailure[]
}

export interface ExamplesReport extends Pick<ReadExamples, 'without' | 'leftOut'> {
  readonly tested: readonly TestedExample[]
  /** Examples that were not run, and why. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
}

interface Comparison {
  readonly mismatches: readonly Mismatch[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
}

export const testedExample = (
  { placed, placeOf, hide }: FileExample,
  { mismatches, problems }: Comparison,
): TestedExample => ({
  document: placed.api.id,
  operation: operationName(placed),
  name: placed.name,
  place: placeOf(''),
  failures: [
    ...problems.map(({ path, message }) => ({
      place: placeOf(path),
      member: memberName(path),
      message: hide(message),
      diff: [],
    })),
    ...mismatches.map(({ path, expected, actual }) => ({
      place: placeOf(path),
      member: memberName(path),
      message:
        actual === undefined ? 'expected (-), and there is none' : 'expected (-), but came (+)',
      diff: diffOf(expected, actual).map(hide),
    })),
  ],
})

/** @example "users.yaml:12:5 GET /v1/orders 'all'" */
export const exampleName = ({ placed, placeOf }: FileExample): string =>
  `${placeOf('')} ${titleOf({ operation: operationName(placed), name: placed.name })}`

const memberName = (path: string): string => pointerKeys(path).join('.')

/** The lines of both, without those that they begin and end with alike. */
const diffOf = (expected: Value, actual: Value | undefined): readonly string[] => {
  const wanted = linesOf(expected)
  const given = actual === undefined ? [] : linesOf(actual)
  const shorter = Math.min(wanted.length, given.length)
  let start = 0
  while (start < shorter && wanted[start] === given[start]) start++
  let end = 0
  while (end < shorter - start && wanted.at(-1 - end) === given.at(-1 - end)) end++
  const changed = (lines: readonly string[], mark: string): readonly string[] =>
    lines.slice(start, lines.length - end).map((line) => `${mark} ${line}`)
  return bounded([...changed(wanted, '-'), ...changed(given, '+')])
}

const linesOf = (value: Value): readonly string[] =>
  JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.slice(0, MOST_CHARACTERS))

const MOST_CHARACTERS = 500
const MOST_LINES = 60

const bounded = (lines: readonly string[]): readonly string[] =>
  lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} more lines`]

export const reportAsText = ({ tested }: ExamplesReport): string =>
  printable(
    tested
      .filter(({ failures }) => failures.length > 0)
      .map(
        (each) =>
          `${printableLine(each.place)} ${titleOf(each)}\n${each.failures.map(failureText).join('')}`,
      )
      .join('\n'),
  )

const titleOf = ({ operation, name }: Pick<TestedExample, 'operation' | 'name'>): string =>
  printableLine(`${operation} '${name}'`)

const failureText = ({ place, member, message, diff }: ExampleFailure): string =>
  [
    `  ${place}${member === '' ? '' : ` ${member}`}: ${message}`,
    ...diff.map((line) => `    ${line}`),
    '',
  ]
    .map(printableLine)
    .join('\n')

export const reportAsJson = ({ tested, skipped, without, leftOut }: ExamplesReport): string =>
  `${JSON.stringify({ examples: tested, skipped, without, leftOut }, null, 2)}\n`

export const reportAsJUnit = ({ tested }: ExamplesReport): string =>
  junitReport(
    'svc test',
    tested.map((each) => {
      const name = `${each.document} ${titleOf(each)}`
      if (each.failures.length === 0) return { name, output: '' }
      const text = each.failures.map(failureText).join('')
      return { name, output: '', failure: { message: each.place, text } }
    }),
  )

/** @example '12 examples: 11 passed, 1 failed; 2 operations have none' */
export const summaryOf = ({ tested, skipped, without }: ExamplesReport): string => {
  const failed = tested.filter(({ failures }) => failures.length > 0).length
  const parts = [
    `${count(tested.length, 'example')}: ${tested.length - failed} passed, ${failed} failed`,
    ...(skipped.length === 0 ? [] : [`${skipped.length} not run`]),
    ...(without.length === 0
      ? []
      : [`${count(without.length, 'operation')} ${without.length === 1 ? 'has' : 'have'} none`]),
  ]
  return parts.join('; ')
}

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`
