// Finds the claims that recently deleted Realms still have to their uris, with their last good versions, and the uris
// that were revoked. Forgets a version, and the secrets in it, once the source no longer lists the deletion.

import type { DeletedRealm, ResourceCache } from '../../resource/resource-source.ts'
import type { RealmResource } from '../../resource/resource.ts'
import type { GoodRealm } from './validate-realm-resource.ts'
import { type Claimant, ownersOf } from '../claims/owners.ts'

export interface DeletedRealmClaim extends Claimant<RealmResource> {
  readonly good: GoodRealm
}

/** May take the place of a deleted one. */
interface ExistingRealm extends Claimant<RealmResource> {
  /** What may be put now. */
  readonly good: GoodRealm | undefined
}

/** What was known before the deletion. */
interface Memory {
  /** Good versions by key of the resource. */
  readonly lastGood: ReadonlyMap<string, GoodRealm>
  /** Whether data planes may hold the uri since this resource had it. */
  readonly isHolder: (uri: string, key: string) => boolean
}

interface Deletion {
  readonly uid: string
  readonly claim?: DeletedRealmClaim
  /** Uri that no data plane may keep. */
  readonly revoked?: string
}

export class DeletedRealmClaims {
  /** Deletions by key of the resource. */
  readonly #deletions = new Map<string, Deletion>()

  /** Before the cache is validated. */
  follow({ deletedRealms = NONE_DELETED }: ResourceCache, memory: Memory): void {
    for (const [key, { uid }] of this.#deletions)
      if (deletedRealms.get(key)?.resource.metadata.uid !== uid) this.#deletions.delete(key)
    for (const [key, each] of deletedRealms)
      if (!this.#deletions.has(key)) this.#deletions.set(key, deletionOf(key, each, memory))
  }

  /**
   * Existing Realms, and for each uri the claim of the one deleted last. A Realm of the same namespace takes over as soon
   * as it is good, before any other that claims the uri; a Realm of another namespace only once the claim has ended.
   */
  joinTo<L extends ExistingRealm>(existing: readonly L[]): readonly (L | DeletedRealmClaim)[] {
    const claims = new Map<string, DeletedRealmClaim>()
    // In the order of deletion: one that was revoked ends the claims of those before it as well.
    for (const { claim, revoked } of this.#deletions.values()) {
      if (revoked !== undefined) claims.delete(revoked)
      if (claim !== undefined) claims.set(claim.id, claim)
    }
    if (claims.size === 0) return existing
    const successors = ownersOf(
      existing.filter((each) => isGoodSuccessor(each, claims.get(each.id))),
    )
    for (const uri of successors.keys()) {
      claims.delete(uri)
      this.#endClaims(uri)
    }
    const standing = existing.map((each) =>
      successors.get(each.id)?.key === each.key ? { ...each, lastId: each.id } : each,
    )
    return [...standing, ...claims.values()]
  }

  /**
   * For good: where the successor is not valid later, its own last good version serves, and not what was deleted, with
   * users and rights that may have been taken back.
   */
  #endClaims(uri: string): void {
    for (const [key, { claim, ...rest }] of this.#deletions)
      if (claim?.id === uri) this.#deletions.set(key, rest)
  }

  /** Uris that were revoked, without those that an existing Realm serves. */
  revoked(served: { has(uri: string): boolean }): ReadonlySet<string> {
    const uris = new Set<string>()
    for (const { revoked } of this.#deletions.values())
      if (revoked !== undefined && !served.has(revoked)) uris.add(revoked)
    return uris
  }
}

const NONE_DELETED: NonNullable<ResourceCache['deletedRealms']> = new Map()

/** A Realm may have the uri of a deleted one only in its own namespace. */
export const isOfSameNamespace = (
  { metadata: { namespace } }: RealmResource,
  { resource }: Claimant<RealmResource>,
): boolean => resource.metadata.namespace === namespace

const isGoodSuccessor = (
  { good, resource }: ExistingRealm,
  claim: DeletedRealmClaim | undefined,
): boolean => good !== undefined && claim !== undefined && isOfSameNamespace(resource, claim)

/** Deleting a Realm revokes nothing if it never served the uri that it names. */
const deletionOf = (
  key: string,
  { resource, isRevoked }: DeletedRealm,
  { lastGood, isHolder }: Memory,
): Deletion => {
  const { uid } = resource.metadata
  const known = lastGood.get(key)
  const good = known?.uid === uid ? known : undefined
  if (isRevoked) {
    const named = 'spec' in resource.checked ? resource.checked.spec.uri : ''
    const uri = good?.desired.uri ?? (isHolder(named, key) ? named : undefined)
    return { uid, ...(uri !== undefined && { revoked: uri }) }
  }
  if (good === undefined) return { uid }
  const { uri } = good.desired
  return { uid, claim: { key: `${key} ${uid}`, resource, id: uri, lastId: uri, good } }
}
