// Every metric and label that an alert or the dashboard asks for is one that a real gateway or a real operator shows.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { createMeasurements, type Measurements } from '../../dataplane/metrics.ts'
import { hashPassword } from '../../dataplane/security/passwords/hash-password.ts'
import { renderMetrics } from '../../telemetry/metrics-state.ts'
import { answers, forwards, post } from '../component/gateway-client.ts'
import { Home, PATIENCE } from '../component/kubernetes/home.ts'
import { documentObject, realmObject } from '../component/kubernetes/objects.ts'
import { makeNamespace } from '../component/kubernetes/operator-api.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { type EchoUpstream, startEchoUpstream } from '../support/echo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { helmAvailability } from '../support/helm.ts'
import { request } from '../support/http-request.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../support/kubernetes/describe-with-kubernetes.ts'
import {
  askPromql,
  type ParsedExpression,
  promqlAvailability,
} from '../support/prometheus/promql.ts'
import { mountSecret } from '../support/mounted-secret.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import {
  chartAlerts,
  dashboardExpressions,
  dashboardSources,
  dashboardVariables,
} from './chart-alerts.ts'

jest.setTimeout(180_000)

/** Name of a metric → its labels, in any series. */
type Shown = Map<string, Set<string>>

const SERIES = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/

const show = (shown: Shown, text: string): void => {
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = SERIES.exec(line) ?? []
    if (name === undefined) continue
    const known = shown.get(name) ?? new Set()
    shown.set(name, known)
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label)
  }
}

/** What takes an IdP, a router with registrations, a worker that dies, or a flood of keys to be seen. The labels are checked as types. */
const showQuiet = async (shown: Shown): Promise<void> => {
  const { metrics }: Measurements = createMeasurements()
  metrics.count('oidc', { endpoint: 'login', outcome: 'ok' })
  metrics.count('callbacksLost', { why: 'failed' })
  metrics.count('eventStreamsCutOff', {})
  metrics.count('workerRestarts', {})
  metrics.count('sharedBuckets', { cause: 'no_room' })
  metrics.count('upstreamEjections', { fault: 'refused' })
  // There while connections are.
  metrics.gauge('upstreamConnections', () => [[{ origin: 'a', state: 'connected' }, 1]])
  metrics.gauge('upstreamEndpoints', () => [[{ origin: 'a', state: 'healthy' }, 1]])
  metrics.gauge('wampCallbacks', () => [[{ realm: 'a', kind: 'subscription' }, 1]])
  show(shown, renderMetrics(await metrics.exportState()))
}

/** Of Prometheus itself and of how targets are found. */
const TARGET_LABELS = ['job', 'instance', 'namespace', 'pod']
const OF_PROMETHEUS = ['up']

const documentOf = (upstream: EchoUpstream): object => ({
  id: 'shown',
  host: '_',
  realm_uri: 'com.component',
  versions: {
    v1: {
      base_path: '/shown',
      paths: {
        '/static': { get: answers('fine') },
        '/away': { get: forwards('http://127.0.0.1:1', '/') },
        '/there': { get: forwards(upstream.origin, '/echo') },
        '/secret': { security: { type: 'basic' }, get: answers('x') },
      },
    },
  },
})

const useGateway = async (gateway: GatewayProcess, upstream: EchoUpstream): Promise<void> => {
  const realm = {
    uri: 'com.component',
    users: [{ username: 'a', password_hash: await hashPassword('b'), groups: [] }],
    router: { url: 'ws://127.0.0.1:1/ws' },
  }
  expect((await post(gateway, '/realms', realm)).text).toBe('')
  expect((await post(gateway, '/api_specs', documentOf(upstream))).text).toBe('')
  const authorization = `Basic ${Buffer.from('a:b').toString('base64')}`
  for (const path of ['static', 'away', 'there', 'secret', 'nowhere'])
    await request(`${gateway.public}/shown/${path}`, { headers: { authorization } })
}

/** What no program shows, in words for a person; empty where all is there. */
const missing = (expression: ParsedExpression, shown: Shown): readonly string[] => {
  const used = expression.selectors.filter(({ metric }) => !OF_PROMETHEUS.includes(metric))
  const unknown = used.filter(({ metric }) => !shown.has(metric)).map(({ metric }) => metric)
  const known = new Set([
    ...TARGET_LABELS,
    ...used.flatMap(({ metric }) => [...(shown.get(metric) ?? [])]),
  ])
  const labels = used.flatMap(({ metric, matchers }) => {
    const own = new Set([...TARGET_LABELS, ...(shown.get(metric) ?? [])])
    return matchers.filter(({ label }) => !own.has(label)).map(({ label }) => `${metric}{${label}}`)
  })
  return [...unknown, ...labels, ...expression.labels.filter((label) => !known.has(label))]
}

const isReady = helmAvailability().available && promqlAvailability().available

await describeWithKubernetes('what alerts and dashboard ask for', (plane) => {
  const open = new AsyncDisposableStack()
  const shown: Shown = new Map()

  beforeAll(async () => {
    const state = open.use(await makeTempDir())
    const tls = open.use(await makeTempDir())
    const { cert, key } = createCertificateAuthority('authority').issue('shown.test')
    await mountSecret(join(tls.path, 'shown'), { 'tls.crt': cert, 'tls.key': key })
    const shownTls = ['--public-tls', '127.0.0.1:0', '--tls-dir', tls.path]
    const gateway = open.use(
      await startGateway({ flags: ['--state-dir', state.path, '--processes', '2', ...shownTls] }),
    )
    await useGateway(gateway, open.use(await startEchoUpstream()))
    const home = open.use(await Home.open(plane(), { tls: true }))
    await makeNamespace(plane(), 'shop')
    const sidecar = join(state.path, 'sidecar.yaml')
    writeFileSync(sidecar, 'image: gateway:1\n')
    const flags = ['--webhook', '127.0.0.1:0', '--sidecar', sidecar]
    const operator = await home.startOperator({ flags })
    await home.startGatewayPod({ name: 'gw-1' })
    await plane().apply([realmObject('shop'), documentObject('shop', 'orders')])
    await home.until('shop', 'orders', 'Ready', 'Ready')
    // A document that is refused, and one whose Secret may not be read: a note.
    await plane().apply([documentObject('shop', 'broken', { basePath: 'no slash' })])
    await home.until('shop', 'broken', 'Accepted', 'Invalid')
    await eventually(async () => {
      show(shown, (await request(`${operator.url}/metrics`)).text)
      if (!shown.has('svc_operator_rounds_total')) throw new Error('nothing was sent yet')
    }, PATIENCE)
    show(shown, (await request(`${gateway.management}/metrics`)).text)
    await showQuiet(shown)
    // Nothing is wrong here: without a trouble there is no series.
    shown.set('svc_operator_source_notes', new Set(['severity']))
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  /** Expression and what is missing of it; where fewer selectors than that are looked at, nothing is known. */
  const faultsOf = async (expressions: readonly string[]): Promise<readonly string[]> => {
    const { expressions: parsed } = await askPromql({ expressions })
    const count = parsed.flatMap(({ selectors }) => selectors).length
    const faults = parsed.flatMap((each, i) => {
      const wrong = each.error === undefined ? missing(each, shown) : [each.error]
      return wrong.length === 0 ? [] : [`${expressions[i] ?? ''}: ${wrong.join(', ')}`]
    })
    return count > 15 ? faults : [...faults, `only ${count} selectors`]
  }

  if (isReady) {
    it('is there for every alert', async () => {
      const expressions = (await chartAlerts()).map(({ expr }) => expr)
      expect(await faultsOf(expressions)).toEqual([])
    })

    it('is there for every panel and variable', async () => {
      expect(await faultsOf(dashboardExpressions())).toEqual([])
    })

    it.each([
      ['a metric that no program has', 'sum(svc_gateway_nothing)', ['svc_gateway_nothing']],
      ['a label', 'svc_gateway_ready{path="/"}', ['svc_gateway_ready{path}']],
      ['a label to group by', 'sum by (phase) (svc_operator_leading)', ['phase']],
    ])('%s would be found', async (_what, text, wrong) => {
      const { expressions } = await askPromql({ expressions: [text] })
      expect(expressions.flatMap((each) => missing(each, shown))).toEqual(wrong)
    })

    it('each metric of gateway and operator is on the dashboard', () => {
      const text = dashboardSources().join('\n')
      const own = [...shown.keys()].filter((name) => /^svc_(gateway|operator)_/.test(name))
      const left = own.filter(
        (name) => !text.includes(name.replace(/_(sum|count|bucket)$/, '')) && !QUIET.has(name),
      )
      expect(left).toEqual([])
      expect(own.length).toBeGreaterThan(30)
    })
  }
})

/** Told of by others that are there: a figure for support, not for a dashboard. */
const QUIET = new Set([
  'svc_gateway_workers',
  'svc_operator_data_plane_documents',
  'svc_operator_pushed_bytes_total',
])

describe('the dashboard', () => {
  it('uses the variables that it has', () => {
    const used = dashboardSources().flatMap((text) =>
      Array.from(text.matchAll(/\$(\w+)/g), ([, name = '']) => name),
    )
    const known = [...dashboardVariables(), '__rate_interval', '__range']
    expect(used.filter((name) => !known.includes(name))).toEqual([])
    expect(used).toEqual(expect.arrayContaining(['gateways', 'operator', 'api']))
  })
})

describeWhenAvailable("Prometheus' parser", promqlAvailability(), () => {
  it('says what is wrong with an expression', async () => {
    const { expressions } = await askPromql({ expressions: ['sum(', 'up'] })
    expect(expressions.map(({ error }) => error)).toEqual([
      expect.stringContaining('unclosed left parenthesis'),
      undefined,
    ])
  })
})
