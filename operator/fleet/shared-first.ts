// Orders gateways for questions that only so many are asked, or may answer: the shared pool before sidecars, so that
// however many sidecars there are, they do not displace it.

export interface Ordered {
  readonly name: string
  /** Of the shared pool: no sidecar. */
  readonly isShared: boolean
}

/** @example gateways.toSorted(sharedFirst) */
export const sharedFirst = (one: Ordered, other: Ordered): number => {
  if (one.isShared !== other.isShared) return one.isShared ? -1 : 1
  return one.name < other.name ? -1 : 1
}
