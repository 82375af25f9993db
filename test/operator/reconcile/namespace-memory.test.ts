// What is remembered of namespaces: the same while they have resources, nothing once they have gone.

import { describe, expect, it } from '@jest/globals'
import { DestinationPolicies } from '../../../operator/reconcile/claims/destination-policies.ts'
import { HostGrants } from '../../../operator/reconcile/claims/host-grants.ts'
import { NamespaceQuotas } from '../../../operator/reconcile/quotas/namespace-quotas.ts'
import { NOTHING } from '../../../operator/reconcile/quotas/quota-amounts.ts'
import { cacheOf, resourceOf } from '../../support/resources.ts'

const annotated = (name: string) =>
  resourceOf(
    'Namespace',
    name,
    {},
    {
      annotations: {
        'gateway.svc.dev/hosts': '*',
        'gateway.svc.dev/quota': 'realms=2',
        'gateway.svc.dev/destinations': 'own',
      },
    },
  )

describe('of a namespace', () => {
  it.each([
    ['hosts', new HostGrants('all')],
    ['quotas', new NamespaceQuotas(NOTHING)],
    ['destinations', new DestinationPolicies({ destinations: 'any', clusterDomain: 'c' })],
  ])('%s', (_name, memory) => {
    const cache = cacheOf([annotated('shop'), annotated('constructor')])
    const [shop, other] = [memory.of('shop', cache), memory.of('constructor', cache)]
    expect([shop, other]).toEqual([expect.anything(), expect.anything()])
    memory.retain(new Set(['shop']))
    expect(memory.of('shop', cache)).toBe(shop)
    expect(memory.of('constructor', cache)).not.toBe(other)
  })
})
