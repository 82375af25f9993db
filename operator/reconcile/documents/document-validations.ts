// Validates each ApiSpecification for itself, again where it or something beside it has changed that it depends on, and
// nowhere else. Remembers validations; how documents stand to each other is settled elsewhere.

import { FairQueue } from '../../../base/fair-queue.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import { type ApiSpecificationResource, keyOf } from '../../resource/resource.ts'
import { confinementOf } from '../claims/destination-policies.ts'
import { mayClaimNothing } from '../claims/host-grants.ts'
import { FailedResources, type OnFailure } from '../failed-resources.ts'
import { ComputedCache } from '../computed-cache.ts'
import type { Amounts } from '../quotas/quota-amounts.ts'
import type { ResourceChanges, ValidationContext } from '../validation-context.ts'
import type { DocumentCompiler } from './compile-document.ts'
import { DocumentIndex } from './document-index.ts'
import { DocumentQuotas } from './document-quotas.ts'
import type { LastGoodVersions } from './last-good.ts'
import { documentInput, readDocument, type ReadDocument } from './read-document.ts'
import { isPermitted, rightsOf } from './permitted.ts'
import { readVariables, variableInputs } from './read-variables.ts'
import {
  accessInputs,
  type ApiSpecificationValidation,
  validateApiSpecification,
  withRequirements,
} from './validate-api-specification.ts'
import { withheldFrom } from './withheld-credentials.ts'
import { toValidatedDocument, type ValidatedDocument } from './validated-document.ts'

export type Specifications = ReadonlyMap<string, ApiSpecificationResource>

export interface ValidationOptions {
  readonly compiler: DocumentCompiler
  readonly lastGood: LastGoodVersions
  readonly onFailure: OnFailure
}

export class DocumentValidations {
  readonly #options: ValidationOptions
  readonly #reads = new ComputedCache<ReadDocument>()
  readonly #validations = new ComputedCache<ApiSpecificationValidation>()
  /** With warnings that depend on the users of a realm. */
  readonly #requirements = new ComputedCache<ApiSpecificationValidation>()
  readonly #index = new DocumentIndex()
  readonly #quotas = new DocumentQuotas()
  readonly #failures: FailedResources<ApiSpecificationResource>
  readonly #validated = new Map<string, ValidatedDocument>()
  /** Keys of documents that are being compiled. */
  readonly #pending = new Set<string>()
  /** Keys of documents to look at again the next time, whatever changes until then. */
  readonly #open = new Set<string>()
  /** Keys of documents that were validated again since it was asked. */
  readonly #changed = new Set<string>()

  constructor(options: ValidationOptions) {
    this.#options = options
    this.#failures = new FailedResources(options.onFailure)
  }

  get(key: string): ValidatedDocument | undefined {
    return this.#validated.get(key)
  }

  hasNamespace(namespace: string): boolean {
    return this.#index.hasNamespace(namespace)
  }

  /** What the namespace uses of its quota. */
  usedBy(namespace: string): Amounts {
    return this.#quotas.usedBy(namespace)
  }

  /** It is to be looked at again the next time: what serves of it is another version. */
  lookAgain(keys: Iterable<string>): void {
    for (const key of keys) this.#open.add(key)
  }

  validate(resources: Specifications, changes: ResourceChanges, context: ValidationContext): void {
    const keys = new Set([...changes.documents, ...this.#open])
    for (const key of this.#index.concernedBy(changes)) keys.add(key)
    this.#open.clear()
    let isAnyGone = false
    for (const key of keys) {
      if (resources.has(key)) continue
      keys.delete(key)
      if (this.#forget(key)) isAnyGone = true
    }
    if (isAnyGone) this.#options.compiler.retain(resources)
    const all = new Set([...keys, ...this.#pending])
    for (const key of this.#settleQuotas(all, resources, { changes, context }))
      for (const each of [keys, all]) each.add(key)
    // Others see them in this order, whose turn it is notwithstanding.
    for (const key of keys) this.#changed.add(key)
    for (const resource of inTurns(all, resources)) {
      const key = keyOf(resource)
      // Nothing is new to what waits already, and looking at 10,000 of them takes as long as compiling a hundred.
      if (keys.has(key) || this.#options.compiler.hasTime())
        this.#failures.confine(key, resource, (each) => {
          this.#validateOne(key, each, context)
        })
    }
  }

  /** Keys of documents that were validated again since the last call, or are gone. */
  takeChanged(): readonly string[] {
    const keys = [...this.#changed]
    this.#changed.clear()
    return keys
  }

  /**
   * What is put now may leave room in a quota for what was refused.
   * @param keys of documents of which another version serves now
   * @returns whether others are refused than before: they are looked at the next time
   */
  settleQuotasAgain(keys: readonly string[], context: ValidationContext): boolean {
    const { cache, quota } = context
    if (quota === undefined || !this.#quotas.hasRefusals) return false
    for (const key of keys) {
      const validated = this.#validated.get(key)
      if (validated !== undefined) this.#putQuota(key, validated.resource, cache)
    }
    const changed = this.#quotas.settle(quota, true)
    this.lookAgain(changed)
    return changed.size > 0
  }

  /** @returns whether it was there */
  #forget(key: string): boolean {
    for (const computed of [this.#reads, this.#validations, this.#requirements])
      computed.forget(key)
    this.#index.forget(key)
    this.#quotas.forget(key)
    this.#pending.delete(key)
    this.#changed.add(key)
    return this.#validated.delete(key)
  }

  /** @returns keys of documents that are refused and were not, or the other way round */
  #settleQuotas(
    keys: Iterable<string>,
    resources: Specifications,
    {
      changes,
      context,
    }: { readonly changes: ResourceChanges; readonly context: ValidationContext },
  ): ReadonlySet<string> {
    const { cache, quota } = context
    if (quota === undefined) return NO_KEYS
    for (const key of keys) {
      const resource = resources.get(key)
      if (resource !== undefined)
        this.#failures.confine(key, resource, (each) => {
          this.#putQuota(key, each, cache)
        })
    }
    return this.#quotas.settle(quota, changes.namespaces.size === 0)
  }

  #putQuota(key: string, resource: ApiSpecificationResource, cache: ResourceCache): void {
    const read = this.#read(key, resource, cache)
    const lastGood = this.#options.lastGood.get(key)
    this.#quotas.put(key, resource, { read, cache, lastGood })
  }

  #read(key: string, resource: ApiSpecificationResource, cache: ResourceCache): ReadDocument {
    const inputs = [...ownInputs(resource), documentInput(resource, cache)]
    return this.#reads.get(key, inputs, () => readDocument(resource, cache))
  }

  #validateOne(key: string, resource: ApiSpecificationResource, context: ValidationContext): void {
    const { lastGood: versions } = this.#options
    const read = this.#read(key, resource, context.cache)
    const overQuota = this.#quotas.refusalOf(key, resource)
    const validation = this.#validation(key, resource, read, { ...context, overQuota })
    versions.follow(key, resource, validation.version, (document) =>
      isPermitted(document, rightsOf(document, context)),
    )
    const grant = context.grant(resource.metadata.namespace)
    if (mayClaimNothing(grant))
      versions.revokeUnknown(key, resource, 'id' in read ? read.id : resource.summary?.id)
    this.#restrict(key, resource, context)
    const lastGood = versions.get(key)?.document
    this.#index.put(key, resource, { read, served: lastGood?.realmUri })
    const own = { key, resource, read, validation, lastGood, overQuota, grant }
    this.#validated.set(key, toValidatedDocument(own))
    this.#changed.add(key)
    if (validation.isPending === true) this.#pending.add(key)
    else this.#pending.delete(key)
  }

  #validation(
    key: string,
    resource: ApiSpecificationResource,
    read: ReadDocument,
    { cache, overQuota, ...of }: ValidationContext & Pick<ValidatedDocument, 'overQuota'>,
  ): ApiSpecificationValidation {
    const { compiler } = this.#options
    const { namespace } = resource.metadata
    const realmUri = 'document' in read ? read.realmUri : undefined
    const access = of.access(realmUri ?? '', namespace)
    const grant = of.grant(namespace)
    const destinations = of.destinations(namespace)
    // Nothing else of the validation depends on it: a first status must not have its document compiled again.
    const isRecorded = access.access === 'unready' && resource.programmed !== undefined
    const contextInputs = [...variableInputs(resource, cache), ...accessInputs(access)]
    const own = [...ownInputs(resource), read, isRecorded, overQuota]
    const inputs = [...own, grant, destinations, ...contextInputs]
    const validation = this.#validations.get(key, inputs, () =>
      validateApiSpecification(resource, read, {
        key,
        compiler,
        access,
        grant,
        destinations,
        overQuota,
        variables: readVariables(resource, cache),
        mayWait: this.#validated.has(key),
      }),
    )
    if (validation.isPending === true) this.#validations.forget(key)
    if ((validation.requirements ?? []).length === 0 || access.access !== 'granted')
      return validation
    const { groups } = access
    return this.#requirements.get(key, [validation, groups], () =>
      withRequirements(validation, read, { access, variables: readVariables(resource, cache) }),
    )
  }

  /** What serves, also where it was remade just now. It may be of another realm than what is wanted. */
  #restrict(
    key: string,
    { metadata: { namespace } }: ApiSpecificationResource,
    { access, destinations }: ValidationContext,
  ): void {
    const confinedTo = confinementOf(destinations(namespace))
    this.#options.lastGood.restrict(key, (document) => ({
      confinedTo,
      withheld: withheldFrom(document, access(document.realmUri, namespace)),
    }))
  }
}

const NO_KEYS: ReadonlySet<string> = new Set()

/** Namespaces take turns, so that one with many documents does not use up the time of all. */
function* inTurns(
  keys: Iterable<string>,
  resources: Specifications,
): Iterable<ApiSpecificationResource> {
  const queue = new FairQueue<ApiSpecificationResource>()
  for (const key of keys) {
    const resource = resources.get(key)
    if (resource !== undefined) queue.push(resource.metadata.namespace, resource)
  }
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) yield next
}

const ownInputs = ({ checked, metadata }: ApiSpecificationResource): readonly unknown[] => [
  checked,
  metadata.uid,
  metadata.generation,
  metadata.createdAt,
]
