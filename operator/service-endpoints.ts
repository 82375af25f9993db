// Defines where the fleet learns which Pods are behind Services, and which Services do not exist.

import type { ServiceEndpoints } from '../language/wire/wire.ts'

export type ServiceState =
  /** Not known yet: gateways keep what they have of it. */
  | 'unknown'
  /** Use its own address: it may not be read, or gateways should not balance for it. */
  | 'own address'
  /** There is no such Service, as far as this operator has seen. Gateways use its own address, which it may still get. */
  | 'absent'
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

/** Whether the API server says that there is no such Service. */
export const isAbsent = (state: ServiceState | undefined): boolean =>
  state === 'absent' || (typeof state === 'object' && state.isAbsent === true)
