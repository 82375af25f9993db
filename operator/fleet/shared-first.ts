// Orders gateways for requests that are sent to a limited number of them: the shared pool before sidecars, so that it is not
// displaced, however many sidecars there are.

export interface Ordered {
  readonly name: string
  /** In the shared pool: no sidecar. */
  readonly isShared: boolean
}

/** @example gateways.toSorted(sharedFirst) */
export const sharedFirst = (one: Ordered, other: Ordered): number => {
  if (one.isShared !== other.isShared) return one.isShared ? -1 : 1
  return one.name < other.name ? -1 : 1
}
