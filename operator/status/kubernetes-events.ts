// Decides which Events a resource deserves, from what was told of it and its status now. Pure.

import type { Problem } from '../../language/problem.ts'
import type { EventFacts } from '../kubernetes/events/object.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import { type Condition, conditionOf } from '../resource/condition.ts'
import {
  API_VERSION,
  type ApiSpecificationResource,
  type ProgrammedVersion,
  type RealmResource,
} from '../resource/resource.ts'

/** What a reader of Events knows of a resource. */
export interface Told {
  /** Another resource of the same name is told of anew. */
  readonly uid: string
  readonly acceptance?: ToldFact
  readonly references?: ToldFact
  readonly delivery?: ToldFact
  /** References that are missing and that may yet come by themselves: not told so far. */
  readonly waiting?: WaitingNews
}

interface WaitingNews {
  readonly news: News
  /** Unix time, milliseconds. */
  readonly sinceMs: number
}

interface ToldFact {
  readonly reason: EventReason
  /** The same is told again for another generation only. */
  readonly generation: number
  /** What it depends on beside that: another fault is news. Absent: it is not known any more. */
  readonly cause?: string
}

type EventReason = keyof typeof EVENTS

interface News extends ToldFact {
  readonly note: string
}

/** Accepted: known, so that the next refusal is news, and no Event: Programmed says it, too. */
const EVENTS = {
  Accepted: undefined,
  Rejected: { type: 'Warning', action: 'Validate' },
  Conflicted: { type: 'Warning', action: 'Validate' },
  Unresolved: { type: 'Warning', action: 'Validate' },
  Programmed: { type: 'Normal', action: 'Load' },
  LoadFailed: { type: 'Warning', action: 'Load' },
} as const satisfies Readonly<Record<string, Pick<EventFacts, 'type' | 'action'> | undefined>>

/**
 * What is applied together arrives one after the other: a Realm, a Secret or a ConfigMap that follows within this time
 * was never missing.
 */
export const REFERENCES_GRACE_MS = 10_000

/**
 * Nothing for what is said already, however often it is said, and nothing for a state that passes (being sent, not
 * reached): what was told last stays told. Missing references are told after a grace, or once an edit ends the
 * generation that lacked them: `told.waiting` says that it is to be called again by then.
 * @param told undefined: nothing was told of the resource yet
 * @param nowMs Unix time, milliseconds
 * @example eventsOf(undefined, status, Date.now()).events.map(({ reason }) => reason) // ['Programmed']
 */
export const eventsOf = (
  told: Told | undefined,
  status: ResourceStatus,
  nowMs: number,
): { readonly events: readonly EventFacts[]; readonly told: Told } => {
  const { resource } = status.verdict
  const { uid } = resource.metadata
  const before = told?.uid === uid ? told : undefined
  const acceptance = acceptanceOf(status.conditions)
  const delivery = deliveryOf(status.conditions, status.programmed, status.errors)
  const references = followReferences(before, status, nowMs)
  const toldDelivery = deliveryTold(before, acceptance)
  const news = [
    ...(isNews(before?.acceptance, acceptance) ? [acceptance] : []),
    ...references.news,
    ...(isNews(toldDelivery, delivery) ? [delivery] : []),
  ]
  const next = {
    acceptance: acceptance ?? before?.acceptance,
    references: references.told,
    delivery: delivery ?? toldDelivery,
    waiting: references.waiting,
  }
  const events = news.flatMap((each) => eventOf(resource, each))
  return { events, told: { uid, ...defined(next) } }
}

/** A fault that ends without an edit: that it is in service again is news. */
const deliveryTold = (
  before: Told | undefined,
  acceptance: News | undefined,
): ToldFact | undefined => {
  const wasRefused = (before?.acceptance?.reason ?? 'Accepted') !== 'Accepted'
  return wasRefused && acceptance?.reason === 'Accepted' ? undefined : before?.delivery
}

interface References {
  readonly news: readonly News[]
  readonly told: ToldFact | undefined
  readonly waiting: WaitingNews | undefined
}

const followReferences = (
  before: Told | undefined,
  { verdict: { resource }, conditions }: ResourceStatus,
  nowMs: number,
): References => {
  const { generation } = resource.metadata
  const { told, isOver } = endGeneration(before, generation)
  const news = isOver === undefined ? [] : [isOver]
  const found = unresolvedOf(conditions)
  const state = conditionOf(conditions, 'ResolvedRefs')
  if (found?.generation !== generation) {
    // Resolved: should it be missing again, that is news.
    return { news, told: state?.status === 'True' ? undefined : told, waiting: undefined }
  }
  if (!isNews(told, found)) return { news, told, waiting: undefined }
  const sinceMs = (isOver === undefined ? before?.waiting?.sinceMs : undefined) ?? nowMs
  return nowMs - sinceMs >= REFERENCES_GRACE_MS
    ? { news: [...news, found], told: found, waiting: undefined }
    : { news, told, waiting: { news: found, sinceMs } }
}

/** What still waited is true for good once another generation stands there. */
const endGeneration = (
  before: Told | undefined,
  generation: number,
): { readonly told: ToldFact | undefined; readonly isOver: News | undefined } => {
  const waiting = before?.waiting?.news
  return waiting === undefined || waiting.generation === generation
    ? { told: before?.references, isOver: undefined }
    : { told: waiting, isOver: waiting }
}

/**
 * What the API says of a resource counts as told: an operator that starts, or begins to lead, does not tell it again.
 * A resource that no operator has validated yet has been told nothing of.
 */
export const toldBefore = (resource: ApiSpecificationResource | RealmResource): Told => {
  const { conditions = [], errors = [] } = resource
  const programmed = resource.kind === 'ApiSpecification' ? resource.programmed : undefined
  const acceptance = acceptanceOf(conditions)
  const delivery = deliveryOf(conditions, programmed, errors)
  return {
    uid: resource.metadata.uid,
    ...defined({
      acceptance,
      references: unresolvedOf(conditions),
      // Faults are cut when they are written: whether they are the same can't be told.
      delivery: delivery && withoutFaults(delivery),
      waiting: undefined,
    }),
  }
}

const withoutFaults = ({ reason, generation, cause }: ToldFact): ToldFact =>
  reason === 'LoadFailed' || cause === undefined
    ? { reason, generation }
    : { reason, generation, cause }

const acceptanceOf = (conditions: readonly Condition[]): News | undefined => {
  const accepted = conditionOf(conditions, 'Accepted')
  if (accepted === undefined || accepted.status === 'Unknown') return undefined
  const { message: note, observedGeneration: generation } = accepted
  if (accepted.status === 'True') return { reason: 'Accepted', generation, cause: '', note }
  const reason = accepted.reason === 'Conflicted' ? 'Conflicted' : 'Rejected'
  return { reason, generation, cause: note, note }
}

const unresolvedOf = (conditions: readonly Condition[]): News | undefined => {
  const found = conditionOf(conditions, 'ResolvedRefs')
  if (found?.status !== 'False') return undefined
  const { message: note, observedGeneration: generation } = found
  return { reason: 'Unresolved', generation, cause: note, note }
}

const deliveryOf = (
  conditions: readonly Condition[],
  programmed: ProgrammedVersion | undefined,
  errors: readonly Problem[],
): News | undefined => {
  const found = conditionOf(conditions, 'Programmed')
  if (found === undefined) return undefined
  const { message: note, observedGeneration: generation } = found
  if (found.status === 'True') {
    // A Secret that was rotated makes another digest of the same generation.
    return { reason: 'Programmed', generation, cause: programmed?.digest ?? '', note }
  }
  const isRefused =
    found.reason === 'Rejected' || (found.reason === 'PartiallyProgrammed' && errors.length > 0)
  if (!isRefused) return undefined
  return { reason: 'LoadFailed', generation, cause: JSON.stringify(errors), note }
}

const isNews = (told: ToldFact | undefined, news: News | undefined): news is News =>
  news !== undefined &&
  (told?.reason !== news.reason ||
    told.generation !== news.generation ||
    (told.cause !== undefined && told.cause !== news.cause))

const eventOf = (
  { kind, metadata: { namespace, name, uid } }: ApiSpecificationResource | RealmResource,
  { reason, note, generation }: News,
): readonly EventFacts[] => {
  const told = EVENTS[reason]
  if (told === undefined) return []
  const regarding = { apiVersion: API_VERSION, kind, namespace, name, uid }
  return [{ regarding, ...told, reason, note: `generation ${generation}: ${note}` }]
}

type Facts = Omit<Told, 'uid'>

const defined = ({
  acceptance,
  references,
  delivery,
  waiting,
}: { readonly [Fact in keyof Facts]-?: Facts[Fact] | undefined }): Facts => ({
  ...(acceptance !== undefined && { acceptance }),
  ...(references !== undefined && { references }),
  ...(delivery !== undefined && { delivery }),
  ...(waiting !== undefined && { waiting }),
})
