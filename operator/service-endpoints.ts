// What the fleet asks of whoever knows the Pods behind Services. Types only.

import type { ServiceEndpoints } from '../language/wire/wire.ts'

export type ServiceAnswer =
  /** Not known yet: what gateways have of it stays. */
  | 'unknown'
  /** For its own address: there is none such, it may not be read, or it wants no other balancer. */
  | 'own address'
  /** The same object until something changes. */
  | ServiceEndpoints

export interface EndpointSource {
  /** `onChange` is called after every change of an answer. May be started again after it was stopped. */
  start(onChange: () => void): void
  /** All that there is to know of, as `namespace/name`; of others nothing is asked any more. */
  want(services: ReadonlySet<string>): void
  of(service: string): ServiceAnswer
  stop(): Promise<void>
}
