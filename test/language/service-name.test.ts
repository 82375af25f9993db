import { describe, expect, it } from '@jest/globals'
import { readHostName } from '../../language/service-name.ts'

describe('readHostName', () => {
  it.each<[string, string, boolean]>([
    ['orders.shop', 'orders.shop', false],
    ['Orders.Shop', 'orders.shop', false],
    ['pod-0.orders.shop', 'pod-0.orders.shop', false],
    ['orders.shop.svc', 'orders.shop', true],
    ['pod-0.orders.shop.svc', 'pod-0.orders.shop', true],
    ['orders.shop.svc.cluster.local', 'orders.shop', true],
    ['orders.shop.SVC.cluster.local.', 'orders.shop', true],
    ['pod-0.orders.shop.svc.cluster.local', 'pod-0.orders.shop', true],
  ])('%s is a Service of the namespace shop', (host, service, isCertain) => {
    expect(readHostName(host, 'cluster.local')).toEqual({
      kind: 'service',
      namespace: 'shop',
      isCertain,
      fullName: `${service}.svc.cluster.local.`,
    })
  })

  it.each<[string, 'bare' | 'cluster' | 'other']>([
    ['orders', 'bare'],
    ['localhost', 'bare'],
    ['orders.', 'other'],
    ['orders.shop.', 'other'],
    ['orders.shop.svc.', 'other'],
    ['example.com.', 'other'],
    ['cluster.local', 'cluster'],
    ['svc.cluster.local', 'cluster'],
    ['shop.svc.cluster.local', 'cluster'],
    ['orders.shop.cluster.local', 'cluster'],
    ['10-0-0-1.shop.pod.cluster.local', 'cluster'],
    ['10-0-0-1.shop.pod', 'cluster'],
  ])('%s is %s', (host, kind) => {
    expect(readHostName(host, 'cluster.local')).toEqual({ kind })
  })

  it.each<[string, string]>([
    ['another domain below a name of ours', 'orders.shop.svc.cluster.local.evil.example'],
    ['a domain that ends like ours', 'orders.shop.svc.mycluster.local'],
    ['the domain of another cluster', 'orders.shop.svc.other.local'],
  ])('%s is no certain Service of the namespace', (_what, host) => {
    expect(readHostName(host, 'cluster.local')).toMatchObject({ isCertain: false })
    expect(readHostName(host, 'cluster.local')).not.toMatchObject({ namespace: 'shop' })
  })

  it('goes by the domain of the cluster', () => {
    expect(readHostName('a.b.svc.k8s.corp', 'k8s.corp')).toMatchObject({ namespace: 'b' })
  })
})
