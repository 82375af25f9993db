// Defines where the fleet learns which Pods are behind Services. Types only.

import type { ServiceEndpoints } from '../language/wire/wire.ts'

export type ServiceState =
  /** Not known yet: gateways keep what they have of it. */
  | 'unknown'
  /** Use its own address: it was never there, it may not be read, or gateways should not balance for it. */
  | 'own address'
  /** The same object until something changes. */
  | ServiceEndpoints

export interface EndpointSource {
  /** `onChange` is called after every change of a state. May be started again after it was stopped. */
  start(onChange: () => void): void
  /** All Services that are of interest, as `namespace/name`; others are no longer read. */
  want(services: ReadonlySet<string>): void
  of(service: string): ServiceState
  stop(): Promise<void>
}
