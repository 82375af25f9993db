// Makes every condition of an ApiSpecification from its result and how far it is programmed.

import {
  CONDITIONS,
  type NewCondition,
  type NewConditions,
  conditionsIn,
  type FoundBy,
  joinMessages,
} from '../../resource/condition.ts'
import { realmForbidden } from '../conditions.ts'
import type { Programmed } from './programmed.ts'
import { servingWords } from './serving-words.ts'
import type { ResourceResult } from '../resource-result.ts'

export interface Delivery {
  /** It selects a sidecar that may not receive its realm. */
  readonly isRealmForbidden: boolean
  /** See `DocumentSummary`; absent: it is not known. */
  readonly serving?: string | undefined
  readonly found: FoundBy<'gateways'>
}

export const documentConditions = (
  result: ResourceResult,
  programmed: Programmed,
  { isRealmForbidden, serving, found }: Delivery,
): readonly NewCondition[] => {
  const resolvedRefs =
    isRealmForbidden && result.resolvedRefs.status === 'True'
      ? realmForbidden(result.realmUri ?? '', result.resource.metadata.namespace)
      : result.resolvedRefs
  const parts = [result.accepted, resolvedRefs, programmed.condition] as const
  const rejection = programmed.rejectedByAll ? programmed.condition.message : undefined
  return conditionsIn({
    ...result.found,
    ...found,
    Accepted: result.accepted,
    ResolvedRefs: resolvedRefs,
    Programmed: programmed.condition,
    Ready: degradedReady(readyWith(readyOf(parts), result, { programmed, serving }), found),
    Stalled: stalledOf(parts, rejection),
  } satisfies NewConditions<'ApiSpecification'>)
}

/** Adds which version serves, so that someone who reads only this condition learns whether there is an outage. */
const readyWith = (
  ready: NewCondition<'Ready'>,
  result: ResourceResult,
  { programmed, serving }: { readonly programmed: Programmed } & Pick<Delivery, 'serving'>,
): NewCondition<'Ready'> => {
  // The message of Programmed has it already.
  const isIncluded = ready.message === programmed.condition.message
  if (ready.status !== 'False' || serving === undefined || isIncluded) return ready
  return {
    ...ready,
    message: joinMessages(ready.message, servingWords(serving, result, ready.reason)),
  }
}

/** Conditions of what is in service and can't do everything that it should. */
export const degradedReady = (
  ready: NewCondition<'Ready'>,
  { Degraded }: FoundBy<'gateways'>,
): NewCondition<'Ready'> =>
  ready.status === 'True' && Degraded !== undefined
    ? { ...ready, reason: 'Degraded', message: Degraded.message }
    : ready

type Part = NewCondition<'Accepted'> | NewCondition<'ResolvedRefs'> | NewCondition<'Programmed'>

/** Ready repeats the failing condition that matters most: validity, then references, then delivery. */
export const readyOf = (parts: readonly Part[]): NewCondition<'Ready'> => {
  const failing = parts.find((part) => part.status === 'False')
  if (failing?.status === 'False') {
    const { reason, message } = failing
    return { type: 'Ready', status: 'False', reason, message }
  }
  const unknown = parts.find(({ status }) => status === 'Unknown')
  if (unknown !== undefined) {
    return { type: 'Ready', status: 'Unknown', reason: 'Pending', message: unknown.message }
  }
  return {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: 'accepted, resolved, in service',
  }
}

/**
 * The condition is True where nothing will change until someone acts, and absent elsewhere.
 * @param rejection the message where every data plane that answers rejects the resource
 */
export const stalledOf = (
  parts: readonly Part[],
  rejection: string | undefined,
): NewCondition<'Stalled'> | undefined => {
  for (const { type, reason, message } of parts) {
    // Programmed repeats what Accepted says, or waits for a reference that may still arrive.
    if (type === 'Programmed') continue
    const stalling = CONDITIONS.Stalled.reasons.True.find((each) => each === reason)
    if (stalling !== undefined) {
      return { type: 'Stalled', status: 'True', reason: stalling, message }
    }
  }
  if (rejection === undefined) return undefined
  return { type: 'Stalled', status: 'True', reason: 'Rejected', message: rejection }
}
