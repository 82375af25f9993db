// Reads decisions and failed requests as a data plane reports them (`GET /why`), and leaves out what is not a decision.

import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { isList, isMap, type ValueMap } from '../../../language/expression/value.ts'
import { isDecision } from './is-decision.ts'
import { isCount, isName, mapsIn } from './read-values.ts'

/** @param body of `GET /why/ID` */
export const readDecisions = (body: unknown): readonly ValueMap[] | undefined => {
  if (!isMap(body)) return undefined
  const decisions = mapsIn(body, 'decisions', MAX_DECISIONS)
  return decisions.length === 0 ? undefined : decisions.filter(isDecision)
}

const MAX_DECISIONS = 32

export interface FoundDecisions {
  /** Those that an operator has collected name their `gateway`. */
  readonly decisions: readonly ValueMap[]
  /** Gateways that have not answered the operator. */
  readonly silent: readonly string[]
}

/** @param body of `GET /why/ID` of a gateway, or of an operator, which asks all of its gateways */
export const readFoundDecisions = (body: unknown): FoundDecisions | undefined => {
  if (!isMap(body) || !isList(body['gateways'])) {
    const decisions = readDecisions(body)
    return decisions && { decisions, silent: [] }
  }
  const decisions = mapsIn(body, 'gateways', MAX_GATEWAYS).flatMap((each) => {
    const { name } = each
    if (!isName(name)) return []
    return (readDecisions(each) ?? []).map((decision) => ({ ...decision, gateway: name }))
  })
  const { silent = [] } = body
  return { decisions, silent: isList(silent) ? silent.filter(isName).slice(0, MAX_SILENT) : [] }
}

const MAX_GATEWAYS = 32
const MAX_SILENT = 100

export interface EndedFailure {
  /** Unix time, milliseconds: by the clock of the gateway. */
  readonly endedMs: number
  readonly failure: ValueMap
}

/**
 * A failure without a time, or with one in the future, is left out: failures of several gateways are sorted by time, and
 * one of the future would come before all others.
 * @param body of `GET /why`
 */
export const readFailures = (
  body: unknown,
  nowMs = SYSTEM_CLOCK.now(),
): readonly EndedFailure[] | undefined => {
  if (!isMap(body) || !isList(body['failures'])) return undefined
  return mapsIn(body, 'failures', MAX_FAILURES).flatMap((failure) => {
    const { ended_ms: endedMs } = failure
    const isPast = isCount(endedMs) && endedMs <= nowMs + MAX_SKEW_MS
    return isPast && isDecision(failure) ? [{ endedMs, failure }] : []
  })
}

/** How far the clock of a gateway may be ahead of ours. */
const MAX_SKEW_MS = 60_000

/** A page, and the rest of its last millisecond. */
const MAX_FAILURES = 500
