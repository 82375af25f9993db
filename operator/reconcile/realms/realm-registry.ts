// Keeps which record each realm uri has, and what there is to say of every Realm. Remembers validations and the last good
// version of each resource; of deleted ones for as long as the source tells of them.

import { isSameSet } from '../../../base/same-entries.ts'
import type { CallerGroups } from '../../../language/caller-requirements.ts'
import type { Problem } from '../../../language/problem.ts'
import { conditionOf, nothingFoundBy } from '../../resource/condition.ts'
import { mapAt, memberAt } from '../../../language/expression/members.ts'
import { isMap } from '../../../language/expression/value.ts'
import { changedKeys } from '../../edited-map.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import { isPaused, keyOf, type RealmResource } from '../../resource/resource.ts'
import { isSameValue } from '../../resource/same-value.ts'
import {
  type DeletedRealmClaim,
  DeletedRealmClaims,
  isOfSameNamespace,
} from './deleted-realm-claims.ts'
import { conflicted } from '../conditions.ts'
import {
  type GoodRealm,
  validateRealmResource,
  type RealmResourceValidation,
  realmInputs,
  secretNames,
} from './validate-realm-resource.ts'
import { FailedResources, type OnFailure } from '../failed-resources.ts'
import { mayRealmBeHeld } from '../may-be-held.ts'
import { ComputedCache } from '../computed-cache.ts'
import type { Quota } from '../quotas/namespace-quotas.ts'
import { type Claimant, isRenamed, ownedWords, ownersOf } from '../claims/owners.ts'
import type { Amounts } from '../quotas/quota-amounts.ts'
import type { QuotaUse } from '../quotas/quota-rejection.ts'
import {
  admitsNamespace,
  isAdmissionUncertain,
  type RealmAccess,
  withheldCredentials,
} from './realm-access.ts'
import { ownersByStatus } from './owners-by-status.ts'
import { RealmQuotas } from './realm-quotas.ts'
import { KeptIds } from '../claims/kept-ids.ts'
import type { ResourceResult } from '../resource-result.ts'

export interface ValidatedRealms {
  /** uri → the version that is to be put. */
  readonly served: ReadonlyMap<string, GoodRealm>
  /** Uris that have no version to put, and a Realm that may have brought them into service. */
  readonly kept: ReadonlySet<string>
  /** Uris that no data plane may keep. */
  readonly revoked: ReadonlySet<string>
  /** Results by key of the resource. */
  readonly results: ReadonlyMap<string, ResourceResult>
  /** Realms of which not even the uri can be told. */
  readonly nameless: readonly RealmResource[]
  /** Uris that are another thing to some document than they were the last time, but for what Namespaces say. */
  readonly changedUris: ReadonlySet<string>
  /** Is kept until Realms change, so it must not keep the cache of that time: of 10,000 documents, 100 MB. */
  access(uri: string, namespace: string, cache: ResourceCache): RealmAccess
}

interface ValidatedRealm extends Claimant<RealmResource> {
  readonly validation: RealmResourceValidation
  readonly uri: string | undefined
  /** What may be put now: nothing new while it is paused. */
  readonly good: GoodRealm | undefined
  /** It has named another's uri, and keeps the one it had. */
  readonly refusedBy?: Claimant<RealmResource>
}

/** A Realm that stands there, or one that was deleted and still serves. */
type RealmClaimant = ValidatedRealm | DeletedRealmClaim

export class RealmRegistry {
  readonly #secretNames = new ComputedCache<readonly string[]>()
  readonly #validations = new ComputedCache<RealmResourceValidation>()
  readonly #goods = new ComputedCache<GoodRealm | undefined>()
  readonly #results = new ComputedCache<ResourceResult>()
  /** Key → uid, by the first cache, as what this operator writes since is no proof; of Realms that were here since. */
  #ownersBefore: Map<string, string> | undefined
  /** Good versions by key of the resource. */
  readonly #lastGood = new Map<string, GoodRealm>()
  readonly #keptIds = new KeptIds<RealmResource>(mayRealmBeHeld)
  readonly #deletedRealms = new DeletedRealmClaims()
  readonly #quotas = new RealmQuotas()
  readonly #failures: FailedResources<RealmResource>
  /** As they were last validated. */
  #last: readonly RealmClaimant[] = []
  #uris: ReadonlyMap<string, UriState> = new Map()
  #isSettled = false

  constructor(onFailure: OnFailure) {
    this.#failures = new FailedResources(onFailure)
  }

  /** @param quotaOf a namespace; undefined: there are none */
  validate(
    resources: ReadonlyMap<string, RealmResource>,
    cache: ResourceCache,
    quotaOf?: (namespace: string) => Quota,
  ): ValidatedRealms {
    this.#ownersBefore ??= ownersByStatus(resources)
    const remembered = new Map(this.#lastGood)
    const refusals = quotaOf && this.#quotas.settle(resources, this.#lastGood, quotaOf)
    const standing = this.#standing(resources, cache)
    this.#last = standing
    const validated = standing.filter(isValidated)
    const owners = ownersOf(standing.filter(({ id }) => id !== ''))
    const served = new Map<string, GoodRealm>()
    for (const each of standing) {
      if (owners.get(each.id)?.key !== each.key) continue
      const good = this.#latest(each)
      if (good !== undefined) served.set(each.id, good)
    }
    const revoked = this.#deletedRealms.revoked(served)
    for (const uri of revoked) this.#keptIds.revoke(uri)
    const kept = this.#keptIds.keep(standing, owners, served)
    this.#forget(resources, owners)
    const results = new Map(validated.map((each) => [each.key, this.#result(each, owners, served)]))
    const nameless = validated.flatMap(({ uri, resource }) => (uri === undefined ? [resource] : []))
    const uris = new Map(
      Array.from(owners, ([uri, owner]): [string, UriState] => [
        uri,
        { good: served.get(uri), owner, isKept: kept.has(uri) },
      ]),
    )
    const changedUris = differingUris(this.#uris, uris)
    this.#uris = uris
    this.#isSettled =
      (refusals?.size ?? 0) === 0 && changedKeys(remembered, this.#lastGood).size === 0
    return { served, kept, revoked, results, nameless, changedUris, access: accessIn(uris) }
  }

  /** False: the same again may have another outcome, by what is remembered now. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  #standing(
    resources: ReadonlyMap<string, RealmResource>,
    cache: ResourceCache,
  ): readonly RealmClaimant[] {
    this.#deletedRealms.follow(cache, {
      lastGood: this.#lastGood,
      isHolder: (uri, key) => this.#keptIds.isHolder(uri, key),
    })
    const validated = [...resources].map(([key, resource]) =>
      this.#failures.confine(key, resource, (each) => this.#validateOne(key, each, cache)),
    )
    return withoutRefused(this.#deletedRealms.joinTo(validated))
  }

  /** What the namespace uses of its quota. */
  usedBy(namespace: string): Amounts {
    return this.#quotas.usedBy(namespace)
  }

  /** The result for a Realm if it were the next to come, or to change; nothing is remembered. */
  preview(
    resource: RealmResource,
    cache: ResourceCache,
    quotaUse: QuotaUse | undefined,
  ): ResourceResult {
    const key = keyOf(resource)
    const overQuota = quotaUse && this.#quotas.previewRejection(key, resource, quotaUse)
    const validation = validateRealmResource(resource, cache, overQuota)
    const lastGood = this.#lastGood.get(key)
    const lastId = lastGood?.uid === resource.metadata.uid ? lastGood.desired.uri : undefined
    const uri = validation.good === undefined ? (lastId ?? validation.uri) : validation.uri
    const mine = { key, resource, id: uri ?? '', lastId }
    const others = this.#last.filter((each) => each.key !== key && each.id !== '')
    const owner = uri === undefined ? undefined : ownersOf([...others, mine]).get(uri)
    const winner = owner?.key === key || isSuccessor(resource, owner) ? undefined : owner
    return realmResult(resource, validation, { uri, winner, good: undefined, isHeld: false })
  }

  #validateOne(key: string, resource: RealmResource, cache: ResourceCache): ValidatedRealm {
    const names = this.#secretNames.get(key, [resource.checked], () => secretNames(resource))
    const overQuota = this.#quotas.refusalOf(key, resource)
    const inputs = [...realmInputs(resource, names, cache), overQuota]
    const validation = this.#validations.get(key, inputs, () =>
      validateRealmResource(resource, cache, overQuota),
    )
    const lastGood = this.#recall(key, resource, validation)
    const latest = this.#goods.get(key, [validation.good], () =>
      carryOver(lastGood, validation.good),
    )
    const good = isPaused(resource) ? undefined : latest
    // A version that is not good does not rename: the uri that serves stays with its resource.
    const lastUri = lastGood?.desired.uri
    const uri = good === undefined ? (lastUri ?? validation.uri) : validation.uri
    const wasOwner = this.#ownersBefore?.get(key) === resource.metadata.uid
    const lastId = wasOwner ? (lastUri ?? uri) : lastUri
    return { key, resource, validation, uri, id: uri ?? '', lastId, good }
  }

  /** Its last good version; that of a Realm of this name before it is forgotten. */
  #recall(
    key: string,
    resource: RealmResource,
    { good }: RealmResourceValidation,
  ): GoodRealm | undefined {
    const known = this.#lastGood.get(key)
    if (known?.uid === resource.metadata.uid) return known
    this.#lastGood.delete(key)
    if (good === undefined || !isPaused(resource) || !wasServed(resource)) return undefined
    this.#lastGood.set(key, good)
    return good
  }

  /** The newest good version of an owner; a good one is remembered. */
  #latest({ key, id, good }: RealmClaimant): GoodRealm | undefined {
    if (good !== undefined) this.#lastGood.set(key, good)
    const latest = this.#lastGood.get(key)
    return latest?.desired.uri === id ? latest : undefined
  }

  #forget(
    resources: ReadonlyMap<string, RealmResource>,
    owners: ReadonlyMap<string, Claimant<RealmResource>>,
  ): void {
    const caches = [this.#secretNames, this.#validations, this.#goods, this.#results]
    for (const computed of caches) computed.retain(resources)
    for (const key of this.#ownersBefore?.keys() ?? [])
      if (!resources.has(key)) this.#ownersBefore?.delete(key)
    for (const [key, good] of this.#lastGood) {
      if (owners.get(good.desired.uri)?.key !== key) this.#lastGood.delete(key)
    }
  }

  #result(
    { key, resource, validation, uri, refusedBy }: ValidatedRealm,
    owners: ReadonlyMap<string, Claimant<RealmResource>>,
    served: ReadonlyMap<string, GoodRealm>,
  ): ResourceResult {
    const owner = uri === undefined ? undefined : owners.get(uri)
    const isOwner = owner?.key === key
    const good = isOwner && uri !== undefined ? served.get(uri) : undefined
    const isHeld = isPaused(resource) && validation.good?.desired.digest !== good?.desired.digest
    const winner = refusedBy ?? (isOwner || isSuccessor(resource, owner) ? undefined : owner)
    return this.#results.get(key, [resource, validation, uri, winner?.resource, good], () =>
      realmResult(resource, validation, { uri, winner, good, isHeld }),
    )
  }
}

/**
 * An operator before us wrote that this very generation is in service: while it was paused nothing else came after it,
 * but for a Secret that changed while there was no operator.
 */
const wasServed = ({ conditions = [], metadata: { generation } }: RealmResource): boolean => {
  const current = conditions.filter(({ observedGeneration }) => observedGeneration === generation)
  const ready = conditionOf(current, 'Ready')?.reason
  const isInService = ready === 'Ready' || ready === 'Unreachable'
  // Released: it was let go by an operator that was uninstalled, and is taken up again.
  const isAccepted = conditionOf(current, 'Accepted')?.reason === 'Accepted'
  return isAccepted && (isInService || ready === 'Released')
}

interface Place {
  readonly uri: string | undefined
  /** Who owns the uri that it names. */
  readonly winner: Claimant<RealmResource> | undefined
  readonly good: GoodRealm | undefined
  readonly isHeld: boolean
}

const realmResult = (
  resource: RealmResource,
  validation: RealmResourceValidation,
  { uri, winner, good, isHeld }: Place,
): ResourceResult => {
  const message = winner && ownedWords(`the uri '${winner.id}'`, resource, winner.resource)
  const conflict: Problem | undefined =
    message === undefined ? undefined : { code: 'conflict', path: '/spec/uri', message }
  return {
    resource,
    accepted: message === undefined ? validation.accepted : conflicted(message),
    resolvedRefs: validation.resolvedRefs,
    found: nothingFoundBy('document'),
    errors: conflict === undefined ? validation.errors : [conflict, ...validation.errors],
    warnings: validation.warnings,
    ...(uri !== undefined && { id: uri }),
    ...(validation.good !== undefined && { digest: validation.good.desired.digest }),
    ...(good !== undefined && {
      serving: { generation: good.generation, digest: good.desired.digest },
    }),
    ...(isHeld && { isHeld }),
  }
}

/**
 * A Realm that names another's uri keeps the one it had: what serves is not deleted for that. What it keeps may be what
 * a third one has named: each round refuses one more at least.
 */
const withoutRefused = (claimants: readonly RealmClaimant[]): readonly RealmClaimant[] => {
  let standing = claimants
  for (;;) {
    if (!standing.some(isRenamed)) return standing
    const owners = ownersOf(standing)
    const next = standing.map((each) => stayIfRefused(each, owners.get(each.id)))
    if (next.every((each, i) => each === standing[i])) return standing
    standing = next
  }
}

const stayIfRefused = (
  standing: RealmClaimant,
  owner: Claimant<RealmResource> | undefined,
): RealmClaimant =>
  !isRenamed(standing) ||
  owner === undefined ||
  owner.key === standing.key ||
  !isValidated(standing)
    ? standing
    : {
        ...standing,
        id: standing.lastId ?? '',
        uri: standing.lastId,
        good: undefined,
        refusedBy: owner,
      }

const isValidated = (standing: RealmClaimant): standing is ValidatedRealm =>
  'validation' in standing

/** It has the uri of one that was deleted in its own namespace: as soon as it is good it serves in its place. */
const isSuccessor = (
  resource: RealmResource,
  owner: Claimant<RealmResource> | undefined,
): boolean => owner !== undefined && isOfDeletedRealm(owner) && isOfSameNamespace(resource, owner)

const isOfDeletedRealm = (owner: Claimant<RealmResource>): boolean => !('validation' in owner)

/** What says the same is the same object: a new Secret of a realm must not look like news to its documents. */
const carryOver = (
  before: GoodRealm | undefined,
  good: GoodRealm | undefined,
): GoodRealm | undefined => {
  if (before === undefined || good === undefined || before === good) return good
  const isSame = JSON.stringify(before.terms) === JSON.stringify(good.terms)
  const desired = before.desired.digest === good.desired.digest ? before.desired : good.desired
  const groups = isSameGroups(before.groups, good.groups) ? before.groups : good.groups
  return { ...good, desired, groups, terms: isSame ? before.terms : good.terms }
}

const isSameGroups = (left: CallerGroups, right: CallerGroups): boolean =>
  (['ofUsers', 'ofKeyOwners'] as const).every((name) => {
    const [before, now] = [left[name], right[name]]
    return before === undefined || now === undefined ? before === now : isSameSet(before, now)
  })

interface UriState {
  readonly good: GoodRealm | undefined
  readonly owner: Claimant<RealmResource> | undefined
  readonly isKept: boolean
}

const UNKNOWN_URI: UriState = { good: undefined, owner: undefined, isKept: false }

const differingUris = (
  before: ReadonlyMap<string, UriState>,
  after: ReadonlyMap<string, UriState>,
): ReadonlySet<string> => {
  const uris = new Set<string>()
  for (const [uri, state] of after)
    if (!isSameToDocuments(before.get(uri) ?? UNKNOWN_URI, state)) uris.add(uri)
  for (const uri of before.keys()) if (!after.has(uri)) uris.add(uri)
  return uris
}

/** A Secret of a realm is nothing to its documents, nor is what stands in its status. */
const isSameToDocuments = (left: UriState, right: UriState): boolean => {
  if (left.good === undefined || right.good === undefined) {
    return (
      left.good === right.good &&
      left.owner?.resource === right.owner?.resource &&
      left.isKept === right.isKept
    )
  }
  return (
    left.good.terms === right.good.terms &&
    left.good.groups === right.good.groups &&
    left.good.namespace === right.good.namespace &&
    isSameValue(allowedIn(left.good), allowedIn(right.good)) &&
    hasDeletedOwner(left) === hasDeletedOwner(right)
  )
}

const allowedIn = ({ spec }: GoodRealm): unknown => [
  memberAt(spec, 'allowedNamespaces'),
  ...Object.entries(mapAt(spec, 'credentials')).map(([name, credential]) => [
    name,
    isMap(credential) ? memberAt(credential, 'allowedNamespaces') : undefined,
  ]),
]

const hasDeletedOwner = ({ owner }: Pick<UriState, 'owner'>): boolean =>
  owner !== undefined && isOfDeletedRealm(owner)

/** Outside of `validate`, whose variables it would keep. */
const accessIn =
  (uris: ReadonlyMap<string, UriState>): ValidatedRealms['access'] =>
  (uri, namespace, cache) =>
    accessOf(uris.get(uri) ?? UNKNOWN_URI, namespace, cache)

const accessOf = (
  { good, owner, isKept }: UriState,
  namespace: string,
  cache: ResourceCache,
): RealmAccess => {
  if (good !== undefined) {
    if (!admitsNamespace(good, namespace, cache)) {
      const isUncertain = isAdmissionUncertain(good, namespace, cache)
      return { access: 'RefNotPermitted', ...(isUncertain && { isUncertain }) }
    }
    const isDeleted = hasDeletedOwner({ owner })
    const withheld = withheldCredentials(good, namespace, cache)
    const { terms: realm, groups } = good
    return { access: 'granted', realm, groups, withheld, ...(isDeleted && { isDeleted }) }
  }
  if (owner === undefined) return { access: 'RealmNotFound', isAbsent: true }
  const { resource } = owner
  if (!mayUse(resource, namespace, cache)) return { access: 'RealmNotFound' }
  const { name, namespace: home } = resource.metadata
  const realm = { namespace: home, name, isPaused: isPaused(resource), isKept }
  return { access: 'unready', realm }
}

const mayUse = (
  { checked, metadata }: RealmResource,
  namespace: string,
  cache: ResourceCache,
): boolean =>
  metadata.namespace === namespace ||
  ('spec' in checked &&
    admitsNamespace({ namespace: metadata.namespace, spec: checked.spec }, namespace, cache))
