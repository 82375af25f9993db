// Finds the claims that Realms deleted a moment ago still have to their uris, with their last good versions, and the
// uris that were revoked. Forgets a version, and the secrets in it, when the source ends its departure.

import type { DepartedRealm, ResourceCache } from '../../resource/resource-source.ts'
import type { RealmResource } from '../../resource/resource.ts'
import type { GoodRealm } from './validate-realm-resource.ts'
import { type Claimant, ownersOf } from '../claims/owners.ts'

export interface DepartedClaim extends Claimant<RealmResource> {
  readonly good: GoodRealm
}

/** What comes in its place: a Realm that stands there. */
interface Living extends Claimant<RealmResource> {
  /** What may be put now. */
  readonly good: GoodRealm | undefined
}

/** What was known before the departure. */
interface Memory {
  /** By key of the resource. */
  readonly lastGood: ReadonlyMap<string, GoodRealm>
  /** Whether data planes may hold the uri since this resource had it. */
  readonly isHolder: (uri: string, key: string) => boolean
}

interface Departure {
  readonly uid: string
  readonly claim?: DepartedClaim
  /** Uri that no data plane may keep. */
  readonly revoked?: string
}

export class DepartedClaims {
  /** By key of the resource. */
  readonly #departures = new Map<string, Departure>()

  /** Before the cache is validated. */
  follow({ departed = NONE_DEPARTED }: ResourceCache, memory: Memory): void {
    for (const [key, { uid }] of this.#departures)
      if (departed.get(key)?.resource.metadata.uid !== uid) this.#departures.delete(key)
    for (const [key, each] of departed)
      if (!this.#departures.has(key)) this.#departures.set(key, departureOf(key, each, memory))
  }

  /**
   * The living, and of each uri the claim of the last that went. Of the same namespace one takes over as soon as it is
   * good, before any other that has asked for the uri; a Realm of another namespace gets it only when the time is over.
   */
  joinTo<L extends Living>(living: readonly L[]): readonly (L | DepartedClaim)[] {
    const claims = new Map<string, DepartedClaim>()
    // In the order of going: what was revoked ends what went before it as well.
    for (const { claim, revoked } of this.#departures.values()) {
      if (revoked !== undefined) claims.delete(revoked)
      if (claim !== undefined) claims.set(claim.id, claim)
    }
    if (claims.size === 0) return living
    const heirs = ownersOf(living.filter((each) => isGoodKin(each, claims.get(each.id))))
    for (const uri of heirs.keys()) claims.delete(uri)
    const standing = living.map((each) =>
      heirs.get(each.id)?.key === each.key ? { ...each, lastId: each.id } : each,
    )
    return [...standing, ...claims.values()]
  }

  /** Uris of realms that were revoked, but for those that a Realm which stands there serves. */
  revoked(served: { has(uri: string): boolean }): ReadonlySet<string> {
    const uris = new Set<string>()
    for (const { revoked } of this.#departures.values())
      if (revoked !== undefined && !served.has(revoked)) uris.add(revoked)
    return uris
  }
}

const NONE_DEPARTED: NonNullable<ResourceCache['departed']> = new Map()

/** Of the namespace that the deleted one was of: it may have its uri. */
export const isKin = (
  { metadata: { namespace } }: RealmResource,
  { resource }: Claimant<RealmResource>,
): boolean => resource.metadata.namespace === namespace

const isGoodKin = ({ good, resource }: Living, claim: DepartedClaim | undefined): boolean =>
  good !== undefined && claim !== undefined && isKin(resource, claim)

/** Deleting a Realm revokes nothing if it never served the uri that it names. */
const departureOf = (
  key: string,
  { resource, isRevoked }: DepartedRealm,
  { lastGood, isHolder }: Memory,
): Departure => {
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
