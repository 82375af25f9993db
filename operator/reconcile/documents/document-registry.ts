// Keeps which document each id has, and what there is to say of every ApiSpecification, from one change to the next: a
// change costs what it concerns. Remembers validations and the last good version of each resource, nothing else.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { edited } from '../../edited-map.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import type { ApiSpecificationResource } from '../../resource/resource.ts'
import type { CompileOne, DocumentCompiler } from './compile-document.ts'
import { ClaimResolution, type Touched } from './claim-resolution.ts'
import {
  DocumentValidations,
  type Specifications,
  type ValidationOptions,
} from './document-validations.ts'
import { conflictText, placeOf, type ValidatedDocument, resultAt } from './validated-document.ts'
import { LastGoodVersions } from './last-good.ts'
import { ComputedCache } from '../computed-cache.ts'
import { mayDocumentBeHeld } from '../may-be-held.ts'
import type { MissingVersion } from './missing-version.ts'
import { previewDocument, type PreviewContext } from './preview-document.ts'
import type { Amounts } from '../quotas/quota-amounts.ts'
import type { ResourceChanges, ValidationContext } from '../validation-context.ts'
import { KeptIds } from '../claims/kept-ids.ts'
import type { ResourceResult } from '../resource-result.ts'

export interface ValidatedDocuments {
  /** id → the version that is to be sent. The same map where nothing has changed. */
  readonly served: ReadonlyMap<string, DesiredDocument>
  /** Ids whose version was taken out of service, as its namespace has lost a right: no data plane may keep it. */
  readonly revoked: ReadonlySet<string>
  /** Ids without a version to send, but with a resource that may have brought them into service. */
  readonly kept: ReadonlySet<string>
  /** The same map where nothing changed. */
  readonly results: ReadonlyMap<string, ResourceResult>
  /** Resources whose id is not known. */
  readonly nameless: readonly ApiSpecificationResource[]
  /** The same list where nothing changed. */
  readonly missing: readonly MissingVersion[]
  /** A quota has room now for what was rejected: validating the same again has another result. */
  readonly isOpen: boolean
}

export class DocumentRegistry {
  readonly #validations: DocumentValidations
  readonly #resolution: ClaimResolution
  readonly #lastGood: LastGoodVersions
  readonly #keptIds = new KeptIds<ApiSpecificationResource>(mayDocumentBeHeld)
  readonly #resultCache = new ComputedCache<ResourceResult>()
  #results: ReadonlyMap<string, ResourceResult> = new Map()
  readonly #compiler: DocumentCompiler
  #isSettled = false

  /** @param ownership `shared`: namespaces may share hosts */
  constructor(
    ownership: 'strict' | 'shared',
    { compiler, onFailure }: Pick<ValidationOptions, 'compiler' | 'onFailure'>,
  ) {
    this.#compiler = compiler
    this.#lastGood = new LastGoodVersions(compiler)
    this.#validations = new DocumentValidations({
      compiler,
      lastGood: this.#lastGood,
      onFailure,
    })
    this.#resolution = new ClaimResolution(ownership)
  }

  validate(
    resources: Specifications,
    changes: ResourceChanges,
    context: ValidationContext,
  ): ValidatedDocuments {
    this.#validateEach(resources, changes, context)
    const changed = this.#validations.takeChanged()
    const touched = this.#resolution.resolve(
      new Map(changed.map((key) => [key, this.#validations.get(key)])),
    )
    this.#isSettled = true
    const { documents, owners } = this.#resolution
    const ownerOf = (id: string): ValidatedDocument | undefined => owners.owner(id)
    for (const key of this.#resolution.ousted) this.#lastGood.revoke(key)
    this.#lastGood.settle(touched.ids, { ownerOf, documents })
    const moved = this.#lastGood.takeTouched()
    this.#results = edited(this.#results, this.#newResults(touched, [...changed, ...moved]))
    for (const id of touched.ids) this.#keptIds.update(id, ownerOf(id), documents.has(id))
    const revoked = this.#revokedIds()
    for (const id of revoked) this.#keptIds.revoke(id)
    const isOpen = this.#validations.settleQuotasAgain(moved, context)
    this.#validations.lookAgain(moved)
    return {
      isOpen,
      served: documents,
      revoked,
      kept: this.#keptIds.keepOpen((id) => owners.claimantsOf(id)),
      results: this.#results,
      nameless: owners.claimantsOf('').map(({ resource }) => resource),
      missing: this.#lastGood.missing(this.#unserved(), ownerOf, context.cache),
    }
  }

  /**
   * Validates each document by itself, and resolves no claims.
   * @returns false: versions that serve are still being compiled; without them others would get their claims
   */
  prepare(
    resources: Specifications,
    changes: ResourceChanges,
    context: ValidationContext,
  ): boolean {
    this.#validateEach(resources, changes, context)
    return !this.#compiler.isAwaitingServing()
  }

  hasNamespace(namespace: string): boolean {
    return this.#validations.hasNamespace(namespace)
  }

  /** Whether some document that is to be sent has the claim. */
  isClaimed(claim: string): boolean {
    return this.#resolution.settlement.isClaimed(claim)
  }

  /** What the namespace uses of its quota. */
  usedBy(namespace: string): Amounts {
    return this.#validations.usedBy(namespace)
  }

  /** The result for a resource if it were created or changed now; nothing is remembered. */
  preview(
    resource: ApiSpecificationResource,
    context: PreviewContext,
    compiler: CompileOne,
  ): ResourceResult | undefined {
    if (!this.#isSettled) return undefined
    const standing = {
      resolution: this.#resolution,
      validated: (key: string) => this.#validations.get(key),
      lastGood: (key: string) => this.#lastGood.get(key),
    }
    return previewDocument(resource, context, standing, compiler)
  }

  /** @returns whether it is the version that was missing; then the same cache must be validated again */
  async recover(
    version: MissingVersion,
    document: ValueMap,
    cache: ResourceCache,
  ): Promise<boolean> {
    const isRecovered = await this.#lastGood.recover(version, document, cache)
    if (isRecovered) this.#validations.lookAgain([version.key])
    return isRecovered
  }

  #validateEach(
    resources: Specifications,
    changes: ResourceChanges,
    context: ValidationContext,
  ): void {
    this.#lastGood.begin(resources)
    this.#validations.validate(resources, changes, context)
  }

  /** @param changed keys of documents that were validated again or whose serving version has changed */
  #newResults(
    touched: Touched,
    changed: readonly string[],
  ): Map<string, ResourceResult | undefined> {
    const keys = new Set([...changed, ...touched.keys])
    const { owners } = this.#resolution
    for (const id of touched.ids) for (const { key } of owners.claimantsOf(id)) keys.add(key)
    return new Map(Array.from(keys, (key) => [key, this.#result(key)]))
  }

  #result(key: string): ResourceResult | undefined {
    const validated = this.#validations.get(key)
    if (validated === undefined) {
      this.#resultCache.forget(key)
      return undefined
    }
    const { resource, read, validation } = validated
    const stand = this.#resolution.standOf(validated)
    const place = placeOf(validated, stand, (id) => this.#resolution.owners.owner(id))
    const { owner, isHostLost, isEntangled, lost, winners } = place
    const lastGood = this.#lastGood.get(key)
    const isRevoked = lastGood === undefined && this.#lastGood.revoked.has(key)
    const own = [resource, read, validation, owner?.resource, lastGood, isRevoked]
    const inputs = [...own, isHostLost, isEntangled]
    return this.#resultCache.get(key, [...inputs, ...lost.map(conflictText), ...winners], () =>
      resultAt(validated, place, { lastGood, isRevoked }),
    )
  }

  #revokedIds(): ReadonlySet<string> {
    const { documents, owners } = this.#resolution
    const ids = [...this.#lastGood.revoked].flatMap(([key, { id, isCertain }]) =>
      !documents.has(id) && (isCertain || owners.owner(id)?.key === key) ? [id] : [],
    )
    return ids.length === 0 ? NO_IDS : new Set(ids)
  }

  /** Documents without an id, and owners of ids without a version to send. */
  *#unserved(): Iterable<ValidatedDocument> {
    const { owners } = this.#resolution
    yield* owners.claimantsOf('')
    for (const id of this.#keptIds.open) {
      const owner = owners.owner(id)
      if (owner !== undefined) yield owner
    }
  }
}

const NO_IDS: ReadonlySet<string> = new Set()
