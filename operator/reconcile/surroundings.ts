// Defines what documents are validated with, beside themselves. Types only.

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
}

/** What is other than the last time. */
export interface ResourceChanges {
  /** Keys of ApiSpecifications. */
  readonly documents: ReadonlySet<string>
  /** Those that have changed, and those of which the policy for destinations depends on one that came or went. */
  readonly namespaces: ReadonlySet<string>
  /** Uris of realms that are another thing to some document now. */
  readonly realmUris: ReadonlySet<string>
  /** Keys of Secrets and ConfigMaps. */
  readonly references: ReadonlySet<string>
}
