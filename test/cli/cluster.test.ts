// Tests what `svc apply` and `svc status` decide without a cluster: the order of what is sent, a part that fails, how
// long is waited, and the words for what the API server says. The real API server is in
// test/component/kubernetes/svc.test.ts.

import { describe, expect, it } from '@jest/globals'
import { type AppliedObject, selectObjects } from '../../cli/cluster/applied-object.ts'
import { applyObjects, type ApplyResult } from '../../cli/cluster/apply-objects.ts'
import { applySummary } from '../../cli/cluster/apply-text.ts'
import { describeClusterFailure, failureLines, pointerOf } from '../../cli/cluster/failure-text.ts'
import { servedOf, waitUntilServed } from '../../cli/cluster/wait-until-served.ts'
import { standingOfGateway, standingOfOperator } from '../../cli/standing.ts'
import { standingText } from '../../cli/standing-text.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { ApiError, type ResourceType } from '../../operator/kubernetes/client/api.ts'
import { readRecordedStatus } from '../../operator/resource/recorded-status.ts'
import { collectResources } from '../../cli/validate/collect-resources.ts'
import { createManualClock } from '../support/manual-clock.ts'

const OURS = 'gateway.svc.dev/v1alpha1'

const manifest = (kind: string, name: string, more: object = {}): object => ({
  apiVersion: kind === 'Realm' || kind === 'ApiSpecification' ? OURS : 'v1',
  kind,
  metadata: { name, ...(kind !== 'Namespace' && { namespace: 'shop' }) },
  ...more,
})

const select = (...manifests: readonly object[]): readonly AppliedObject[] => {
  const text = manifests.map((each) => JSON.stringify(each)).join('\n---\n')
  return selectObjects(collectResources([{ name: 'a.yaml', text }]), null).objects
}

const titlesOf = (objects: readonly AppliedObject[]): readonly string[] =>
  objects.map(({ title }) => title)

describe('the objects that are sent', () => {
  it('come after those that they refer to', () => {
    const objects = select(
      manifest('ApiSpecification', 'orders', { spec: {} }),
      manifest('Realm', 'acme', { spec: {} }),
      manifest('ConfigMap', 'texts', { data: {} }),
      manifest('Namespace', 'shop'),
      manifest('Secret', 'keys', { data: {} }),
    )
    expect(titlesOf(objects)).toEqual([
      'Namespace shop',
      'Secret shop/keys',
      'ConfigMap shop/texts',
      'Realm shop/acme',
      'ApiSpecification shop/orders',
    ])
  })

  it('have nothing that only a server sets, and the namespace of the command', () => {
    const text = JSON.stringify({
      apiVersion: OURS,
      kind: 'Realm',
      metadata: {
        name: 'acme',
        labels: { a: 'b' },
        resourceVersion: '7',
        uid: 'u',
        managedFields: [],
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: { uri: 'com.acme' },
      status: { conditions: [] },
    })
    const collected = collectResources([{ name: 'a.yaml', text }], 'shop')
    const [object] = selectObjects(collected, null).objects
    expect(object?.object).toEqual({
      apiVersion: OURS,
      kind: 'Realm',
      metadata: { name: 'acme', namespace: 'shop', labels: { a: 'b' } },
      spec: { uri: 'com.acme' },
    })
  })
})

const notFound = new ApiError('not found', { status: 404, reason: 'NotFound' })
const away = new ApiError('realms: the API server is unreachable', { status: 0 })

/** An API server that holds nothing and takes everything but what `fails` names. */
const apiOf = (fails: (type: ResourceType, name: string) => ApiError | undefined) => {
  const sent: string[] = []
  return {
    sent,
    get: () => Promise.reject(notFound),
    apply: (type: ResourceType, { name }: { readonly name: string }, object: ValueMap) => {
      sent.push(`${type.kind} ${name}`)
      const error = fails(type, name)
      return error === undefined ? Promise.resolve(object) : Promise.reject(error)
    },
  }
}

describe('applying', () => {
  const objects = select(
    manifest('ApiSpecification', 'orders', { spec: {} }),
    manifest('Realm', 'acme', { spec: {} }),
    manifest('Secret', 'keys', { data: {} }),
  )
  const failRealms = (type: ResourceType): ApiError | undefined =>
    type.kind === 'Realm' ? away : undefined
  const resultsOf = (
    applied: readonly { readonly applyResult: ApplyResult }[],
  ): readonly string[] => applied.map(({ applyResult: { result } }) => result)

  it('begins nothing after a failure, and counts each', async () => {
    const api = apiOf(failRealms)
    const applied = await applyObjects(objects, { api, isForced: false, isDryRun: false })
    expect(resultsOf(applied)).toEqual(['created', 'failed', 'not tried'])
    expect(api.sent).toEqual(['Secret keys', 'Realm acme'])
    expect(applySummary({ applied })).toBe(
      '1 created, 0 configured, 0 unchanged, 1 failed, 1 not tried',
    )
  })

  it('asks about every object in a dry run', async () => {
    const api = apiOf(failRealms)
    const applied = await applyObjects(objects, { api, isForced: false, isDryRun: true })
    expect(resultsOf(applied)).toEqual(['created', 'failed', 'created'])
  })

  it('takes a namespace that is among the objects for one that will be there', async () => {
    const missing = new ApiError('namespaces "shop" not found', { status: 404 })
    const api = apiOf((type) => (type.kind === 'Namespace' ? undefined : missing))
    const run = { api, isForced: false, isDryRun: true }
    const [realm] = objects.filter(({ kind }) => kind === 'Realm')
    const alone = await applyObjects(realm === undefined ? [] : [realm], run)
    expect(resultsOf(alone)).toEqual(['failed'])
    const both = await applyObjects(
      select(manifest('Realm', 'acme', { spec: {} }), manifest('Namespace', 'shop')),
      run,
    )
    expect(both.map(({ applyResult }) => applyResult)).toMatchObject([
      { result: 'created', isUnchecked: false },
      { result: 'created', isUnchecked: true },
    ])
  })
})

describe('what the API server says', () => {
  const [object] = select(manifest('Realm', 'acme', { spec: { uri: 'com.acme' } }))
  const linesOf = (message: string, facts: ConstructorParameters<typeof ApiError>[1]) =>
    object === undefined ? [] : failureLines(object, new ApiError(message, facts))

  it.each<[string, string, ConstructorParameters<typeof ApiError>[1], readonly string[]]>([
    [
      'a conflict',
      'Apply failed with 1 conflict (HTTP 409)',
      {
        status: 409,
        causes: [
          {
            reason: 'FieldManagerConflict',
            field: '.spec.uri',
            message: 'conflict with "kubectl" using gateway.svc.dev/v1alpha1',
          },
        ],
      },
      [
        'a.yaml:1:1 Realm shop/acme: fields that another manager has set:',
        '  .spec.uri is set by kubectl',
      ],
    ],
    [
      'admission',
      'admission webhook "validate.gateway.svc.dev" denied the request: 1 problem (HTTP 422)',
      {
        status: 422,
        causes: [{ reason: 'invalid_value', field: '/spec/uri', message: 'bad uri' }],
      },
      [
        'a.yaml:1:1 Realm shop/acme: admission (validate.gateway.svc.dev) refuses it:',
        expect.stringMatching(/^ {2}a\.yaml:1:\d\d+ \/spec\/uri bad uri$/) as unknown as string,
      ],
    ],
    [
      'admission without causes',
      'admission webhook "other.dev" denied the request: first line\nsecond\u001b[2J line (HTTP 400)',
      { status: 400 },
      [
        'a.yaml:1:1 Realm shop/acme: admission (other.dev) refuses it:',
        '  first line',
        '  second [2J line',
      ],
    ],
    [
      'a missing namespace',
      'namespaces "shop" not found (HTTP 404)',
      { status: 404 },
      [
        'a.yaml:1:1 Realm shop/acme: there is no namespace shop: create it, or apply its manifest too',
      ],
    ],
    [
      'a kind that the cluster does not know',
      'realms: the server could not find the requested resource (HTTP 404)',
      { status: 404 },
      [
        'a.yaml:1:1 Realm shop/acme: this cluster does not know the kind Realm: install the chart, or crds/, first',
      ],
    ],
    [
      'a missing right',
      'realms.gateway.svc.dev "acme" is forbidden: User "a" cannot patch resource "realms" (HTTP 403)',
      { status: 403 },
      [
        'a.yaml:1:1 Realm shop/acme: realms.gateway.svc.dev "acme" is forbidden: User "a" cannot patch resource "realms"',
        '  Needed are get, create and patch of realms.gateway.svc.dev in namespace shop; the ClusterRole admin has them.',
      ],
    ],
  ])('is reported: %s', (_, message, facts, lines) => {
    expect(linesOf(message, facts)).toEqual(lines)
  })

  it('is of the cluster, and not of an object, where no access is granted', () => {
    const server = 'https://a.test'
    expect(describeClusterFailure(away, server)).toBe(
      'https://a.test: the API server is unreachable',
    )
    const stranger = new ApiError('Unauthorized (HTTP 401)', { status: 401 })
    expect(describeClusterFailure(stranger, server)).toContain('does not accept the credentials')
    expect(describeClusterFailure(notFound, server)).toBeUndefined()
  })

  it.each([
    ['', ''],
    ['/spec/a~1b', '/spec/a~1b'],
    ['spec.router.urls[0]', '/spec/router/urls/0'],
    ['.spec.uri', '/spec/uri'],
  ])('names the field %j as the pointer %j', (field, pointer) => {
    expect(pointerOf(field)).toBe(pointer)
  })
})

const ready = (
  status: string,
  generation: number,
  reason = 'Ready',
  more: object = {},
): ValueMap => ({
  status: {
    conditions: ['Ready', ...(reason === 'Invalid' ? ['Stalled'] : [])].map((type) => ({
      type,
      status: type === 'Stalled' ? 'True' : status,
      reason,
      message: 'so it is',
      observedGeneration: generation,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
    ...more,
  },
})

describe('waiting', () => {
  const [selected] = select(manifest('Realm', 'acme', { spec: { uri: 'com.acme' } }))
  const wait = async (responses: readonly (ValueMap | ApiError)[]) => {
    const clock = createManualClock()
    let asked = 0
    let waits = 0
    const api = {
      get: () => {
        const response = responses[Math.min(asked++, responses.length - 1)]
        return response instanceof ApiError || response === undefined
          ? Promise.reject(response ?? notFound)
          : Promise.resolve(response)
      },
    }
    if (selected === undefined) throw new Error('nothing is selected')
    const startMs = clock.now()
    const waiting = waitUntilServed([{ ...selected, generation: 2 }], {
      api,
      clock,
      timeoutMs: 60_000,
      onWait: () => (waits += 1),
    })
    let endMs = 0
    void waiting.then(() => (endMs = clock.now() - startMs))
    for (let i = 0; i < 400 && endMs === 0 && asked <= 400; i++) await clock.run(200)
    const [served] = [...(await waiting).values()]
    return { served, waits, endMs }
  }

  it('ends at once where it is served', async () => {
    expect(await wait([ready('True', 2)])).toMatchObject({ served: { served: true }, waits: 0 })
  })

  it('goes on while the operator has an older generation, or the API server does not answer', async () => {
    const found = await wait([
      ready('True', 1),
      away,
      ready('False', 2, 'Pending'),
      ready('True', 2),
    ])
    expect(found).toMatchObject({ served: { served: true }, waits: 1 })
  })

  it('ends early where nothing will change, but not at the first look', async () => {
    const again = await wait([ready('False', 2, 'Invalid'), ready('True', 2)])
    expect(again.served).toMatchObject({ served: true })
    const final = await wait([ready('False', 2, 'Invalid')])
    expect(final.served).toMatchObject({ served: false, reason: 'Invalid' })
    expect(final.endMs).toBeLessThan(10_000)
  })

  it('ends after the time-out with the last reason', async () => {
    const late = await wait([ready('False', 2, 'NoDataPlanes')])
    expect(late.served).toMatchObject({ served: false, isFinal: false, reason: 'NoDataPlanes' })
    expect(late.endMs).toBeGreaterThanOrEqual(60_000)
  })

  it.each<[string, ApiError, string]>([
    ['was deleted', notFound, 'it was deleted meanwhile'],
    ['may not be read', new ApiError('no', { status: 403 }), "its status can't be read: no"],
  ])('tells that it %s', async (_, error, message) => {
    expect((await wait([error])).served).toMatchObject({ served: false, message })
  })

  it('says that no operator has read a resource which has the status of its definition', () => {
    expect(servedOf(readRecordedStatus({ conditions: [] }), 1)).toMatchObject({
      reason: 'Pending',
      message: expect.stringContaining('no operator of its class'),
    })
  })
})

describe('how things stand', () => {
  it('is reported by an operator, with places in its files', () => {
    const [condition] = (ready('False', 1, 'Invalid')['status'] as { conditions: ValueMap[] })
      .conditions
    const standing = standingOfOperator({
      resources: [
        {
          kind: 'ApiSpecification',
          namespace: 'shop',
          name: 'orders',
          origin: { file: 'a.yaml', line: 1 },
          conditions: [condition ?? {}],
          errors: [{ path: '/spec/document/host', message: 'bad host', line: 7, column: 3 }],
        },
      ],
      dataPlanes: [{ name: 'gw', phase: 'unreachable', ready: false, message: 'refused' }],
    })
    const text = standing === undefined ? '' : standingText(standing)
    expect(text).toContain('ApiSpecification shop/orders is not served: Invalid\n')
    expect(text).toContain('  a.yaml:7:3 /spec/document/host bad host\n')
    expect(text).toContain('gateway gw: refused\n')
    expect(standingOfOperator({ leading: false })).toBeUndefined()
  })

  it('is reported by a gateway, with sessions that are not open', () => {
    const standing = standingOfGateway({
      bootId: 'b',
      version: 1,
      manager: null,
      epoch: 0,
      rootDigest: 'd',
      complete: true,
      specs: { 'com.acme.orders': { digest: 'd', managedBy: 'svc-operator', warnings: [] } },
      realms: {
        'com.acme': {
          digest: 'd',
          managedBy: null,
          sessions: [{ url: 'ws://a', state: 'refused', reason: 'no such realm' }],
        },
      },
    })
    const text = standingText(standing)
    expect(text).toMatch(/com\.acme\.orders .* yes +loaded by svc-operator/)
    expect(text).toContain(
      'warning: Realm com.acme /spec/router session to ws://a is refused: no such realm',
    )
  })
})
