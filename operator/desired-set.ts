// Defines what the data planes should have loaded, which reconcile/ hands to fleet/. Immutable and versioned; an entry
// that has not changed is the same object in the next set.

import type { Claim } from '../language/compile/conflicts.ts'
import type { ValueMap } from '../language/expression/value.ts'
import type { HostPattern } from '../language/routes/host-pattern.ts'
import type { RealmRecord } from '../language/realm/record.ts'
import type { LabelSelector } from './resource/resource.ts'

export interface DesiredDocument {
  readonly id: string
  readonly digest: string
  /** Unix time, milliseconds: the age that decides conflicts. */
  readonly since: number
  readonly realmUri: string
  readonly spec: ValueMap
  /** From Secrets. */
  readonly variables?: ValueMap
  /** Every one that its `host` means, whatever it claims of it: it belongs to one namespace. */
  readonly hosts: readonly HostPattern[]
  readonly claims: readonly Claim[]
  /** It has operations over WAMP. */
  readonly callsRouter?: boolean
  /** Hosts that its forwards name literally, without scheme and port, each once; absent: none. */
  readonly forwardHosts?: readonly string[]
  /** Credentials of its realm that its forwards name, each once, sorted; absent: none. */
  readonly credentials?: readonly string[]
  /** Those of them that it may not use; absent: none. The digest differs with them. */
  readonly withheld?: readonly string[]
  readonly namespace: string
  /** `namespace/name` of its ApiSpecification, which gateways name in metrics. */
  readonly resource: string
  /** The namespace, where gateways must not let it reach another one; the digest differs with it. */
  readonly confinedTo?: string
  /** Absent: every data plane of the shared pool. */
  readonly selector?: LabelSelector
}

export interface DesiredRealm {
  readonly uri: string
  readonly digest: string
  readonly record: RealmRecord
  /** The namespace of the Realm: only sidecars of this namespace receive it. */
  readonly namespace: string
}

export interface DesiredSet {
  readonly version: number
  readonly documents: ReadonlyMap<string, DesiredDocument>
  readonly realms: ReadonlyMap<string, DesiredRealm>
  /**
   * Ids and uris of resources that exist and have no version that could be sent: what a data plane has of them stays.
   */
  readonly kept: { readonly documents: ReadonlySet<string>; readonly realms: ReadonlySet<string> }
  /** Ids of documents that were revoked, and that every data plane must remove, even while other deletes are held back. */
  readonly revokedDocuments?: ReadonlySet<string>
  /** Uris of realms that were revoked, and that every data plane must remove, even while other deletes are held back. */
  readonly revokedRealms?: ReadonlySet<string>
  /** Why nothing may be deleted now, in words for a person. */
  readonly holdDeletes?: string
}

export const EMPTY_DESIRED: DesiredSet = {
  version: 0,
  documents: new Map(),
  realms: new Map(),
  kept: { documents: new Set(), realms: new Set() },
}
