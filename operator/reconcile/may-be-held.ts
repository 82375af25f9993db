// What an operator before this one recorded of a resource in; whether a data plane may hold it since then, out.
// In doubt it may: what is taken for never held is deleted. Pure.

import type { Condition } from '../resource/condition.ts'
import type { ApiSpecificationResource, RealmResource } from '../resource/resource.ts'

/** Where `Programmed` says it was not put, or there was nobody to put it to. */
const NOT_PUT: ReadonlySet<string> = new Set(['Invalid', 'NoDataPlanes'])

/** Half programmed, on its way or refused: a pod may hold it, or have held it before it was refused. */
export const mayDocumentBeHeld = (resource: ApiSpecificationResource): boolean => {
  if (resource.programmed !== undefined) return true
  const recorded = conditionOf(resource, 'Programmed')
  return recorded === undefined || !NOT_PUT.has(recorded.reason)
}

/** A Realm records no version: one that is bad now may have been good. A uri that it lost was never its own. */
export const mayRealmBeHeld = (resource: RealmResource): boolean =>
  conditionOf(resource, 'Accepted')?.reason !== 'Conflicted'

const conditionOf = (
  { conditions = [] }: ApiSpecificationResource | RealmResource,
  wanted: Condition['type'],
): Condition | undefined => conditions.find(({ type }) => type === wanted)
