import { describe, expect, it } from '@jest/globals'
import { TYPES } from '../../../operator/kubernetes/client/api.ts'
import { ServiceWatches } from '../../../operator/source/service-watches.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createFakeApi } from '../kubernetes/fake-api.ts'
import { createFakeWatches } from '../kubernetes/fake-watches.ts'

const service = (spec: ValueMap = {}): ValueMap => ({
  metadata: { namespace: 'shop', name: 'orders', uid: 'u', resourceVersion: '1' },
  spec: { clusterIPs: ['10.96.0.5'], selector: { app: 'a' }, ports: [{ port: 80 }], ...spec },
})

const slice = (...addresses: string[]): ValueMap => ({
  metadata: { namespace: 'shop', name: 'orders-1', uid: 's', resourceVersion: '1' },
  addressType: 'IPv4',
  ports: [{ port: 8080 }],
  endpoints: addresses.map((address) => ({
    addresses: [address],
    targetRef: { kind: 'Pod', namespace: 'shop' },
  })),
})

const told = (...addresses: string[]) => ({
  service: 'shop/orders',
  addresses: ['10.96.0.5'],
  ports: [
    addresses.length === 0
      ? { port: 80, targets: [], isEmpty: true }
      : { port: 80, targets: [{ port: 8080, addresses }] },
  ],
})

const DELETED = { service: 'shop/orders', addresses: ['10.96.0.5'], ports: [], isAbsent: true }

const start = () => {
  const watches = createFakeWatches()
  let changes = 0
  const source = new ServiceWatches({
    api: createFakeApi().api,
    clock: createManualClock(),
    log: createSilentLog(),
    createReflector: watches.createReflector,
  })
  source.start(() => changes++)
  source.want(new Set(['shop/orders']))
  return {
    source,
    watches,
    services: watches.of(TYPES.services, { namespace: 'shop', name: 'orders' }),
    slices: () => watches.of(TYPES.endpointSlices),
    answer: () => source.of('shop/orders'),
    changes: () => changes,
  }
}

describe('a Service that is wanted', () => {
  it('is watched by its name, and its slices by the label that names it', () => {
    const { services, slices, answer, changes } = start()
    expect(answer()).toBe('unknown')
    services.sync(service())
    expect(slices().options).toMatchObject({
      namespace: 'shop',
      labelSelector: 'kubernetes.io/service-name=orders',
    })
    expect([answer(), changes()]).toEqual(['unknown', 0])
    slices().sync(slice('10.0.0.1'))
    expect([answer(), changes()]).toEqual([told('10.0.0.1'), 1])
    slices().put(slice('10.0.0.1', '10.0.0.2'))
    expect([answer(), changes()]).toEqual([told('10.0.0.1', '10.0.0.2'), 2])
    slices().remove('shop/orders-1')
    expect([answer(), changes()]).toEqual([told(), 3])
  })

  it('is the same object while nothing changes that anybody reads', () => {
    const { services, slices, answer, changes } = start()
    services.sync(service())
    slices().sync(slice('10.0.0.1'))
    const before = answer()
    services.put(service({ externalTrafficPolicy: 'Cluster' }))
    expect([answer() === before, changes()]).toEqual([true, 1])
  })

  it('has its own address while it is not there, or for kube-proxy, and its slices are not watched', () => {
    const { services, watches, slices, answer } = start()
    services.sync()
    expect(answer()).toBe('absent')
    services.put(service())
    slices().sync(slice('10.0.0.1'))
    expect(answer()).toEqual(told('10.0.0.1'))
    services.put(service({ sessionAffinity: 'ClientIP' }))
    expect([answer(), watches.open.length]).toEqual(['own address', 1])
    services.put(service())
    // Those of before are not believed.
    slices().sync(slice('10.0.0.2'))
    expect(answer()).toEqual(told('10.0.0.2'))
    services.put(service({ sessionAffinity: 'ClientIP' }))
    services.remove('shop/orders')
    expect(answer()).toBe('absent')
  })

  it('is gone once it was deleted, at the addresses that it had, and back with those and its own', () => {
    const { services, watches, slices, answer, changes } = start()
    services.sync(service())
    slices().sync(slice('10.0.0.1'))
    services.remove('shop/orders')
    expect([answer(), watches.open.length, changes()]).toEqual([DELETED, 1, 2])
    // Names may resolve to the address of before for a while.
    services.put(service({ clusterIPs: ['10.96.0.9'] }))
    slices().sync(slice('10.0.0.2'))
    expect(answer()).toEqual({ ...told('10.0.0.2'), addresses: ['10.96.0.9', '10.96.0.5'] })
    services.remove('shop/orders')
    expect(answer()).toEqual({ ...DELETED, addresses: ['10.96.0.9'] })
    // Of what may not be read any more nothing is known.
    services.fail(403)
    expect(answer()).toBe('own address')
    services.heal().sync()
    expect(answer()).toBe('absent')
  })

  it.each([403, 404])(
    'has its own address where the API answers %d, and its Pods again after',
    (status) => {
      const { services, slices, answer } = start()
      services.fail(status)
      expect(answer()).toBe('own address')
      services.heal().sync(service())
      slices().fail(status)
      expect(answer()).toBe('own address')
      slices().heal().sync(slice('10.0.0.1'))
      expect(answer()).toEqual(told('10.0.0.1'))
    },
  )

  it('stays as it was while the API server is away', () => {
    const { services, slices, answer } = start()
    services.sync(service())
    slices().sync(slice('10.0.0.1'))
    services.fail(0)
    slices().fail(500)
    expect(answer()).toEqual(told('10.0.0.1'))
  })

  it('is watched no longer than it is wanted', async () => {
    const { source, services, slices, watches, answer, changes } = start()
    services.sync(service())
    slices().sync(slice('10.0.0.1'))
    source.want(new Set(['shop/other']))
    expect(answer()).toBe('unknown')
    expect(watches.open.map(({ options }) => options.fieldSelector)).toEqual([
      'metadata.name=other',
    ])
    await source.stop()
    expect([watches.open, changes()]).toEqual([[], 1])
    source.start(() => undefined)
    source.want(new Set(['shop/orders']))
    expect(watches.open).toHaveLength(1)
  })
})
