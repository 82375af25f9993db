// Reads decisions and failed requests as a data plane reports them (`GET /why`), and leaves out what is not a decision: of
// the form that those who show it rely on, and of bounded size and depth. A sidecar may say anything.

import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import {
  itemsIn,
  listOf,
  mapOf,
  notEmpty,
  orElse,
  type Read,
  readCount,
  readMap,
  readName,
  readNumber,
  readText,
  validIfPresent,
} from './reader.ts'

/** A gateway writes some 10 KiB at most. */
const MAX_TEXT_LENGTH = 16 * 1024

/** A decision has a list of maps. */
const MAX_DEPTH = 4

const MAX_DECISIONS = 32
const MAX_GATEWAYS = 32
const MAX_SILENT = 100

/** A page, and the rest of its last millisecond. */
const MAX_FAILURES = 500

/** How far the clock of a gateway may be ahead of ours. */
const MAX_SKEW_MS = 60_000

const readForm = mapOf({
  id: readText,
  at: readText,
  ms: readNumber,
  method: readText,
  status: readNumber,
  step: readText,
  scheme: validIfPresent(readText),
  code: validIfPresent(readText),
  reason: validIfPresent(readText),
  pointer: validIfPresent(readText),
  attempts: validIfPresent(readNumber),
  upstream: validIfPresent(readText),
  detail: validIfPresent(readText),
  path: validIfPresent(readText),
  sentences: validIfPresent(
    mapOf({ came: readText, decided: readText, why: readText, remedy: readText }),
  ),
  more: validIfPresent(readNumber),
  document: validIfPresent(
    mapOf({
      id: readText,
      version: readText,
      realm: readText,
      path: readText,
      action: readText,
      digest: validIfPresent(readText),
    }),
  ),
  caller: validIfPresent(mapOf({ scheme: readText, hash: readText })),
  tried: validIfPresent(
    listOf(mapOf({ document: readText, host: readText, path: readText, reason: readText })),
  ),
})

/** Members that are not known may be there: a gateway may be newer than this operator. */
const isDecision = (row: ValueMap): boolean =>
  textLengthOf(row, MAX_DEPTH) <= MAX_TEXT_LENGTH && readForm(row) !== undefined

/** The length of all texts and names in it, and one for each value; Infinity: it is too deep. */
const textLengthOf = (value: Value, depth: number): number => {
  if (typeof value === 'string') return 1 + value.length
  if (!isList(value) && !isMap(value)) return 1
  if (depth === 0) return Infinity
  let length = 1
  for (const [name, each] of Object.entries(value))
    length += name.length + textLengthOf(each, depth - 1)
  return length
}

const readRows = mapOf<{ readonly decisions: readonly ValueMap[] }>({
  decisions: notEmpty(itemsIn(readMap, MAX_DECISIONS)),
})

/** @param body of `GET /why/ID` */
export const readDecisions: Read<readonly ValueMap[]> = (body) =>
  readRows(body)?.decisions.filter(isDecision)

export interface FoundDecisions {
  /** Those that an operator has collected name their `gateway`. */
  readonly decisions: readonly ValueMap[]
  /** Gateways that have not answered the operator. */
  readonly silent: readonly string[]
}

interface Collected {
  readonly gateways: readonly (readonly ValueMap[])[]
  readonly silent: readonly string[]
}

const readCollected = mapOf<Collected>({
  gateways: itemsIn((each) => {
    const name = isMap(each) ? readName(each['name']) : undefined
    if (name === undefined) return undefined
    return readDecisions(each)?.map((decision) => ({ ...decision, gateway: name }))
  }, MAX_GATEWAYS),
  silent: orElse(itemsIn(readName, MAX_SILENT), []),
})

/** @param body of `GET /why/ID` of a gateway, or of an operator, which asks all of its gateways */
export const readFoundDecisions: Read<FoundDecisions> = (body) => {
  const collected = readCollected(body)
  if (collected !== undefined)
    return { decisions: collected.gateways.flat(), silent: collected.silent }
  const decisions = readDecisions(body)
  return decisions && { decisions, silent: [] }
}

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
  const readFailure: Read<EndedFailure> = (failure) => {
    if (!isMap(failure)) return undefined
    const endedMs = readCount(failure['ended_ms'])
    const isPast = endedMs !== undefined && endedMs <= nowMs + MAX_SKEW_MS
    return isPast && isDecision(failure) ? { endedMs, failure } : undefined
  }
  return isMap(body) ? itemsIn(readFailure, MAX_FAILURES)(body['failures']) : undefined
}
