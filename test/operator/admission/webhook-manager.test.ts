// What stands in the API server of our webhook, on a fake API and a clock in our hand.

import { describe, expect, it } from '@jest/globals'
import { webhookConfiguration } from '../../../operator/admission/webhook-configuration.ts'
import { WebhookManager } from '../../../operator/admission/webhook-manager.ts'
import {
  ApiError,
  type KubernetesApi,
  type ResourceType,
  TYPES,
} from '../../../operator/kubernetes/client/api.ts'
import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import { createLog } from '../../../telemetry/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'

const target = { service: { namespace: 'system', name: 'hook' } }
const MINUTE_MS = 60_000

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const VALIDATING = TYPES.validatingWebhookConfigurations

interface WorldOptions {
  readonly object?: ValueMap
  readonly bundle?: string
  readonly type?: ResourceType
}

const aWorld = (options: WorldOptions = {}) => {
  const clock = createManualClock()
  const calls: string[] = []
  const lines: string[] = []
  const state: {
    object: ValueMap | undefined
    bundle: string | undefined
    reviewKey: string | undefined
    fault: ApiError | undefined
    made: { readonly namespaces: readonly string[] | 'all' }
  } = {
    made: { namespaces: 'all' },
    object: options.object,
    bundle: options.bundle,
    reviewKey: undefined,
    fault: undefined,
  }
  const call = (name: string): void => {
    calls.push(name)
    if (state.fault !== undefined) throw state.fault
  }
  const refused = (): never => {
    throw new Error('not asked for in these tests')
  }
  const api: KubernetesApi = {
    get: async () => {
      await settled()
      call('get')
      if (state.object === undefined) throw new ApiError('none', { status: 404 })
      return state.object
    },
    apply: async (_type, _name, object) => {
      await settled()
      call('apply')
      return (state.object = object)
    },
    patch: async (_type, _name, patch) => {
      await settled()
      call('patch')
      const metadata = {
        ...(state.object?.['metadata'] as object),
        ...(patch['metadata'] as object),
      }
      return (state.object = { ...state.object, ...patch, metadata })
    },
    list: refused,
    watch: refused,
    create: refused,
    replace: refused,
    delete: refused,
    onReturn: () => () => undefined,
    close: () => Promise.resolve(),
  }
  const keeper = new WebhookManager({
    api,
    clock,
    name: 'svc-gateway',
    type: options.type ?? VALIDATING,
    make: (caBundle, reviewKey) =>
      webhookConfiguration({ name: 'svc-gateway', target, caBundle, reviewKey, ...state.made }),
    caBundle: () => state.bundle,
    reviewKey: () => state.reviewKey,
    log: createLog({
      level: 'debug',
      name: 'test',
      destination: { write: (line) => lines.push(line) },
    }),
  })
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i += 1) await settled()
  }
  const bundles = (): readonly unknown[] => {
    const webhooks = state.object?.['webhooks']
    if (!Array.isArray(webhooks)) return []
    return webhooks.map((webhook: unknown) => {
      const config = isMap(webhook) ? webhook['clientConfig'] : undefined
      return isMap(config) ? config['caBundle'] : undefined
    })
  }
  return { keeper, state, clock, calls, lines, settle, bundles }
}

describe('the configuration', () => {
  it('can never stand in the way', () => {
    const object = webhookConfiguration({ name: 'a', target, caBundle: 'PEM', namespaces: 'all' })
    expect(object).toMatchObject({
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'a' },
      webhooks: [
        {
          name: 'validate.gateway.svc.dev',
          failurePolicy: 'Ignore',
          timeoutSeconds: 3,
          sideEffects: 'None',
          matchPolicy: 'Equivalent',
          clientConfig: {
            caBundle: base64('PEM'),
            service: { namespace: 'system', name: 'hook', port: 443, path: '/validate' },
          },
          rules: [
            {
              apiGroups: ['gateway.svc.dev'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['apispecifications', 'realms'],
            },
          ],
        },
        {
          name: 'delete-realm.gateway.svc.dev',
          failurePolicy: 'Ignore',
          timeoutSeconds: 1,
          matchConditions: [{ expression: expect.stringContaining('namespace-controller') }],
          rules: [{ operations: ['DELETE'], resources: ['realms'] }],
        },
      ],
    })
    expect(JSON.stringify(object)).not.toContain('namespaceSelector')
  })

  it('may be for some namespaces, and lead out of the cluster', () => {
    const object = webhookConfiguration({
      name: 'a',
      target: { url: 'https://127.0.0.1:9/' },
      caBundle: '',
      namespaces: ['shop'],
    })
    const webhook = {
      clientConfig: { url: 'https://127.0.0.1:9/validate' },
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', values: ['shop'] }],
      },
    }
    expect(object['webhooks']).toMatchObject([webhook, webhook])
  })
})

describe('the keeper', () => {
  it('makes it once the CAs are known, and only while it leads', async () => {
    const { keeper, state, clock, calls, settle, bundles } = aWorld()
    keeper.check()
    await settle()
    expect(calls).toEqual([])
    keeper.lead()
    await settle()
    expect(calls).toEqual([])
    state.bundle = 'one'
    keeper.check()
    await settle()
    expect(calls).toEqual(['get', 'apply'])
    expect(bundles()).toEqual([base64('one'), base64('one')])
    clock.advance(MINUTE_MS)
    await settle()
    expect(calls.slice(2)).toEqual(['get'])
    keeper.follow()
    clock.advance(MINUTE_MS)
    keeper.check()
    await settle()
    expect(calls.slice(3)).toEqual([])
    await keeper.stop()
  })

  it('introduces itself before it leads: once, and only where there is none', async () => {
    const { keeper, state, clock, calls, settle } = aWorld()
    keeper.introduce()
    await settle()
    expect(calls).toEqual([])
    expect(keeper.isIntroduced).toBe(false)
    state.bundle = 'PEM'
    clock.advance(1_000)
    await settle()
    expect(calls).toEqual(['get', 'apply'])
    expect(keeper.isIntroduced).toBe(true)
    // As when everything of ours is removed: who only stands by does not bring it back.
    state.object = undefined
    clock.advance(10 * MINUTE_MS)
    keeper.introduce()
    keeper.check()
    await settle()
    expect(calls).toEqual(['get', 'apply'])
  })

  it.each([
    ['stands there', { object: { metadata: {} } }, undefined, true],
    ['may not be read', {}, new ApiError('no', { status: 403 }), true],
    ['is not to be had', {}, new ApiError('no', { status: 0 }), false],
  ])('where it %s it introduces nothing', async (_, world, fault, isIntroduced) => {
    const { keeper, state, calls, settle } = aWorld({ bundle: 'PEM', ...world })
    state.fault = fault
    keeper.introduce()
    await settle()
    expect(calls).toEqual(['get'])
    expect(keeper.isIntroduced).toBe(isIntroduced)
    await keeper.stop()
  })

  it('recreates it where it would make another, and not for its CAs', async () => {
    const { keeper, state, calls, settle } = aWorld({ bundle: 'one' })
    keeper.lead()
    await settle()
    state.bundle = 'two'
    keeper.check()
    await settle()
    state.made = { namespaces: ['shop'] }
    keeper.check()
    keeper.check()
    await settle()
    expect(calls).toEqual(['get', 'apply', 'get', 'patch', 'get', 'apply', 'get'])
    expect(JSON.stringify(state.object)).toContain('"values":["shop"]')
    await keeper.stop()
  })

  it('follows the key of reviews as it does the CAs: what people have changed stays', async () => {
    const { keeper, state, calls, lines, settle } = aWorld({ bundle: 'one' })
    const paths = (): readonly unknown[] =>
      [...JSON.stringify(state.object).matchAll(/"path":"([^"]*)"/g)].map(([, path]) => path)
    const [old, fresh] = ['0a'.repeat(16), '1b'.repeat(16)]
    state.reviewKey = old
    keeper.lead()
    await settle()
    expect(paths()).toEqual([`/validate/${old}`, `/validate/${old}`])
    const text = JSON.stringify(state.object)
    state.object = JSON.parse(text.replace('"Ignore"', '"Fail"')) as ValueMap
    state.reviewKey = fresh
    keeper.check()
    await settle()
    expect(calls).toEqual(['get', 'apply', 'get', 'patch'])
    expect(paths()).toEqual([`/validate/${fresh}`, `/validate/${fresh}`])
    expect(JSON.stringify(state.object)).toContain('"Fail"')
    expect(keeper.drift).toBeUndefined()
    expect(lines.join('')).not.toContain(old)
    await keeper.stop()
  })

  it('changes nothing but the CAs of one that is there', async () => {
    const own = { name: 'a', failurePolicy: 'Fail', clientConfig: { url: 'https://x' } }
    const object = { metadata: { resourceVersion: '7' }, webhooks: [own, { ...own, name: 'b' }] }
    const { keeper, state, settle } = aWorld({ object, bundle: 'two' })
    keeper.lead()
    await settle()
    const clientConfig = { url: 'https://x', caBundle: base64('two') }
    expect(state.object).toEqual({
      metadata: { resourceVersion: '7' },
      webhooks: [
        { ...own, clientConfig },
        { ...own, name: 'b', clientConfig },
      ],
    })
    await keeper.stop()
  })

  it.each<[string, (text: string) => string, RegExp]>([
    [
      'its target',
      (text) => text.replace('"name":"hook"', '"name":"other"'),
      /calls system\/other:443\/validate instead of system\/hook:443\/validate/,
    ],
    [
      'its namespaces',
      (text) =>
        text.replace(
          '"timeoutSeconds"',
          '"namespaceSelector":{"matchLabels":{"a":"b"}},"timeoutSeconds"',
        ),
      /has another namespaceSelector/,
    ],
    [
      'its webhook',
      (text) => text.replace('"name":"validate.', '"name":"mine.'),
      /it has no validate/,
    ],
  ])('leaves what somebody makes of %s, and tells it once', async (_name, edit, words) => {
    const { keeper, state, clock, calls, lines, settle } = aWorld({ bundle: 'one' })
    keeper.lead()
    await settle()
    // As the API server writes it where there is none.
    state.object = JSON.parse(
      JSON.stringify(state.object).replace(
        '"timeoutSeconds"',
        '"namespaceSelector":{},"timeoutSeconds"',
      ),
    ) as ValueMap
    const good = JSON.stringify(state.object)
    clock.advance(MINUTE_MS)
    await settle()
    expect(keeper.drift).toBeUndefined()
    const plain = good.replace('"namespaceSelector":{},', '')
    state.object = JSON.parse(edit(plain)) as ValueMap
    for (let minute = 0; minute < 3; minute += 1) {
      clock.advance(MINUTE_MS)
      await settle()
    }
    expect(keeper.drift).toMatch(words)
    expect([keeper.failure, calls.filter((call) => call !== 'get')]).toEqual([undefined, ['apply']])
    expect(JSON.stringify(state.object)).toBe(edit(plain))
    expect(lines.filter((line) => line.includes('somebody else'))).toHaveLength(1)
    state.object = undefined
    clock.advance(MINUTE_MS)
    await settle()
    expect(keeper.drift).toBeUndefined()
    expect(calls.at(-1)).toBe('apply')
    await keeper.stop()
  })

  it('takes it back from another operator once a minute at most, and tells it once', async () => {
    const { keeper, state, clock, calls, lines, settle } = aWorld({ bundle: 'one' })
    keeper.lead()
    await settle()
    const other = JSON.parse(
      JSON.stringify(state.object)
        .replace(/"gateway.svc.dev\/made-from":"[^"]*"/, '"gateway.svc.dev/made-from":"x"')
        .replace('"namespace":"system"', '"namespace":"elsewhere"'),
    ) as ValueMap
    for (let minute = 0; minute < 3; minute += 1) {
      for (let again = 0; again < 5; again += 1) {
        state.object = other
        keeper.check()
        await settle()
      }
      clock.advance(MINUTE_MS)
      await settle()
    }
    expect(calls.filter((call) => call !== 'get')).toEqual(Array.from({ length: 4 }, () => 'apply'))
    expect(keeper.drift).toContain('which points it to elsewhere/hook:443/validate')
    expect(lines.filter((line) => line.includes('somebody else'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('was registered'))).toHaveLength(1)
    clock.advance(MINUTE_MS)
    await settle()
    expect(keeper.drift).toBeUndefined()
    await keeper.stop()
  })

  it('names the configuration that it may not write', async () => {
    const { keeper, state, settle } = aWorld({
      bundle: 'one',
      type: TYPES.mutatingWebhookConfigurations,
    })
    state.fault = new ApiError('no', { status: 403 })
    keeper.lead()
    await settle()
    expect(keeper.failure).toContain('create MutatingWebhookConfiguration svc-gateway')
    await keeper.stop()
  })

  it.each<[number, RegExp]>([
    [403, /may not get, patch or/],
    [409, /^no$/],
    [0, /^no$/],
  ])('tells of a %i, and tries again', async (status, words) => {
    const { keeper, state, clock, settle, bundles } = aWorld({ bundle: 'one' })
    state.fault = new ApiError('no', { status })
    keeper.lead()
    await settle()
    expect(keeper.failure).toMatch(words)
    state.fault = undefined
    clock.advance(1000)
    await settle()
    expect(keeper.failure).toBeUndefined()
    expect(bundles()).toEqual([base64('one'), base64('one')])
    await keeper.stop()
    expect(clock.pending).toBe(0)
  })
})
