// Decides which Events to record for a resource, from its status and what earlier Events have reported. Pure.

import type { Problem } from '../../language/problem.ts'
import type { EventFacts } from '../kubernetes/events/object.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import { type Condition, conditionOf } from '../resource/condition.ts'
import { isReleased } from '../resource/released.ts'
import {
  API_VERSION,
  type ApiSpecificationResource,
  type ProgrammedVersion,
  type RealmResource,
} from '../resource/resource.ts'

/** What the Events of a resource have reported so far. */
export interface Reported {
  /** Another resource of the same name starts without Events. */
  readonly uid: string
  readonly acceptance?: ReportedFact
  readonly references?: ReportedFact
  readonly delivery?: ReportedFact
  readonly health?: ReportedFact
  /** Missing references that are not reported yet, as they may still arrive. */
  readonly waiting?: WaitingFact
}

interface WaitingFact {
  readonly fact: Fact
  /** Unix time, milliseconds. */
  readonly sinceMs: number
}

interface ReportedFact {
  readonly reason: EventReason
  /** The same fact is reported again only for another generation. */
  readonly generation: number
  /** A fact with another cause is reported as well. Absent: the cause is not known any more. */
  readonly cause?: string
}

type EventReason = keyof typeof EVENTS

interface Fact extends ReportedFact {
  readonly note: string
}

/** `Accepted` is remembered, so that the next rejection is reported, but has no Event: `Programmed` implies it. */
const EVENTS = {
  Accepted: undefined,
  Rejected: { type: 'Warning', action: 'Validate' },
  Conflicted: { type: 'Warning', action: 'Validate' },
  Unresolved: { type: 'Warning', action: 'Validate' },
  Programmed: { type: 'Normal', action: 'Load' },
  LoadFailed: { type: 'Warning', action: 'Load' },
  Degraded: { type: 'Warning', action: 'Serve' },
  Recovered: { type: 'Normal', action: 'Serve' },
} as const satisfies Readonly<Record<string, Pick<EventFacts, 'type' | 'action'> | undefined>>

/**
 * Objects that are applied together arrive one after the other: a Realm, Secret or ConfigMap that follows within this
 * time is not reported as missing.
 */
export const REFERENCES_GRACE_MS = 10_000

/**
 * There is no Event for a fact that was reported already, nor for a passing state (being sent, not reached). Missing
 * references are reported after a grace period, or once an edit ends the generation that lacked them: while
 * `reported.waiting` is set, this must be called again when that period is over.
 * @param reported undefined: nothing so far
 * @param nowMs Unix time, milliseconds
 * @example eventsOf(undefined, status, Date.now()).events.map(({ reason }) => reason) // ['Programmed']
 */
export const eventsOf = (
  reported: Reported | undefined,
  status: ResourceStatus,
  nowMs: number,
): { readonly events: readonly EventFacts[]; readonly reported: Reported } => {
  const { resource } = status.result
  const { uid } = resource.metadata
  const before = reported?.uid === uid ? reported : undefined
  const acceptance = acceptanceOf(status.conditions)
  const delivery = deliveryOf(status.conditions, status.programmed, status.errors)
  const references = followReferences(before, status, nowMs)
  const deliveryBefore = reportedDelivery(before, acceptance)
  const health = healthOf(before?.health, status.conditions)
  const newFacts = [
    ...(isNew(before?.acceptance, acceptance) ? [acceptance] : []),
    ...references.newFacts,
    ...(isNew(deliveryBefore, delivery) ? [delivery] : []),
    ...(isNew(before?.health, health) ? [health] : []),
  ]
  const next = {
    acceptance: acceptance ?? before?.acceptance,
    references: references.reported,
    delivery: delivery ?? deliveryBefore,
    health,
    waiting: references.waiting,
  }
  const events = newFacts.flatMap((fact) => eventOf(resource, fact))
  return { events, reported: { uid, ...defined(next) } }
}

/** A resource that is accepted again without an edit is back in service, which is reported again. */
const reportedDelivery = (
  before: Reported | undefined,
  acceptance: Fact | undefined,
): ReportedFact | undefined => {
  const wasRefused = (before?.acceptance?.reason ?? 'Accepted') !== 'Accepted'
  return wasRefused && acceptance?.reason === 'Accepted' ? undefined : before?.delivery
}

interface References {
  readonly newFacts: readonly Fact[]
  readonly reported: ReportedFact | undefined
  readonly waiting: WaitingFact | undefined
}

const followReferences = (
  before: Reported | undefined,
  { result: { resource }, conditions }: ResourceStatus,
  nowMs: number,
): References => {
  const { generation } = resource.metadata
  const { reported, overdue } = endGeneration(before, generation)
  const newFacts = overdue === undefined ? [] : [overdue]
  const found = unresolvedOf(conditions)
  const state = conditionOf(conditions, 'ResolvedRefs')
  if (found?.generation !== generation) {
    // References that were resolved are reported if they are missing again.
    const isResolved = state?.status === 'True'
    return { newFacts, reported: isResolved ? undefined : reported, waiting: undefined }
  }
  if (!isNew(reported, found)) return { newFacts, reported, waiting: undefined }
  const sinceMs = (overdue === undefined ? before?.waiting?.sinceMs : undefined) ?? nowMs
  return nowMs - sinceMs >= REFERENCES_GRACE_MS
    ? { newFacts: [...newFacts, found], reported: found, waiting: undefined }
    : { newFacts, reported, waiting: { fact: found, sinceMs } }
}

/** References that were still missing when an edit ended their generation can't arrive for it any more. */
const endGeneration = (
  before: Reported | undefined,
  generation: number,
): { readonly reported: ReportedFact | undefined; readonly overdue: Fact | undefined } => {
  const waiting = before?.waiting?.fact
  return waiting === undefined || waiting.generation === generation
    ? { reported: before?.references, overdue: undefined }
    : { reported: waiting, overdue: waiting }
}

/**
 * What the status of a resource says counts as reported, so that an operator that starts, or becomes the leader, does
 * not report it again. Without a status, nothing was reported.
 */
export const reportedBefore = (resource: ApiSpecificationResource | RealmResource): Reported => {
  const { conditions = [], errors = [] } = resource
  const programmed = resource.kind === 'ApiSpecification' ? resource.programmed : undefined
  const acceptance = acceptanceOf(conditions)
  const delivery = deliveryOf(conditions, programmed, errors)
  return {
    uid: resource.metadata.uid,
    ...defined({
      acceptance,
      references: unresolvedOf(conditions),
      // A status has its errors shortened, so they can't be compared with those of a data plane.
      delivery: delivery && withoutErrors(delivery),
      health: healthOf(undefined, conditions),
      waiting: undefined,
    }),
  }
}

const withoutErrors = ({ reason, generation, cause }: ReportedFact): ReportedFact =>
  reason === 'LoadFailed' || cause === undefined
    ? { reason, generation }
    : { reason, generation, cause }

const acceptanceOf = (conditions: readonly Condition[]): Fact | undefined => {
  const accepted = conditionOf(conditions, 'Accepted')
  if (accepted === undefined || accepted.status === 'Unknown') return undefined
  const { message: note, observedGeneration: generation } = accepted
  if (accepted.status === 'True') return { reason: 'Accepted', generation, cause: '', note }
  const reason = accepted.reason === 'Conflicted' ? 'Conflicted' : 'Rejected'
  return { reason, generation, cause: note, note }
}

const unresolvedOf = (conditions: readonly Condition[]): Fact | undefined => {
  const found = conditionOf(conditions, 'ResolvedRefs')
  if (found?.status !== 'False') return undefined
  const { message: note, observedGeneration: generation } = found
  return { reason: 'Unresolved', generation, cause: note, note }
}

const deliveryOf = (
  conditions: readonly Condition[],
  programmed: ProgrammedVersion | undefined,
  errors: readonly Problem[],
): Fact | undefined => {
  const found = conditionOf(conditions, 'Programmed')
  if (found === undefined) return undefined
  const { message: note, observedGeneration: generation } = found
  if (found.status === 'True') {
    // The rotation of a Secret changes the digest within a generation.
    return { reason: 'Programmed', generation, cause: programmed?.digest ?? '', note }
  }
  const isRefused =
    found.reason === 'Rejected' || (found.reason === 'PartiallyProgrammed' && errors.length > 0)
  if (!isRefused) return undefined
  return { reason: 'LoadFailed', generation, cause: JSON.stringify(errors), note }
}

/**
 * Degraded is reported when it begins, when it has another reason, and when it ends, but not with each edit. Nothing is
 * reported of a resource that is released.
 */
const healthOf = (
  reported: ReportedFact | undefined,
  conditions: readonly Condition[],
): Fact | undefined => {
  const found = conditionOf(conditions, 'Degraded')
  if (found !== undefined) {
    const { reason: cause, message: note, observedGeneration } = found
    const isSame = reported?.reason === 'Degraded' && reported.cause === cause
    const generation = isSame ? reported.generation : observedGeneration
    return { reason: 'Degraded', generation, cause, note }
  }
  if (reported === undefined || isReleased(conditions)) return undefined
  const { reason, generation, cause = '' } = reported
  return reason === 'Recovered'
    ? { reason, generation, cause, note: '' }
    : { reason: 'Recovered', generation, cause, note: `it is not Degraded (${cause}) any more` }
}

const isNew = (reported: ReportedFact | undefined, fact: Fact | undefined): fact is Fact =>
  fact !== undefined &&
  (reported?.reason !== fact.reason ||
    reported.generation !== fact.generation ||
    (reported.cause !== undefined && reported.cause !== fact.cause))

const eventOf = (
  { kind, metadata: { namespace, name, uid } }: ApiSpecificationResource | RealmResource,
  { reason, note, generation }: Fact,
): readonly EventFacts[] => {
  const event = EVENTS[reason]
  if (event === undefined) return []
  const regarding = { apiVersion: API_VERSION, kind, namespace, name, uid }
  return [{ regarding, ...event, reason, note: `generation ${generation}: ${note}` }]
}

type Facts = Omit<Reported, 'uid'>

const defined = ({
  acceptance,
  references,
  delivery,
  health,
  waiting,
}: { readonly [Fact in keyof Facts]-?: Facts[Fact] | undefined }): Facts => ({
  ...(acceptance !== undefined && { acceptance }),
  ...(references !== undefined && { references }),
  ...(delivery !== undefined && { delivery }),
  ...(health !== undefined && { health }),
  ...(waiting !== undefined && { waiting }),
})
