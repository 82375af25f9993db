// Turns each cache of resources into the desired state of data planes and a result for every resource, at a cost in
// proportion to what has changed. No I/O, no clock: the same caches in the same order give the same results.

import { isSameMap, isSameSet } from '../../base/same-entries.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { type DesiredRealm, type DesiredSet, EMPTY_DESIRED } from '../desired-set.ts'
import { nothingFoundBy } from '../resource/condition.ts'
import { changedKeys, edited } from '../edited-map.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import { type ApiSpecificationResource, keyOf, type RealmResource } from '../resource/resource.ts'
import { CacheReader } from './cache-reader.ts'
import {
  compileAtOnce,
  type CompileOne,
  type DocumentCompiler,
} from './documents/compile-document.ts'
import { DestinationPolicies } from './claims/destination-policies.ts'
import { DocumentRegistry, type ValidatedDocuments } from './documents/document-registry.ts'
import { ACCEPTED_PENDING, REFERENCES_PENDING } from './conditions.ts'
import type { OnFailure } from './failed-resources.ts'
import { HostGrants } from './claims/host-grants.ts'
import { mayDocumentBeHeld } from './may-be-held.ts'
import { ComputedCache } from './computed-cache.ts'
import { type ValidatedRealms, RealmRegistry } from './realms/realm-registry.ts'
import type { MissingVersion } from './documents/missing-version.ts'
import { NamespaceQuotas, type Quota } from './quotas/namespace-quotas.ts'
import { type Amounts, sumOf } from './quotas/quota-amounts.ts'
import type { QuotaUse } from './quotas/quota-rejection.ts'
import type { ResourceChanges, ValidationContext } from './validation-context.ts'
import type { ResourceResult } from './resource-result.ts'

export interface Reconciliation {
  readonly desired: DesiredSet
  /**
   * Results by key of the resource: every ApiSpecification and Realm of our class, and those that have left it while their status
   * does not say so yet. Same objects if unchanged.
   */
  readonly results: ReadonlyMap<string, ResourceResult>
  /** Versions that should go on serving, and whose text only data planes have: see `recover`. */
  readonly missing: readonly MissingVersion[]
  /** A quota has room now: reconciling the same cache again uses it. */
  readonly isOpen: boolean
  /** Whether some document of the desired state has this route (`Claim.key`). Valid until the next reconciliation. */
  readonly isClaimed: (claim: string) => boolean
}

export interface ReconcilerOptions {
  /** ApiSpecifications and Realms of another class are ignored. */
  readonly className: string
  /** strict: a host pattern belongs to the namespace of its oldest accepted document. `shared` when absent. */
  readonly hostOwnership?: 'strict' | 'shared'
  /** Namespaces that need no annotation to claim `_` and wildcards. `all` when absent. */
  readonly wildcardNamespaces?: 'all' | readonly string[]
  /** Destinations of documents of namespaces without an annotation. `any` when absent. */
  readonly destinations?: 'own' | 'any'
  /** `cluster.local` when absent. */
  readonly clusterDomain?: string
  /** The quota of a namespace without an annotation. Absent: there are no quotas, and annotations have no effect. */
  readonly namespaceQuota?: Amounts | undefined
  /** If absent, everything is compiled synchronously. */
  readonly compiler?: DocumentCompiler
  /** An exception was thrown for one resource: all others go on. */
  readonly onFailure?: OnFailure
}

/**
 * Validates only what has changed inputs. Between calls of `reconcile` it remembers validations, and the last good
 * version of each resource, which goes on serving while a newer one is invalid. A change of a document concerns that
 * document, those that name its id or claim its hosts and paths, and those that are in conflict anyway.
 * @example new Reconciler({ className: 'svc' }).reconcile(source.current()).desired
 */
export class Reconciler {
  readonly #realms: RealmRegistry
  readonly #documents: DocumentRegistry
  readonly #grants: HostGrants
  readonly #destinations: DestinationPolicies
  readonly #quotas: NamespaceQuotas | undefined
  readonly #releases = new ComputedCache<ResourceResult>()
  readonly #reader: CacheReader
  #desired: DesiredSet = EMPTY_DESIRED
  #results: ReadonlyMap<string, ResourceResult> = new Map()
  #documentResults: ReadonlyMap<string, ResourceResult> = new Map()
  #realmResults: ReadonlyMap<string, ResourceResult> = new Map()
  #validatedRealms: ValidatedRealms | undefined
  /** Resources whose id was unknown in the first cache: data planes may have loaded any document of theirs. */
  #unidentified: ReadonlySet<string> | undefined
  /** Those that an earlier operator may have sent, decided before we write into their statuses. */
  #heldBefore: ReadonlySet<string> | undefined

  constructor({
    className,
    hostOwnership = 'shared',
    wildcardNamespaces = 'all',
    destinations = 'any',
    clusterDomain = 'cluster.local',
    namespaceQuota,
    compiler = compileAtOnce(),
    onFailure = () => undefined,
  }: ReconcilerOptions) {
    this.#reader = new CacheReader(className)
    this.#realms = new RealmRegistry(onFailure)
    this.#documents = new DocumentRegistry(hostOwnership, { compiler, onFailure })
    this.#grants = new HostGrants(wildcardNamespaces)
    this.#destinations = new DestinationPolicies({ destinations, clusterDomain })
    this.#quotas = namespaceQuota && new NamespaceQuotas(namespaceQuota)
  }

  /**
   * Call it before the first cache is reconciled.
   * @returns false: versions that serve are still being compiled; call it again when the compiler has a result
   */
  prepare(cache: ResourceCache): boolean {
    const { changes, context } = this.#read(cache)
    return this.#documents.prepare(this.#reader.specifications, changes, context)
  }

  reconcile(cache: ResourceCache): Reconciliation {
    const { changes, context, realms, leaving, isNewToRealms } = this.#read(cache)
    const documents = this.#documents.validate(this.#reader.specifications, changes, context)
    if (isNewToRealms) this.#retainNamespaces()
    const holdDeletes = cache.holdDeletes ?? this.#holdForUnidentified(realms, documents)
    const next = buildDesired(this.#desired, realms, documents, holdDeletes)
    if (!sameDesired(next, this.#desired)) this.#desired = next
    this.#takeResults(realms, documents, leaving)
    const { missing, isOpen } = documents
    const isClaimed = (claim: string): boolean => this.#documents.isClaimed(claim)
    return { desired: this.#desired, results: this.#results, missing, isOpen, isClaimed }
  }

  /**
   * Takes the text of a missing version from a data plane that has loaded its digest.
   * @returns true: it is that version, and is sent to all data planes after the same cache was reconciled again; false:
   * it is not, or is not missing any more. As long as `missing` has the same object, the same text would fail again.
   * @example if (await reconciler.recover(missing, source)) reconciler.reconcile(cache)
   */
  recover(version: MissingVersion, document: ValueMap): Promise<boolean> {
    return this.#documents.recover(version, document, this.#reader.cache)
  }

  /** As of the last reconciliation; undefined: there are no quotas. */
  quotaUse(namespace: string): QuotaUse | undefined {
    if (this.#quotas === undefined) return undefined
    return {
      namespace,
      quota: this.#quotas.of(namespace, this.#reader.cache),
      used: sumOf(this.#documents.usedBy(namespace), this.#realms.usedBy(namespace)),
    }
  }

  /**
   * The result, in the same words as `reconcile` would give it, on a resource if it were created or changed now; nothing
   * is remembered. It takes the time of its own validation, and of looking at those that name its id or claim its hosts
   * and paths.
   * @param cache for what the resource itself refers to; other resources are as they were last reconciled
   * @param compiler for this one document; the result is pending while it has no result
   * @returns undefined before anything was reconciled
   */
  preview(
    resource: ApiSpecificationResource | RealmResource,
    cache: ResourceCache,
    compiler: CompileOne,
  ): ResourceResult | undefined {
    const realms = this.#validatedRealms
    if (realms === undefined) return undefined
    const quotaUse = this.quotaUse(resource.metadata.namespace)
    if (resource.kind === 'Realm') return this.#realms.preview(resource, cache, quotaUse)
    const context = this.#contextFor(this.#reader.cache, realms)
    return this.#documents.preview(resource, { ...context, cache, quotaUse }, compiler)
  }

  /** The documents that use a Realm and may do so; none where its uri belongs to another Realm. */
  usersOf(realmKey: string): readonly ApiSpecificationResource[] {
    const realm = this.#results.get(realmKey)
    if (realm?.id === undefined || realm.accepted.reason === 'Conflicted') return []
    const { namespace } = realm.resource.metadata
    return [...this.#results.values()].flatMap(({ resource, realmUri, realmNamespace }) =>
      resource.kind === 'ApiSpecification' && realmUri === realm.id && realmNamespace === namespace
        ? [resource]
        : [],
    )
  }

  #read(cache: ResourceCache): {
    readonly changes: ResourceChanges
    readonly context: ValidationContext
    readonly realms: ValidatedRealms
    readonly leaving: ReadonlySet<string>
    readonly isNewToRealms: boolean
  } {
    const { isNewToRealms, leaving, namespaces, ...changed } = this.#reader.read(cache)
    const before = this.#validatedRealms
    const isSame = before !== undefined && !isNewToRealms && this.#realms.isSettled
    const realms = isSame
      ? before
      : this.#realms.validate(this.#reader.realms, cache, this.#quotaIn(cache))
    this.#validatedRealms = realms
    const policies = this.#destinations.follow(this.#reader.namespaces)
    const realmUris = isSame ? NO_URIS : realms.changedUris
    return {
      changes: { ...changed, namespaces: new Set([...namespaces, ...policies]), realmUris },
      context: this.#contextFor(cache, realms),
      realms,
      leaving,
      isNewToRealms,
    }
  }

  #contextFor(cache: ResourceCache, realms: ValidatedRealms): ValidationContext {
    return {
      cache,
      access: (uri, namespace) => realms.access(uri, namespace, cache),
      grant: (namespace) => this.#grants.of(namespace, cache),
      destinations: (namespace) => this.#destinations.of(namespace, cache),
      quota: this.#quotaIn(cache),
    }
  }

  #quotaIn(cache: ResourceCache): ((namespace: string) => Quota) | undefined {
    const quotas = this.#quotas
    return quotas && ((namespace) => quotas.of(namespace, cache))
  }

  /** Forgets namespaces without resources. */
  #retainNamespaces(): void {
    const ofRealms = new Set<string>()
    for (const { metadata } of this.#reader.realms.values()) ofRealms.add(metadata.namespace)
    const live = {
      has: (name: string): boolean => ofRealms.has(name) || this.#documents.hasNamespace(name),
    }
    for (const known of [this.#grants, this.#destinations, this.#quotas]) known?.retain(live)
  }

  /** @param leaving keys of resources that are leaving our class, or were */
  #takeResults(
    realms: ValidatedRealms,
    documents: ValidatedDocuments,
    leaving: ReadonlySet<string>,
  ): void {
    const edits = new Map<string, ResourceResult | undefined>()
    for (const [before, after] of [
      [this.#realmResults, realms.results],
      [this.#documentResults, documents.results],
    ] as const) {
      for (const key of changedKeys(before, after)) edits.set(key, after.get(key))
    }
    this.#realmResults = realms.results
    this.#documentResults = documents.results
    for (const key of leaving) {
      const resource = this.#reader.leaving.get(key)
      if (resource !== undefined) {
        const result = this.#releases.get(key, [resource], () => releaseResult(resource))
        edits.set(key, result)
      } else this.#releases.forget(key)
      if (resource === undefined && !edits.has(key) && this.#results.get(key)?.isReleased === true)
        edits.set(key, undefined)
    }
    this.#results = edited(this.#results, edits)
  }

  /**
   * Why nothing may be deleted: a resource that was unreadable at the start may own anything that a data plane has loaded,
   * unless an operator has validated it and it was never sent. Of one that becomes unreadable later the id is known.
   */
  #holdForUnidentified(realms: ValidatedRealms, documents: ValidatedDocuments): string | undefined {
    this.#heldBefore ??= new Set(documents.nameless.filter(wasHeldBefore).map(keyOf))
    const mayBeHeld = (resource: ApiSpecificationResource): boolean =>
      mayDocumentBeHeld(resource) || this.#heldBefore?.has(keyOf(resource)) === true
    const nameless = [...realms.nameless, ...documents.nameless.filter(mayBeHeld)]
    const keys = new Set(nameless.map(keyOf))
    const before = this.#unidentified ?? keys
    this.#unidentified = new Set([...before].filter((key) => keys.has(key)))
    const first = nameless.find((resource) => this.#unidentified?.has(keyOf(resource)))
    if (first === undefined) return undefined
    const { namespace, name } = first.metadata
    return (
      `${first.kind} ${namespace}/${name} can't be read, so it is not known what it defines: ` +
      'nothing is deleted until it is fixed or removed'
    )
  }
}

const releaseResult = (resource: ApiSpecificationResource | RealmResource): ResourceResult => ({
  resource,
  accepted: ACCEPTED_PENDING,
  resolvedRefs: REFERENCES_PENDING,
  found: nothingFoundBy('document'),
  errors: [],
  warnings: [],
  isReleased: true,
})

const wasHeldBefore = (resource: ApiSpecificationResource): boolean =>
  (resource.conditions ?? []).length > 0 && mayDocumentBeHeld(resource)

const buildDesired = (
  before: DesiredSet,
  realms: ValidatedRealms,
  documents: ValidatedDocuments,
  holdDeletes: string | undefined,
): DesiredSet => ({
  version: before.version + 1,
  documents: documents.served,
  realms: sameOrNew(before.realms, realms),
  kept: { documents: documents.kept, realms: realms.kept },
  ...(documents.revoked.size > 0 && { revokedDocuments: documents.revoked }),
  ...(realms.revoked.size > 0 && { revokedRealms: realms.revoked }),
  ...(holdDeletes !== undefined && { holdDeletes }),
})

const sameOrNew = (
  before: ReadonlyMap<string, DesiredRealm>,
  { served }: ValidatedRealms,
): ReadonlyMap<string, DesiredRealm> => {
  const next = new Map([...served].map(([uri, { desired }]) => [uri, desired]))
  return isSameMap(before, next) ? before : next
}

const sameDesired = (left: DesiredSet, right: DesiredSet): boolean =>
  left.documents === right.documents &&
  left.realms === right.realms &&
  left.holdDeletes === right.holdDeletes &&
  isSameSet(left.revokedDocuments ?? NO_IDS, right.revokedDocuments ?? NO_IDS) &&
  isSameSet(left.revokedRealms ?? NO_URIS, right.revokedRealms ?? NO_URIS) &&
  isSameSet(left.kept.documents, right.kept.documents) &&
  isSameSet(left.kept.realms, right.kept.realms)

const NO_URIS: ReadonlySet<string> = new Set()
const NO_IDS: ReadonlySet<string> = new Set()
