// Decides the condition Programmed of a document from its result and the reports of data planes, and what must be
// remembered for the next time. Pure: the time is passed in. Messages contain no counts, so that data planes that come and
// go, or load a document one after the other, do not cause a write of the status each.

import type { DataPlaneReport } from '../../data-plane.ts'
import { type NewCondition, joinMessages } from '../../resource/condition.ts'
import { describeProblem } from '../conditions.ts'
import type { Sight } from './fleet-view.ts'
import { pausedWords } from './paused.ts'
import { servingWords } from './serving-words.ts'
import type { ResourceResult } from '../resource-result.ts'

/** Remembered from one condition to the next. */
export interface Latch {
  readonly generation: number
  readonly digest: string
  /** Since when a ready data plane has loaded another version, or there has been no data plane; Unix time, milliseconds. */
  readonly differsSince?: number
}

export interface Programmed {
  readonly condition: NewCondition<'Programmed'>
  /** Set while Programmed is True. */
  readonly latch?: Latch
  /** Every data plane that answered rejects it: nothing changes until someone acts. */
  readonly rejectedByAll: boolean
}

/** How long a latched document may differ at a data plane, or be at none, before the condition turns. */
const DIFFERS_MS = 30_000

/**
 * Once True, the condition is latched for that generation and digest. Data planes that come and go do not turn it; a ready
 * one does that rejects the document or has another digest for 30 s, and so does the absence of any for 30 s.
 * @param sight of the data planes that the document is for
 */
export const computeProgrammed = (
  result: ResourceResult,
  sight: Sight,
  latch: Latch | undefined,
  nowMs: number,
): Programmed => {
  const { digest, id } = result
  const isWanted = isGood(result) || result.servesOn === true
  if (!isWanted || digest === undefined || id === undefined) return notGood(result)
  if (result.isHeld === true) {
    return { condition: unprogrammed('Pending', pausedWords(result)), rejectedByAll: false }
  }
  const { generation } = result.resource.metadata
  const found = conditionOfSight(sight, id)
  const rejectedByAll = isRejectedByAll(sight)
  if (found.status === 'True') {
    return { condition: found, latch: { generation, digest }, rejectedByAll }
  }
  const held = latch?.generation === generation && latch.digest === digest ? latch : undefined
  if (held === undefined || endsLatch(sight)) return { condition: found, rejectedByAll }
  return stayLatched(held, sight, { found, nowMs })
}

/**
 * Adds to the message of a document that is not programmed which version serves, so that it says whether there is an
 * outage.
 * @param serving see `DocumentSummary`
 */
export const withServing = (
  programmed: Programmed,
  result: ResourceResult,
  serving: string,
): Programmed => {
  const { condition } = programmed
  // The message of a paused document says that already.
  if (condition.status !== 'False' || result.isHeld === true) return programmed
  const message = joinMessages(condition.message, servingWords(serving, result, condition.reason))
  return { ...programmed, condition: { ...condition, message } }
}

export const isGood = ({ accepted, resolvedRefs }: ResourceResult): boolean =>
  accepted.status === 'True' && resolvedRefs.status === 'True'

const PROGRAMMED: NewCondition<'Programmed'> = {
  type: 'Programmed',
  status: 'True',
  reason: 'Programmed',
  message: 'loaded by every data plane that is ready',
}

const COMPILING: NewCondition<'Programmed'> = {
  type: 'Programmed',
  status: 'Unknown',
  reason: 'Pending',
  message: 'sent once it has been compiled',
}

/** To how many data planes the document is sent. */
const eligibleOf = (sight: Sight): number => sight.total - sight.count('forbidden')

const isForbiddenToAll = (sight: Sight): boolean => sight.total > 0 && eligibleOf(sight) === 0

const endsLatch = (sight: Sight): boolean => sight.count('rejected') > 0 || isForbiddenToAll(sight)

const isRejectedByAll = (sight: Sight): boolean => {
  const refusing = sight.count('rejected', 'withheld')
  return refusing > 0 && refusing + sight.count('unreachable') === eligibleOf(sight)
}

const notGood = (result: ResourceResult): Programmed => ({
  condition: result.isPending === true ? COMPILING : notSent(result),
  rejectedByAll: false,
})

/** A generation that serves may become invalid: its references change, or another document has precedence. */
const notSent = ({
  accepted,
  serving,
  resource,
  isRevoked,
}: ResourceResult): NewCondition<'Programmed'> => {
  const reason = accepted.status === 'False' ? 'Invalid' : 'Unresolved'
  if (isRevoked === true) return unprogrammed(reason, REVOKED)
  const hasServed = serving?.generation === resource.metadata.generation
  return unprogrammed(reason, NOT_SENT[reason][hasServed ? 'served' : 'new'])
}

const REVOKED =
  'this generation can not serve, nor any other one: its namespace has no right to its host or its realm any more'

const NOT_SENT = {
  Invalid: {
    new: 'this generation is not valid',
    served: 'this generation is no longer valid',
  },
  Unresolved: {
    new: 'sent once its references resolve: see ResolvedRefs',
    served: 'a reference of this generation does not resolve any more: see ResolvedRefs',
  },
} as const

/** Whether the result alone decides, whatever data planes report. */
export const isDecided = ({ condition: { reason } }: Programmed): boolean =>
  reason === 'Invalid' || reason === 'Unresolved'

/** The admission webhook warns with it, too. */
export const NO_DATA_PLANES =
  'no data plane is selected: start one, or change dataPlaneSelector so that it matches one that runs'

const NO_PERMITTED_DATA_PLANES =
  'only sidecars are selected, and none of them may receive its realm: see ResolvedRefs'

const conditionOfSight = (sight: Sight, id: string): NewCondition<'Programmed'> => {
  const held = sight.count('holds')
  const ready = held + sight.count('differs')
  if (sight.total === 0) return unprogrammed('NoDataPlanes', NO_DATA_PLANES)
  if (isForbiddenToAll(sight)) return unprogrammed('NoDataPlanes', NO_PERMITTED_DATA_PLANES)
  if (sight.count('rejected') > 0) {
    const reason = held > 0 ? 'PartiallyProgrammed' : 'Rejected'
    return unprogrammed(reason, rejectionWords(sight, id))
  }
  if (ready > 0 && held === ready) return PROGRAMMED
  if (held > 0) {
    return unprogrammed(
      'PartiallyProgrammed',
      'loaded by some data planes that are ready, but not by all',
    )
  }
  // Only after that, as these data planes are not ready.
  if (sight.count('withheld') > 0) return unprogrammed('Rejected', rejectionWords(sight, id))
  if (sight.count('unreachable') === eligibleOf(sight)) {
    return unprogrammed('Unreachable', unreachableWords(sight))
  }
  return unprogrammed('Pending', 'being sent to the data planes')
}

const unprogrammed = (
  reason: Extract<NewCondition<'Programmed'>, { status: 'False' }>['reason'],
  message: string,
): NewCondition<'Programmed'> => ({ type: 'Programmed', status: 'False', reason, message })

/** The data plane whose rejection is reported. */
export const firstRefusing = (sight: Sight): DataPlaneReport | undefined =>
  sight.first('rejected') ?? sight.first('withheld')

const rejectionWords = (sight: Sight, id: string): string => {
  const first = firstRefusing(sight)
  const error = first?.rejected.documents.get(id)?.errors[0]
  const cause = error === undefined ? 'no cause given' : describeProblem(error)
  const more = sight.count('rejected', 'withheld') > 1 ? ' and others' : ''
  return `rejected by ${first?.dataPlane.name ?? 'a data plane'}${more}: ${cause}`
}

const unreachableWords = (sight: Sight): string => {
  const first = sight.first('unreachable')
  if (first === undefined || first.message === '') return 'no data plane has responded so far'
  const more = sight.total > 1 ? ' (none of the others responds either)' : ''
  return `${first.dataPlane.name}: ${first.message}${more}`
}

const stayLatched = (
  latch: Latch,
  sight: Sight,
  { found, nowMs }: { readonly found: NewCondition<'Programmed'>; readonly nowMs: number },
): Programmed => {
  const { generation, digest } = latch
  if (sight.count('differs') === 0 && sight.total > 0) {
    return { condition: PROGRAMMED, latch: { generation, digest }, rejectedByAll: false }
  }
  const differsSince = latch.differsSince ?? nowMs
  if (nowMs - differsSince >= DIFFERS_MS) return { condition: found, rejectedByAll: false }
  return {
    condition: PROGRAMMED,
    latch: { generation, digest, differsSince },
    rejectedByAll: false,
  }
}
