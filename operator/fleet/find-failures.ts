// Asks gateways for the requests that failed lately (`GET /why`), and merges their responses, the newest first. What a
// gateway says stays under its name, as a sidecar may claim anything.

import { inParallel } from '../../base/in-parallel.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { mergeNewest } from '../../web/merge-newest.ts'
import type { FailuresQuery, ManagementClient } from './management-client.ts'

export interface FleetFailures {
  readonly failures: readonly ValueMap[]
  /** `before` of the next page; null: there are no more. */
  readonly next: number | null
  readonly asked: number
  /** Names of gateways that have not answered. */
  readonly silent: readonly string[]
  /** How many were not called, as there are too many. */
  readonly skipped: number
}

export interface FailuresGateway {
  readonly name: string
  readonly client: Pick<ManagementClient, 'failures'>
}

/** Calls at one time. */
const WIDTH = 8
/** A page of each is read in full: a person chooses one where there are more. */
const MOST_GATEWAYS = 64

/**
 * Never rejects.
 * @param gateways in the order in which they are called, as the last of many are not
 */
export const findFailures = async (
  gateways: readonly FailuresGateway[],
  query: FailuresQuery,
): Promise<FleetFailures> => {
  const called = gateways.slice(0, MOST_GATEWAYS)
  const silent: string[] = []
  let found: readonly Row[] = []
  let next: number | null = null
  await inParallel(called, WIDTH, async ({ name, client }) => {
    const response = await client.failures(query)
    if (response.result !== 'ok') {
      silent.push(name)
      return
    }
    const rows = response.value
      .filter(({ endedMs }) => query.before === null || endedMs < Number(query.before))
      .map(({ endedMs, failure }) => ({ endedMs, failure: { ...failure, gateway: name } }))
    // At once, so that never more than two pages are in memory for each call that is under way.
    const merged = mergeNewest([found, rows], query.limit)
    found = merged.rows
    next = merged.next
  })
  return {
    failures: found.map(({ failure }) => failure),
    next,
    asked: called.length,
    silent: silent.sort(),
    skipped: gateways.length - called.length,
  }
}

interface Row {
  readonly endedMs: number
  readonly failure: ValueMap
}
