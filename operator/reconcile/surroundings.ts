// What documents are validated with, beside themselves. Types only.

import type { ResourceCache } from '../resource/resource-source.ts'
import type { DestinationPolicy } from './claims/destination-policies.ts'
import type { HostGrant } from './claims/host-grants.ts'
import type { RealmAccess } from './realms/realm-access.ts'
import type { Quota } from './quotas/namespace-quotas.ts'

export interface Surroundings {
  readonly cache: ResourceCache
  readonly access: (realmUri: string, namespace: string) => RealmAccess
  readonly grant: (namespace: string) => HostGrant
  readonly destinations: (namespace: string) => DestinationPolicy
  /** Absent: there are none. */
  readonly quota?: ((namespace: string) => Quota) | undefined
  /** Nothing but ApiSpecifications has changed since the last time. */
  readonly isSame: boolean
}
