// Defines the interface between the sources of resources and what is done with them. Kubernetes and a directory of
// manifests are two implementations; nothing behind the interface knows which one it has.

import type { KeyRing } from '../../language/realm/key-ring.ts'
import type { Origin, RealmResource, Resource } from './resource.ts'

export interface ResourceSource {
  /**
   * Begins to watch. `onChange` is called after every change of `current()`, also for the first one; but where nothing
   * is new of a resource but what operators wrote into its status: then `onRenewed` is, with the resource.
   */
  start(onChange: () => void, onRenewed?: (resource: Resource) => void): Promise<void>
  /** Every kind has been listed once: `current()` is whole. */
  synced(): boolean
  current(): ResourceCache
  /**
   * Lists live, past every cache, before many things are deleted at once. True: `current()` is what stands
   * there now. False: that could not be known (directory or CRD gone, API server not reachable), so delete nothing.
   */
  confirm(): Promise<boolean>
  stop(): Promise<void>
}

/** Immutable. A resource that has not changed is the same object in the next cache. */
export interface ResourceCache {
  /** Grows with every change, except those of `onRenewed`: another cache of the same version may have them. */
  readonly version: number
  /** Resources by `keyOf`. */
  readonly resources: ReadonlyMap<string, Resource>
  /** `Kind/namespace/name` of Secrets and ConfigMaps that may not be read → what would have them read. */
  readonly forbidden?: ReadonlyMap<string, string>
  /** Secrets from which the keys of Realms are made that give none. Absent: gateways make their own. */
  readonly realmKeys?: KeyRing
  /** Uids of what was deleted lately and had the annotation `delete-now` then, whatever it had when it was listed. */
  readonly deletedNow?: ReadonlySet<string>
  /** Realms that were deleted lately, by key, in that order. */
  readonly deletedRealms?: ReadonlyMap<string, DeletedRealm>
  /** Why nothing may be deleted from any data plane now, in words for a person. */
  readonly holdDeletes?: string
  /** What could not be read at all, and what was read but is worth a word. */
  readonly notes: readonly SourceNote[]
}

export interface DeletedRealm {
  /** As it was last. */
  readonly resource: RealmResource
  /** It is to be gone at once; else its last good version serves as long as it stands here. */
  readonly isRevoked: boolean
}

/**
 * Where in the file of a resource the value stands that a JSON pointer leads to. Undefined: it is in no file, or changed.
 * @param within a text: the character that is meant, in UTF-16 code units
 */
export type Locate = (
  resource: Resource,
  pointer: string,
  within?: number,
) => Pick<Origin, 'line' | 'column'> | undefined

export interface SourceNote {
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly origin?: Origin
  /** `kind namespace/name`, where the note belongs to one resource. */
  readonly resource?: string
  /** JSON pointer into the resource. */
  readonly path?: string
}

export const EMPTY_CACHE: ResourceCache = { version: 0, resources: new Map(), notes: [] }
