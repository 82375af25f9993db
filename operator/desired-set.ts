// What the data planes should hold, decided: the hand-over from reconcile/ to fleet/. Immutable and
// versioned; an entry that has not changed is the same object in the next set.

import type { Claim } from '../language/routes/conflicts.ts'
import type { ValueMap } from '../language/expression/value.ts'
import type { RealmRecord } from '../language/realm/record.ts'
import type { LabelSelector } from './resource/resource.ts'

export interface DesiredDocument {
  readonly id: string
  readonly digest: string
  /** Unix time, milliseconds: the age that settles conflicts. */
  readonly since: number
  readonly realmUri: string
  readonly spec: ValueMap
  /** From Secrets. */
  readonly variables?: ValueMap
  readonly claims: readonly Claim[]
  /** It has operations over WAMP. */
  readonly callsRouter?: boolean
  /** Hosts that its forwards write out, without scheme and port, each once; absent: none. */
  readonly forwardHosts?: readonly string[]
  readonly namespace: string
  /** That namespace, where gateways are to let it reach no other; the digest differs with it. */
  readonly confinedTo?: string
  /** Absent: every data plane of the shared pool. */
  readonly selector?: LabelSelector
}

export interface DesiredRealm {
  readonly uri: string
  readonly digest: string
  readonly record: RealmRecord
  /** Of the Realm: only sidecars of this namespace receive it. */
  readonly namespace: string
}

export interface DesiredSet {
  readonly version: number
  readonly documents: ReadonlyMap<string, DesiredDocument>
  readonly realms: ReadonlyMap<string, DesiredRealm>
  /**
   * Ids and uris of resources that exist and have no version that could be put: what a data plane holds of
   * them stays.
   */
  readonly kept: { readonly documents: ReadonlySet<string>; readonly realms: ReadonlySet<string> }
  /** Uris of realms that were revoked, and that no data plane may keep, whatever holds back other deletes. */
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
