// Two reports of a data plane in; whether they say the same out.

import type { DataPlaneReport } from '../data-plane.ts'

export const sameReport = (left: DataPlaneReport, right: DataPlaneReport): boolean =>
  left.phase === right.phase &&
  left.message === right.message &&
  left.version === right.version &&
  left.ready === right.ready &&
  left.dataPlane === right.dataPlane &&
  sameMap(left.documents, right.documents) &&
  sameMap(left.realms, right.realms) &&
  sameMap(left.rejected.documents, right.rejected.documents) &&
  sameMap(left.rejected.realms, right.rejected.realms)

/** Entries are replaced when they change, but for a state that was read again and says the same. */
const sameMap = (
  left: ReadonlyMap<string, { readonly digest: string }>,
  right: ReadonlyMap<string, { readonly digest: string }>,
): boolean => {
  if (left === right) return true
  if (left.size !== right.size) return false
  for (const [key, entry] of left) {
    const other = right.get(key)
    if (entry !== other && JSON.stringify(entry) !== JSON.stringify(other)) return false
  }
  return true
}
