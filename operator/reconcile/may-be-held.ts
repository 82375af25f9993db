// Decides from the status that an earlier operator has written whether data planes may have loaded a resource. If it is not
// certain, they may: what was never loaded would be deleted from them. Pure.

import { type AnyReason, conditionOf } from '../resource/condition.ts'
import type { ApiSpecificationResource, RealmResource } from '../resource/resource.ts'

/** Reasons of `Programmed` for documents that were not sent, or to no data plane. */
const NOT_SENT: ReadonlySet<AnyReason<'Programmed'>> = new Set([
  'Invalid',
  'Unresolved',
  'NoDataPlanes',
])

/** With any other reason (partly programmed, pending, rejected) a data plane may have it, or an earlier version. */
export const mayDocumentBeHeld = ({
  programmed,
  conditions = [],
}: ApiSpecificationResource): boolean => {
  if (programmed !== undefined) return true
  const recorded = conditionOf(conditions, 'Programmed')
  return recorded === undefined || !NOT_SENT.has(recorded.reason)
}

/** Whether the status says that it was on its way to data planes. */
export const wasSent = (resource: ApiSpecificationResource): boolean =>
  conditionOf(resource.conditions ?? [], 'Programmed') !== undefined && mayDocumentBeHeld(resource)

/** The status of a Realm has no version: one that is invalid now may have been loaded, unless it never had its uri. */
export const mayRealmBeHeld = ({ conditions = [] }: RealmResource): boolean =>
  conditionOf(conditions, 'Accepted')?.reason !== 'Conflicted'
