// Defines what the validation of a document depends on besides the document itself. Types only.

import type { ResourceCache } from '../resource/resource-source.ts'
import type { DestinationPolicy } from './claims/destination-policies.ts'
import type { HostGrant } from './claims/host-grants.ts'
import type { RealmAccess } from './realms/realm-access.ts'
import type { Quota } from './quotas/namespace-quotas.ts'

export interface ValidationContext {
  readonly cache: ResourceCache
  readonly access: (realmUri: string, namespace: string) => RealmAccess
  readonly grant: (namespace: string) => HostGrant
  readonly destinations: (namespace: string) => DestinationPolicy
  /** Absent: there are no quotas. */
  readonly quota?: ((namespace: string) => Quota) | undefined
}

/** What has changed since the last reconciliation. */
export interface ResourceChanges {
  /** Keys of ApiSpecifications. */
  readonly documents: ReadonlySet<string>
  /** Namespaces that have changed, and those whose policy for destinations depends on one that was added or removed. */
  readonly namespaces: ReadonlySet<string>
  /** Uris of realms that have changed for some document. */
  readonly realmUris: ReadonlySet<string>
  /** Keys of Secrets and ConfigMaps. */
  readonly references: ReadonlySet<string>
}
