// Writes the header fields of draft-ietf-httpapi-ratelimit-headers-11, which say what a client may still send. No other file
// knows their syntax.

import type { HeaderList } from '../response/headers.ts'

/** What is known of one limit. Names need no escape. */
export interface LimitReport {
  readonly name: string
  readonly requests: number
  readonly seconds: number
  /** undefined: it was not asked for, as another limit refuses the request anyway. */
  readonly left: { readonly remaining: number; readonly seconds: number } | undefined
}

/** @param before those of the limits that were checked earlier for the same request */
export const limitFields = (
  before: HeaderList | undefined,
  reports: readonly LimitReport[],
): HeaderList => {
  const policies = reports.map(
    ({ name, requests, seconds }) => `"${name}";q=${requests};w=${seconds}`,
  )
  const states = reports.flatMap(({ name, left }) =>
    left === undefined ? [] : [`"${name}";r=${left.remaining};t=${left.seconds}`],
  )
  return [
    [POLICY, join(before, POLICY, policies)],
    [STATE, join(before, STATE, states)],
  ]
}

const POLICY = 'ratelimit-policy'
const STATE = 'ratelimit'

const join = (before: HeaderList = [], name: string, items: readonly string[]): string =>
  [...before.filter((field) => field[0] === name).map((field) => field[1]), ...items].join(', ')
