// Finds the Realms that the quota of their namespace has no room for, given which of them serve. After a restart whatever
// an operator has let in keeps its place: nothing tells for certain which Realms gateways hold.

import { conditionOf, type NewCondition } from '../../resource/condition.ts'
import type { RealmResource } from '../../resource/resource.ts'
import type { GoodRealm } from './validate-realm-resource.ts'
import { ComputedCache } from '../computed-cache.ts'
import type { Quota } from '../quotas/namespace-quotas.ts'
import { type Amounts, ONE_REALM } from '../quotas/quota-amounts.ts'
import { QuotaRegistry, type QuotaClaim } from '../quotas/quota-registry.ts'
import { type QuotaUse, quotaRejection } from '../quotas/quota-rejection.ts'

export class RealmQuotas {
  readonly #registry = new QuotaRegistry()
  readonly #claims = new ComputedCache<QuotaClaim>()
  /** As it was when the Realm was first seen: what this operator writes since is no proof. */
  readonly #isInherited = new ComputedCache<boolean>()

  /** @returns keys of those that are refused and were not, or the other way round */
  settle(
    resources: ReadonlyMap<string, RealmResource>,
    lastGood: ReadonlyMap<string, GoodRealm>,
    quotaOf: (namespace: string) => Quota,
  ): ReadonlySet<string> {
    for (const [key, resource] of resources) {
      const { checked, metadata } = resource
      const { uid, createdAt } = metadata
      const isServing =
        this.#isInherited.get(key, [uid], () => wasLetIn(resource)) ||
        lastGood.get(key)?.uid === uid
      const isReadable = 'spec' in checked
      const claim = this.#claims.get(key, [uid, createdAt, isServing, isReadable], () => ({
        key,
        resource,
        isEstimated: false,
        wanted: isReadable ? ONE_REALM : undefined,
        serving: isServing ? ONE_REALM : undefined,
      }))
      this.#registry.put(claim)
    }
    for (const computed of [this.#claims, this.#isInherited]) computed.retain(resources)
    this.#registry.retain(resources)
    return this.#registry.settle(quotaOf, false)
  }

  /** Undefined: there is room for it. The same object while the reason is the same. */
  refusalOf(
    key: string,
    { metadata: { namespace } }: RealmResource,
  ): NewCondition<'Accepted'> | undefined {
    return this.#registry.refusalOf({ key, namespace })
  }

  /** On a Realm that is about to be stored. */
  previewRejection(
    key: string,
    resource: RealmResource,
    quotaUse: QuotaUse,
  ): NewCondition<'Accepted'> | undefined {
    if (!('spec' in resource.checked)) return undefined
    const { namespace } = resource.metadata
    const before = this.#registry.isCounted({ key, namespace }) ? ONE_REALM : undefined
    return quotaRejection(quotaUse, ONE_REALM, before)
  }

  usedBy(namespace: string): Amounts {
    return this.#registry.usedBy(namespace)
  }
}

/** An operator before us validated it, and refused it neither for its quota nor for the uri that another one has. */
const wasLetIn = ({ conditions = [] }: RealmResource): boolean => {
  const accepted = conditionOf(conditions, 'Accepted')
  return (
    accepted !== undefined &&
    accepted.reason !== 'QuotaExceeded' &&
    accepted.reason !== 'Conflicted'
  )
}
