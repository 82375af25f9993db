// What becomes of pods, as tables; and of any pod: a second pass changes nothing, and nothing of its own is touched.

import { mapAt, mapsAt } from '../../../language/expression/members.ts'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { inject, type Injection } from '../../../operator/admission/inject.ts'
import {
  readSidecarSettings,
  type SidecarSettings,
} from '../../../operator/admission/inject-settings.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { applyPatch } from '../../support/json-patch.ts'

const settingsOf = (more: object = {}): SidecarSettings => {
  const read = readSidecarSettings({ image: 'gateway:1', ...more })
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return read.settings
}

const DRAIN_DELAY = 'SVC_GATEWAY_DRAIN_DELAY_SECONDS'

const options = { settings: settingsOf(), manager: 'svc-operator' }

const aPod = (more: { readonly metadata?: object; readonly spec?: object } = {}): ValueMap => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'app', labels: { app: 'shop' }, ...more.metadata },
  spec: {
    containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 8080 }] }],
    ...more.spec,
  },
})

const annotated = (annotations: Readonly<Record<string, string>>): ValueMap =>
  aPod({
    metadata: {
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, value]) => [`gateway.svc.dev/${name}`, value]),
      ),
    },
  })

interface Injected {
  readonly metadata: { readonly labels: object }
  readonly spec: {
    readonly initContainers: readonly {
      readonly name: string
      readonly args: readonly string[]
      readonly readinessProbe: { readonly httpGet: { readonly path: string } }
      readonly resources: object
      readonly ports: readonly { readonly containerPort: number }[]
      readonly env?: readonly object[]
    }[]
    readonly containers: readonly object[]
    readonly volumes: readonly { readonly name: string }[]
    readonly terminationGracePeriodSeconds: number
  }
}

const injected = (pod: ValueMap, more = options): Injected => {
  const injection = inject(pod, more)
  if (injection.injection !== 'patch') throw new Error(JSON.stringify(injection))
  return applyPatch(pod, injection.patch) as unknown as Injected
}

const gatewayOf = (pod: ValueMap, more = options) => {
  const [gateway] = injected(pod, more).spec.initContainers
  if (gateway === undefined) throw new Error('no gateway')
  return gateway
}

const warningsOf = (injection: Injection): readonly string[] =>
  injection.injection === 'patch' ? injection.warnings : []

describe('a pod', () => {
  it('gets the gateway first, as a native sidecar', () => {
    const first = { name: 'migrate', image: 'm' }
    const pod = injected(aPod({ spec: { initContainers: [first], volumes: [{ name: 'data' }] } }))
    expect(pod.metadata.labels).toEqual({ app: 'shop', 'gateway.svc.dev/data-plane': 'sidecar' })
    expect(pod.spec.initContainers).toMatchObject([
      {
        name: 'svc-gateway',
        image: 'gateway:1',
        restartPolicy: 'Always',
        command: ['svc-gateway'],
        startupProbe: { httpGet: { path: '/ping', port: 'health' } },
        readinessProbe: { httpGet: { path: '/ready?wait=4', port: 'health' } },
        livenessProbe: { httpGet: { path: '/ping', port: 'health' } },
        lifecycle: { preStop: { exec: { command: ['svc-gateway', 'drain'] } } },
        securityContext: { runAsNonRoot: true, readOnlyRootFilesystem: true },
      },
      first,
    ])
    expect(pod.spec.volumes).toEqual([
      { name: 'data' },
      {
        name: 'svc-gateway-management',
        secret: { secretName: 'svc-gateway-management-tls', optional: true },
      },
      { name: 'svc-gateway-state', emptyDir: { medium: 'Memory' } },
    ])
    expect(gatewayOf(aPod()).args).toEqual([
      '--public=:18080',
      '--management=:18081',
      '--health=:18082',
      '--managed=svc-operator',
      '--management-tls-cert=/etc/svc-gateway/management/tls.crt',
      '--management-tls-key=/etc/svc-gateway/management/tls.key',
      '--management-client-ca=/etc/svc-gateway/management/ca.crt',
      '--management-client-name=svc-operator',
      '--state-dir=/var/lib/svc-gateway',
      '--ready-from-snapshot=60',
    ])
  })

  it('is wired by annotations', () => {
    const pod = annotated({
      port: '9000',
      'app-port': '8080',
      ready: 'started',
      'memory-limit': '64Mi',
      'cpu-request': '2',
    })
    expect(gatewayOf(pod)).toMatchObject({
      args: expect.arrayContaining(['--public=:9000', '--upstream-local-ports=8080']),
      readinessProbe: { httpGet: { path: '/ping' } },
      resources: { requests: { cpu: '2', memory: '64Mi' }, limits: { memory: '64Mi' } },
    })
    expect(warningsOf(inject(pod, options))).toEqual([])
  })

  it.each([
    ['app-port', '8090', 'no container declares port 8090'],
    ['ready', 'soon', 'it must be started'],
    ['cpu-limit', 'much', 'it must be a quantity such as 500m'],
    ['memory-request', '-1', 'the default resources are used'],
  ])('with annotation %s: %s is warned of', (name, value, words) => {
    const injection = inject(annotated({ [name]: value }), options)
    expect(warningsOf(injection)).toEqual([expect.stringContaining(words)])
  })

  it.each<[string, ValueMap, string]>([
    ['with the network of its node', aPod({ spec: { hostNetwork: true } }), 'hostNetwork'],
    ['for Windows', aPod({ spec: { os: { name: 'windows' } } }), 'Linux'],
    [
      'that is a gateway',
      aPod({ metadata: { labels: { 'gateway.svc.dev/data-plane': 'shared' } } }),
      'itself',
    ],
    [
      'with a container of the name',
      aPod({ spec: { containers: [{ name: 'svc-gateway' }] } }),
      'rename',
    ],
    [
      'with an init container of the name',
      aPod({ spec: { initContainers: [{ name: 'svc-gateway' }] } }),
      'restartPolicy',
    ],
    [
      'with a volume of the name',
      aPod({ spec: { volumes: [{ name: 'svc-gateway-state' }] } }),
      'rename',
    ],
    [
      'that has its port',
      aPod({ spec: { containers: [{ name: 'a', ports: [{ containerPort: 18080 }] }] } }),
      'gateway.svc.dev/port',
    ],
    [
      'that has its management port',
      aPod({ spec: { containers: [{ name: 'a', ports: [{ containerPort: 18081 }] }] } }),
      'elsewhere',
    ],
    ['with a port for root', annotated({ port: '80' }), '1024'],
    ['with no port', annotated({ port: 'http' }), '1024'],
    ['with a port that is taken', annotated({ port: '18082' }), 'probes'],
    [
      'whose application is the gateway',
      annotated({ 'app-port': '18080' }),
      'gateway.svc.dev/port',
    ],
    ['with a name for a port', annotated({ 'app-port': '__proto__' }), '8080'],
    ['that is none', {}, 'not a Pod'],
  ])('%s is left as it is, with a reason', (_, pod, words) => {
    expect(inject(pod, options)).toEqual({
      injection: 'refused',
      reason: expect.stringContaining(words),
    })
  })

  it.each<[string, ValueMap]>([
    ['opted out', aPod({ metadata: { labels: { 'gateway.svc.dev/inject': 'false' } } })],
    [
      'of a node itself',
      aPod({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
    ],
  ])('%s is left as it is', (_, pod) => {
    expect(inject(pod, options)).toEqual({ injection: 'none' })
  })

  it.each(['shareProcessNamespace', 'hostPID'])(
    'whose processes are shared (%s) tells drain which one is the gateway',
    (name) => {
      expect(gatewayOf(aPod({ spec: { [name]: true } })).env).toContainEqual({
        name: 'SVC_GATEWAY_PID_FILE',
        value: '/var/lib/svc-gateway/gateway.pid',
      })
    },
  )

  it.each<[string, object, ValueMap, string | undefined]>([
    ['2 s before its application ends', {}, aPod(), '3'],
    ['2 s before a longer pause is over', { appPreStopSeconds: 20 }, aPod(), '18'],
    ['at once almost, in a short pause', { appPreStopSeconds: 1 }, aPod(), '1'],
    ['as usual, where there is no pause', { appPreStopSeconds: 0 }, aPod(), undefined],
    ['as usual, where none is wanted', {}, annotated({ 'app-pre-stop': 'false' }), undefined],
    ['when the settings say', { env: [{ name: DRAIN_DELAY, value: '9' }] }, aPod(), '9'],
  ])('lets its clients go %s', (_, settings, pod, seconds) => {
    const { env = [] } = gatewayOf(pod, { ...options, settings: settingsOf(settings) })
    const given = seconds === undefined ? [] : [{ name: DRAIN_DELAY, value: seconds }]
    expect(env).toEqual(given)
  })

  it('that is bounded as a whole gets no bounds for the gateway', () => {
    const pod = aPod({ spec: { resources: { limits: { memory: '1Gi' } } } })
    expect(gatewayOf(pod).resources).toBeUndefined()
  })

  it('gets what the settings add, and their flags instead of ours', () => {
    const settings = settingsOf({
      args: ['--ready-from-snapshot=0', '--log-level=warn'],
      imagePullSecrets: [{ name: 'registry' }],
      volumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      volumeMounts: [{ name: 'ca', mountPath: '/ca' }],
    })
    const pod = aPod({ spec: { imagePullSecrets: [{ name: 'mine' }] } })
    expect(injected(pod, { ...options, settings })).toMatchObject({
      spec: { imagePullSecrets: [{ name: 'mine' }, { name: 'registry' }] },
    })
    const { args } = gatewayOf(pod, { ...options, settings })
    expect(args.filter((arg) => arg.includes('snapshot'))).toEqual(['--ready-from-snapshot=0'])
  })
})

describe('the pause before SIGTERM', () => {
  const sleep = { sleep: { seconds: 5 } }

  it('is for containers that have no preStop, and takes nothing from them', () => {
    const own = { preStop: { exec: { command: ['x'] } } }
    const pod = aPod({
      spec: {
        containers: [
          { name: 'a' },
          { name: 'b', lifecycle: own },
          { name: 'c', lifecycle: { postStart: {} } },
        ],
      },
    })
    expect(injected(pod).spec).toMatchObject({
      containers: [
        { lifecycle: { preStop: sleep } },
        { lifecycle: own },
        { lifecycle: { preStop: sleep, postStart: {} } },
      ],
      terminationGracePeriodSeconds: 35,
    })
  })

  it.each<[string, ValueMap, SidecarSettings]>([
    ['by the pod', annotated({ 'app-pre-stop': 'false' }), settingsOf()],
    ['by the settings', aPod(), settingsOf({ appPreStopSeconds: 0 })],
    [
      'by a pod that has time without end',
      aPod({ spec: { terminationGracePeriodSeconds: 2 ** 63 } }),
      settingsOf(),
    ],
    [
      'by a pod that ends at once',
      aPod({ spec: { terminationGracePeriodSeconds: 0 } }),
      settingsOf(),
    ],
  ])('can be left out %s', (_, pod, settings) => {
    const { spec } = injected(pod, { ...options, settings })
    expect(JSON.stringify(spec)).not.toContain('sleep')
    expect(spec.terminationGracePeriodSeconds).toBe(
      (pod['spec'] as ValueMap)['terminationGracePeriodSeconds'],
    )
  })
})

const text = fc.string({ maxLength: 8 })
const port = fc.constantFrom(80, 8080, 8081, 18079, 18083)
const container = fc.record(
  {
    name: fc.constantFrom('app', 'proxy', '__proto__', 'constructor'),
    image: text,
    ports: fc.array(fc.record({ containerPort: port }), { maxLength: 2 }),
    lifecycle: fc.constantFrom({}, { preStop: { sleep: { seconds: 1 } } }, { postStart: {} }),
  },
  { requiredKeys: ['name'] },
)
const somePod = fc.record({
  metadata: fc.record(
    {
      labels: fc.dictionary(text, text),
      annotations: fc.record(
        {
          'gateway.svc.dev/port': fc.constantFrom('18080', '9000', 'x'),
          'gateway.svc.dev/app-port': fc.constantFrom('8080', '9000', '18080'),
          'gateway.svc.dev/memory-limit': fc.constantFrom('64Mi', '1Gi', 'x'),
          'gateway.svc.dev/memory-request': fc.constantFrom('64Mi', '1Gi', 'x'),
          'gateway.svc.dev/app-pre-stop': fc.constantFrom('true', 'false'),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  ),
  spec: fc.record(
    {
      containers: fc.array(container, { maxLength: 3 }),
      initContainers: fc.array(container, { maxLength: 2 }),
      volumes: fc.array(fc.record({ name: fc.constantFrom('data', 'tmp') }), { maxLength: 2 }),
      terminationGracePeriodSeconds: fc.constantFrom(0, 1, 30),
      hostNetwork: fc.boolean(),
      shareProcessNamespace: fc.boolean(),
    },
    { requiredKeys: ['containers'] },
  ),
})

const GROWING = new Set(['initContainers', 'volumes', 'terminationGracePeriodSeconds'])

describe('any pod', () => {
  it('is changed once, and keeps all that it had', () => {
    fc.assert(
      fc.property(somePod, (generated) => {
        const pod = JSON.parse(JSON.stringify(generated)) as ValueMap
        const injection = inject(pod, options)
        if (injection.injection !== 'patch') return
        const after = applyPatch(pod, injection.patch) as unknown as Injected
        expect(inject(after as unknown as ValueMap, options)).toEqual({ injection: 'none' })
        const spec = Object.entries(pod['spec'] as ValueMap).filter(([name]) => !GROWING.has(name))
        expect(after).toMatchObject({ metadata: pod['metadata'], spec: Object.fromEntries(spec) })
        const lists = mapAt(pod, 'spec')
        expect(after.spec.initContainers.slice(1)).toEqual(mapsAt(lists, 'initContainers'))
        expect(after.spec.volumes.slice(0, -2)).toEqual(mapsAt(lists, 'volumes'))
      }),
    )
  })
})
