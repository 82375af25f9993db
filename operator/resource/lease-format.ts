// Says how the operator's Lease is marked beside the members that the Kubernetes API gives it.

import { GROUP } from './resource.ts'

export const LEASE_FORMAT = {
  /** Operators that share a namespace, and so its Secrets, know of each other by them. */
  labels: { 'app.kubernetes.io/part-of': 'svc-gateway' },
  /**
   * Holds the epoch where `leaseTransitions`, an int32, can't: epochs of an operator without Kubernetes are
   * milliseconds since 1970, and data planes keep the highest they have seen.
   */
  epochAnnotation: `${GROUP}/epoch`,
} as const
