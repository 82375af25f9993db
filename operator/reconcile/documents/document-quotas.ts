// Finds the ApiSpecifications that the quota of their namespace has no room for, given what serves of them. After a restart
// what a status records as programmed serves, known or not.

import { documentDigest, isSameText } from '../../../language/wire/digest.ts'
import { withDescribedExamples } from '../../../language/without-examples.ts'
import type { NewCondition } from '../../resource/condition.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import type { ApiSpecificationResource } from '../../resource/resource.ts'
import type { Found } from '../../resource/secret-value.ts'
import type { LastGood } from './last-good.ts'
import { ComputedCache } from '../computed-cache.ts'
import type { Quota } from '../quotas/namespace-quotas.ts'
import {
  type Amounts,
  amountsOf,
  LARGEST_DOCUMENT,
  largerOf,
  NOTHING,
} from '../quotas/quota-amounts.ts'
import { QuotaRegistry, type QuotaClaim } from '../quotas/quota-registry.ts'
import type { ReadDocument } from './read-document.ts'
import { readVariables, type SecretVariables, variableInputs } from './read-variables.ts'

export interface DocumentFacts {
  readonly read: ReadDocument
  readonly cache: ResourceCache
  readonly lastGood: LastGood | undefined
}

export class DocumentQuotas {
  readonly #registry = new QuotaRegistry()
  readonly #claims = new ComputedCache<QuotaClaim>()

  put(key: string, resource: ApiSpecificationResource, facts: DocumentFacts): void {
    const { metadata, programmed, checked } = resource
    const { read, cache, lastGood } = facts
    const inputs = [
      read,
      checked,
      metadata.uid,
      metadata.generation,
      metadata.createdAt,
      lastGood?.document,
      programmed?.generation,
      programmed?.digest,
      ...variableInputs(resource, cache),
    ]
    this.#registry.put(this.#claims.get(key, inputs, () => claimOf(key, resource, facts)))
  }

  /** It is gone. */
  forget(key: string): void {
    this.#claims.forget(key)
    this.#registry.forget(key)
  }

  /** @returns keys of those that are refused and were not, or the other way round, or for another reason */
  settle(quotaOf: (namespace: string) => Quota, areQuotasSame: boolean): ReadonlySet<string> {
    return this.#registry.settle(quotaOf, areQuotasSame)
  }

  /** Undefined: there is room for it. The same object while the reason is the same. */
  refusalOf(
    key: string,
    { metadata: { namespace } }: ApiSpecificationResource,
  ): NewCondition<'Accepted'> | undefined {
    return this.#registry.refusalOf({ key, namespace })
  }

  usedBy(namespace: string): Amounts {
    return this.#registry.usedBy(namespace)
  }

  get hasRefusals(): boolean {
    return this.#registry.hasRefusals
  }
}

const claimOf = (
  key: string,
  resource: ApiSpecificationResource,
  { read, cache, lastGood }: DocumentFacts,
): QuotaClaim => {
  const variables = readVariables(resource, cache)
  const wanted =
    'document' in read
      ? amountsOf(read.document, 'found' in variables ? variables.found.variables : {})
      : undefined
  const claim = { key, resource, wanted, isEstimated: false }
  if (lastGood?.uid === resource.metadata.uid) {
    const { spec, variables: known } = lastGood.document
    return { ...claim, serving: amountsOf(spec, known) ?? LARGEST_DOCUMENT }
  }
  if (resource.programmed === undefined) return { ...claim, serving: undefined }
  const isKnown = wanted !== undefined && isProgrammed(resource, read, variables)
  return isKnown
    ? { ...claim, serving: wanted }
    : { ...claim, serving: estimateOf(wanted), isEstimated: true }
}

const estimateOf = (wanted: Amounts = NOTHING): Amounts => largerOf(LARGEST_DOCUMENT, wanted)

/** Whether data planes were last seen to hold what the resource says now. A ConfigMap changes without a generation. */
const isProgrammed = (
  { programmed, checked, metadata: { generation } }: ApiSpecificationResource,
  read: ReadDocument,
  variables: Found<SecretVariables>,
): boolean => {
  if (programmed === undefined || !('document' in read)) return false
  const isInline = 'spec' in checked && checked.spec.document !== undefined
  if (isInline) return programmed.generation === generation
  if (!('found' in variables)) return false
  const { versions } = variables.found
  const digest = documentDigest({
    spec: withDescribedExamples(read.document),
    secretVersions: versions,
  })
  return isSameText(digest, programmed.digest)
}
