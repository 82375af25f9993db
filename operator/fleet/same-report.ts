// Compares two reports of a data plane.

import { isSameSet } from '../../base/same-entries.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import { changedKeys } from '../edited-map.ts'

export const sameReport = (left: DataPlaneReport, right: DataPlaneReport): boolean =>
  left.phase === right.phase &&
  left.message === right.message &&
  left.version === right.version &&
  left.ready === right.ready &&
  left.dataPlane === right.dataPlane &&
  sameMap(left.documents, right.documents) &&
  sameMap(left.realms, right.realms) &&
  sameUpstreamFailures(left.upstreams, right.upstreams) &&
  isSameSet(left.realmsGiven, right.realmsGiven) &&
  sameMap(left.rejected.documents, right.rejected.documents) &&
  sameMap(left.rejected.realms, right.rejected.realms)

const sameUpstreamFailures = (
  left: DataPlaneReport['upstreams'] = NONE_UNHEALTHY,
  right: DataPlaneReport['upstreams'] = NONE_UNHEALTHY,
): boolean =>
  left === right ||
  (left.size === right.size && JSON.stringify([...left]) === JSON.stringify([...right]))

const NONE_UNHEALTHY: NonNullable<DataPlaneReport['upstreams']> = new Map()

/** Entries are replaced when they change, but for a state that was read again and says the same. */
const sameMap = <T extends { readonly digest: string }>(
  left: ReadonlyMap<string, T>,
  right: ReadonlyMap<string, T>,
): boolean => {
  if (left === right) return true
  if (left.size !== right.size) return false
  for (const key of changedKeys(left, right))
    if (JSON.stringify(left.get(key)) !== JSON.stringify(right.get(key))) return false
  return true
}
