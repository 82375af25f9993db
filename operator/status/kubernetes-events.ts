// What was told of a resource, and its status now, in; what there is to tell, and what is told by then, out. Pure.

import type { Problem } from '../../spec/problem.ts'
import type { EventFacts } from '../kubernetes/event-object.ts'
import type { ResourceStatus } from '../reconcile/status-book.ts'
import type { Condition, ConditionType } from '../resource/condition.ts'
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
  readonly delivery?: ToldFact
}

interface ToldFact {
  readonly reason: EventReason
  /** The same is told again for another generation only. */
  readonly generation: number
  /** What it depends on beside that: another fault is news. Absent: it is not known any more. */
  readonly cause?: string
}

type EventReason = 'Accepted' | 'Rejected' | 'Conflicted' | 'Programmed' | 'LoadFailed'

interface News extends ToldFact {
  readonly note: string
}

const ACTIONS = {
  Accepted: 'Judge',
  Rejected: 'Judge',
  Conflicted: 'Judge',
  Programmed: 'Load',
  LoadFailed: 'Load',
} as const satisfies Readonly<Record<EventReason, string>>

const NORMAL: ReadonlySet<EventReason> = new Set(['Accepted', 'Programmed'])

/**
 * Nothing for what is said already, however often it is said, and nothing for a state that passes (being sent, not
 * reached): what was told last stays told.
 * @param told undefined: nothing was told of the resource yet
 * @example eventsOf(undefined, status).events.map(({ reason }) => reason) // ['Accepted', 'Programmed']
 */
export const eventsOf = (
  told: Told | undefined,
  status: ResourceStatus,
): { readonly events: readonly EventFacts[]; readonly told: Told } => {
  const { resource } = status.verdict
  const { uid } = resource.metadata
  const before = told?.uid === uid ? told : undefined
  const acceptance = acceptanceOf(status.conditions)
  const delivery = deliveryOf(status.conditions, status.programmed, status.errors)
  const events = [
    ...(isNews(before?.acceptance, acceptance) ? [eventOf(resource, acceptance)] : []),
    ...(isNews(before?.delivery, delivery) ? [eventOf(resource, delivery)] : []),
  ]
  const next = {
    acceptance: acceptance ?? before?.acceptance,
    delivery: delivery ?? before?.delivery,
  }
  return { events, told: { uid, ...defined(next) } }
}

/**
 * What the API says of a resource counts as told: an operator that starts, or begins to lead, does not tell it again.
 * A resource that no operator has judged yet has been told nothing of.
 */
export const toldBefore = (resource: ApiSpecificationResource | RealmResource): Told => {
  const { conditions = [], errors = [] } = resource
  const programmed = resource.kind === 'ApiSpecification' ? resource.programmed : undefined
  const acceptance = acceptanceOf(conditions)
  const delivery = deliveryOf(conditions, programmed, errors)
  return {
    uid: resource.metadata.uid,
    // Faults are cut when they are written: whether they are the same can't be told.
    ...defined({ acceptance, delivery: delivery && withoutFaults(delivery) }),
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
): EventFacts => ({
  regarding: { apiVersion: API_VERSION, kind, namespace, name, uid },
  type: NORMAL.has(reason) ? 'Normal' : 'Warning',
  reason,
  note: `generation ${generation}: ${note}`,
  action: ACTIONS[reason],
})

const conditionOf = (
  conditions: readonly Condition[],
  type: ConditionType,
): Condition | undefined => conditions.find((each) => each.type === type)

const defined = (facts: {
  readonly acceptance: ToldFact | undefined
  readonly delivery: ToldFact | undefined
}): Pick<Told, 'acceptance' | 'delivery'> => ({
  ...(facts.acceptance !== undefined && { acceptance: facts.acceptance }),
  ...(facts.delivery !== undefined && { delivery: facts.delivery }),
})
