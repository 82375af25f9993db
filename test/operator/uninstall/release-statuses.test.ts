// What an operator says of the resources that it lets go, and how many requests that takes.

import { describe, expect, it } from '@jest/globals'
import {
  ApiError,
  type KubernetesApi,
  type ListOptions,
} from '../../../operator/kubernetes/client/api.ts'
import {
  releaseLines,
  type ReleaseOptions,
  releaseStatuses,
} from '../../../operator/uninstall/release-statuses.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const OPERATOR = 'here/svc-operator'

const condition = (type: string, more: object = {}): object => ({
  type,
  status: 'True',
  reason: type,
  message: 'fine',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...more,
})

const object = (kind: string, name: string, status: object, namespace = 'shop'): ValueMap =>
  ({
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind,
    metadata: { namespace, name, uid: `uid-${name}`, resourceVersion: '7', generation: 1 },
    spec: {},
    status,
  }) as unknown as ValueMap

const written = (more: object = {}): object => ({
  operator: OPERATOR,
  conditions: [
    ...['Accepted', 'ResolvedRefs', 'Programmed', 'Ready', 'Stalled'].map((type) =>
      condition(type),
    ),
  ],
  host: 'a.test',
  serving: '1',
  gateways: '2/2',
  programmedGeneration: 1,
  programmedDigest: 'd',
  ...more,
})

/** In pages, as it is asked; each write takes a while. */
const aServer = (
  objects: readonly ValueMap[],
  faults: ReadonlyMap<string, ApiError> = new Map(),
) => {
  const clock = createManualClock()
  const applied: ValueMap[] = []
  const flying = { now: 0, most: 0 }
  const lists: ListOptions[] = []
  const api: Pick<KubernetesApi, 'list' | 'get' | 'apply'> = {
    list: (type, options) => {
      lists.push(options)
      const { limit = Infinity, namespace } = options
      const all = objects.filter(
        ({ kind, metadata }) =>
          kind === type.kind &&
          (namespace === undefined || (metadata as ValueMap)['namespace'] === namespace),
      )
      const start = Number(options.continue ?? 0)
      const end = start + limit
      const items = all.slice(start, end)
      const more = end < all.length ? { continue: String(end) } : {}
      return Promise.resolve({ resourceVersion: '9', items, ...more })
    },
    get: () => Promise.reject(new ApiError('not asked for', { status: 500 })),
    apply: (_type, { name }, body) => {
      flying.now += 1
      flying.most = Math.max(flying.most, flying.now)
      const { promise, resolve, reject } = Promise.withResolvers<ValueMap>()
      clock.after(200, () => {
        flying.now -= 1
        const fault = faults.get(name)
        if (fault !== undefined) reject(fault)
        else {
          applied.push(body)
          resolve({ metadata: { resourceVersion: '8' } })
        }
      })
      return promise
    },
  }
  const release = async (more: Partial<ReleaseOptions> = {}) => {
    const done = releaseStatuses({
      api,
      clock,
      operator: OPERATOR,
      namespaces: 'all',
      isMeant: () => true,
      message: (namespace) => `gone from ${namespace}`,
      ...more,
    })
    await clock.run(120_000)
    return done
  }
  return { release, applied, flying, lists }
}

describe('releasing', () => {
  it('a thousand: ten at a time, one request each, and one for each page', async () => {
    const { release, applied, flying, lists } = aServer(
      Array.from({ length: 1_000 }, (_, i) => object('ApiSpecification', `d${i}`, written())),
    )
    expect(await release()).toEqual({ released: 1_000, failed: 0, errors: [], isCut: false })
    expect([applied.length, flying.most]).toEqual([1_000, 10])
    // The Realms too.
    expect(lists).toHaveLength(51)
  })

  it('ends when its time is over, and says so: what has to go afterwards needs some as well', async () => {
    const { release, applied } = aServer(
      Array.from({ length: 1_000 }, (_, i) => object('ApiSpecification', `d${i}`, written())),
    )
    const released = await release({ withinMs: 1_900 })
    expect(released).toEqual({ released: 100, failed: 0, errors: [], isCut: true })
    expect(applied).toHaveLength(100)
    expect(releaseLines(released).at(-1)).toBe(
      'left      the status of the others: the time was up',
    )
  })

  it('is not cut short by a time that is enough', async () => {
    const { release } = aServer([object('ApiSpecification', 'a', written())])
    expect(await release({ withinMs: 5_000 })).toMatchObject({ released: 1, isCut: false })
  })

  it('says that no operator stands behind it, and keeps what the next one needs', async () => {
    const { release, applied } = aServer([
      object('ApiSpecification', 'a', written()),
      object('Realm', 'r', {
        operator: OPERATOR,
        conditions: [condition('Accepted'), condition('Ready')],
      }),
    ])
    await release()
    expect(applied).toMatchObject([
      {
        metadata: { name: 'a', resourceVersion: '7' },
        status: {
          operator: OPERATOR,
          host: 'a.test',
          serving: '–',
          gateways: '–',
          programmedGeneration: 1,
          programmedDigest: 'd',
          conditions: [
            { type: 'Accepted', status: 'True' },
            { type: 'ResolvedRefs', status: 'True' },
            {
              type: 'Programmed',
              status: 'Unknown',
              reason: 'Released',
              message: 'gone from shop',
            },
            { type: 'Ready', status: 'Unknown', reason: 'Released', message: 'gone from shop' },
          ],
        },
      },
      {
        metadata: { name: 'r' },
        status: { conditions: [{ type: 'Accepted' }, { type: 'Ready', reason: 'Released' }] },
      },
    ])
  })

  it.each<[string, object]>([
    ['what another operator has written', { operator: 'there/svc-operator' }],
    [
      'what says so already',
      { conditions: [condition('Ready', { status: 'Unknown', reason: 'Released' })] },
    ],
    ['what does not say whose it is', { operator: '' }],
  ])('leaves alone %s', async (_title, more) => {
    const { release, applied } = aServer([object('ApiSpecification', 'a', written(more))])
    expect((await release()).released).toBe(0)
    expect(applied).toEqual([])
  })

  it('of some namespaces: the others are not touched', async () => {
    const { release, applied } = aServer(
      ['shop', 'kept'].map((namespace) => object('ApiSpecification', 'a', written(), namespace)),
    )
    await release({ isMeant: (namespace) => namespace !== 'kept' })
    expect(applied).toMatchObject([{ metadata: { namespace: 'shop' } }])
  })

  it('tells what could not be written, and writes the others', async () => {
    const objects = ['a', 'gone', 'b'].map((name) => object('ApiSpecification', name, written()))
    const { release, applied } = aServer(
      objects,
      new Map([
        ['a', new ApiError('forbidden', { status: 403 })],
        ['gone', new ApiError('not found', { status: 404 })],
      ]),
    )
    expect(await release()).toEqual({ released: 1, failed: 1, errors: ['forbidden'], isCut: false })
    expect(applied).toHaveLength(1)
  })
})
