// Decides by what an earlier operator recorded of a resource whether a data plane may have it loaded since then. In
// doubt it may: what is taken for never held is deleted. Pure.

import { type AnyReason, conditionOf } from '../resource/condition.ts'
import type { ApiSpecificationResource, RealmResource } from '../resource/resource.ts'

/** Where `Programmed` says it was not put, or there was nobody to put it to. */
const NOT_PUT: ReadonlySet<AnyReason<'Programmed'>> = new Set(['Invalid', 'NoDataPlanes'])

/** Half programmed, on its way or refused: a pod may hold it, or have held it before it was refused. */
export const mayDocumentBeHeld = ({
  programmed,
  conditions = [],
}: ApiSpecificationResource): boolean => {
  if (programmed !== undefined) return true
  const recorded = conditionOf(conditions, 'Programmed')
  return recorded === undefined || !NOT_PUT.has(recorded.reason)
}

/** A Realm records no version: one that is bad now may have been good. A uri that it lost was never its own. */
export const mayRealmBeHeld = ({ conditions = [] }: RealmResource): boolean =>
  conditionOf(conditions, 'Accepted')?.reason !== 'Conflicted'
