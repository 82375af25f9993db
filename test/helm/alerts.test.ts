// Each alert of the chart fires on the fault that it is for, stays silent while all is well, and has its section in
// docs/operations/alerts.md; each section has its alert.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, jest } from '@jest/globals'
import { CHART, helmAvailability } from '../support/helm.ts'
import { askPromql, promqlAvailability } from '../support/prometheus/promql.ts'
import { textOf } from '../support/pages.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import { chartAlerts, type ChartAlert } from './chart-alerts.ts'

// The first use builds Prometheus' parser.
jest.setTimeout(600_000)

const PAGE = textOf('docs/operations/alerts.md')
const ALERTS = readFileSync(join(CHART, 'files/alerts.yaml'), 'utf8')
const NAMES = Array.from(ALERTS.matchAll(/ alert: (\w+)$/gm), ([, name = '']) => name)

describe('docs/operations/alerts.md', () => {
  it('has a section for each alert, and none for others', () => {
    const sections = Array.from(PAGE.matchAll(/^## (Svc\w+)$/gm), ([, name = '']) => name)
    expect([...sections].sort()).toEqual([...NAMES].sort())
    expect(new Set(NAMES).size).toBeGreaterThan(10)
  })

  it.each(NAMES)('%s: says what to do', (name) => {
    const [, rest = ''] = PAGE.split(`## ${name}\n`)
    const [section = ''] = rest.split(/^## /m)
    expect(section.trim().length).toBeGreaterThan(150)
  })
})

it('the schema knows which alerts can be left out', () => {
  const schema = readFileSync(join(CHART, 'values.schema.json'), 'utf8')
  expect(NAMES.filter((name) => !schema.includes(`"${name}"`))).toEqual([])
})

const GATEWAY = 'job="gateways/demo-svc-gateway-gateway",namespace="gateways",pod="g-1"'
const SIDECAR = 'job="gateways/demo-svc-gateway-sidecar",namespace="shop",pod="s-1"'
const OPERATOR = 'job="gateways/demo-svc-gateway-operator",namespace="gateways",pod="o-1"'
const STANDBY = OPERATOR.replace('o-1', 'o-2')

/** An hour in which all is well. */
const WELL: Readonly<Record<string, string>> = {
  [`up{${GATEWAY}}`]: '1x60',
  [`up{${OPERATOR}}`]: '1x60',
  [`svc_gateway_ready{${GATEWAY}}`]: '1x60',
  [`svc_gateway_ready{${SIDECAR}}`]: '1x60',
  [`svc_gateway_requests_total{${GATEWAY},api="a",status="2xx"}`]: '0+600x60',
  [`svc_gateway_requests_total{${GATEWAY},api="a",status="5xx"}`]: '0+6x60',
  [`nodejs_eventloop_lag_p99_seconds{${GATEWAY}}`]: '0.012x60',
  [`svc_gateway_memory_budget_bytes{${GATEWAY}}`]: '256x60',
  [`svc_gateway_memory_in_use_bytes{${GATEWAY},what="held"}`]: '10x60',
  [`svc_gateway_memory_in_use_bytes{${GATEWAY},what="rest"}`]: '60x60',
  [`svc_gateway_memory_closed_total{${GATEWAY}}`]: '0x60',
  [`svc_gateway_shared_state{${GATEWAY},home="redis"}`]: '1x60',
  [`svc_gateway_wamp_sessions{${GATEWAY},realm="r",state="open"}`]: '1x60',
  [`svc_gateway_wamp_sessions{${GATEWAY},realm="r",state="waiting"}`]: '1x60',
  [`svc_gateway_upstream_requests_total{${GATEWAY},origin="http://up"}`]: '0+600x60',
  [`svc_gateway_upstream_failures_total{${GATEWAY},origin="http://up",failure="aborted"}`]:
    '0+590x60',
  [`svc_gateway_upstream_failures_total{${GATEWAY},origin="http://up",failure="reset"}`]: '0+6x60',
  [`svc_gateway_upstream_requests_total{${GATEWAY},origin="other"}`]: '0+600x60',
  [`svc_gateway_upstream_failures_total{${GATEWAY},origin="other",failure="dns"}`]: '0+600x60',
  [`svc_gateway_snapshot{${GATEWAY},state="written"}`]: '1x60',
  [`svc_gateway_rate_limit_shared_buckets_total{${GATEWAY},cause="no_key"}`]: '0+600x60',
  [`svc_gateway_tls_certificate_expiry_timestamp_seconds{${GATEWAY},certificate="a"}`]:
    '2592000x60',
  [`svc_operator_leading{${OPERATOR}}`]: '1x60',
  [`svc_operator_leading{${STANDBY}}`]: '0x60',
  [`svc_operator_source_notes{${OPERATOR},severity="warning"}`]: '3x60',
  [`svc_operator_troubles{${OPERATOR},of="pods"}`]: '0x60',
  [`svc_operator_troubles{${OPERATOR},of="certificates"}`]: '0x60',
  [`svc_operator_troubles{${OPERATOR},of="webhook"}`]: '0x60',
  [`svc_operator_pods_without_gateway{${OPERATOR}}`]: '0x60',
  [`svc_operator_data_planes{${OPERATOR},phase="synced"}`]: '5x60',
  [`svc_operator_holds_deletes{${OPERATOR}}`]: '0x60',
  [`svc_operator_resources{${OPERATOR},kind="Realm",ready="True"}`]: '5x60',
  [`svc_operator_status_pending{${OPERATOR}}`]: '0 5x2 0x57',
  [`svc_operator_status_pending{${STANDBY}}`]: '0x60',
  // The clock of a case begins at 0.
  [`svc_operator_certificate_expiry_timestamp_seconds{${OPERATOR},secret="svc-gateway-ca"}`]:
    '2592000x60',
}

interface Fault {
  /** Instead of those of the same name, or beside them. */
  readonly series?: Readonly<Record<string, string>>
  readonly gone?: readonly string[]
  readonly says: string
  /** The end of another thing is a fault of its own. */
  readonly also?: readonly string[]
}

const FAULTS: Readonly<Record<string, Fault>> = {
  SvcGatewayErrors: {
    series: {
      [`svc_gateway_requests_total{${GATEWAY},api="a",path="other",status="5xx"}`]: '0+66x60',
    },
    says: '10.71% of the requests of API a fail',
  },
  SvcGatewayNotReady: {
    series: { [`svc_gateway_ready{${SIDECAR}}`]: '1x45 0x15' },
    says: 'Gateway shop/s-1 is not ready',
  },
  SvcGatewayMemoryTight: {
    series: { [`svc_gateway_memory_in_use_bytes{${GATEWAY},what="held"}`]: '200x60' },
    says: 'Gateway gateways/g-1 has little memory left',
  },
  SvcGatewayBusy: {
    series: { [`nodejs_eventloop_lag_p99_seconds{${GATEWAY}}`]: '0.2x60' },
    says: 'is late by 200ms',
  },
  SvcGatewayRedisAway: {
    series: { [`svc_gateway_shared_state{${GATEWAY},home="redis"}`]: '1x55 0x5' },
    says: 'Gateway gateways/g-1 does not reach Redis',
  },
  SvcGatewayRouterAway: {
    gone: [`svc_gateway_wamp_sessions{${GATEWAY},realm="r",state="open"}`],
    says: 'has no session with the router of realm r',
  },
  SvcGatewayUpstreamDown: {
    series: {
      [`svc_gateway_upstream_failures_total{${GATEWAY},origin="http://up",failure="refused"}`]:
        '0+594x60',
    },
    says: 'Upstream http://up answers no request',
  },
  SvcGatewayCertificateEnds: {
    series: {
      [`svc_gateway_tls_certificate_expiry_timestamp_seconds{${GATEWAY},certificate="a"}`]:
        '262800x70',
    },
    says: 'The public certificate a ends in 3d',
  },
  SvcGatewaySnapshotFailed: {
    series: { [`svc_gateway_snapshot{${GATEWAY},state="failed"}`]: '1x60' },
    says: 'Gateway gateways/g-1 cannot write its snapshot',
  },
  SvcGatewayLimitsShared: {
    series: {
      [`svc_gateway_rate_limit_shared_buckets_total{${GATEWAY},cause="no_room"}`]: '0+600x60',
    },
    says: 'Gateway gateways/g-1 has no room for more keys of rate limits',
  },
  SvcGatewayDown: {
    series: { [`up{${GATEWAY}}`]: '1x50 0x10' },
    says: 'No gateway of the shared pool answers',
  },
  SvcOperatorDown: { gone: [`up{${OPERATOR}}`], says: 'No operator answers' },
  SvcOperatorNoLeader: {
    series: { [`svc_operator_leading{${OPERATOR}}`]: '1x55 0x5' },
    says: 'No operator leads',
  },
  SvcOperatorCannotRead: {
    series: { [`svc_operator_source_notes{${OPERATOR},severity="error"}`]: '2x60' },
    says: 'The operator cannot read 2 of the things that it watches',
  },
  SvcOperatorGatewaysBehind: {
    series: { [`svc_operator_data_planes{${OPERATOR},phase="unreachable"}`]: '2x60' },
    says: '2 gateways are unreachable, not synced',
  },
  SvcOperatorHoldsDeletes: {
    series: { [`svc_operator_data_planes{${OPERATOR},phase="holding"}`]: '1x60' },
    says: 'Deletes are held back',
  },
  SvcOperatorResourcesNotReady: {
    series: {
      [`svc_operator_resources{${OPERATOR},kind="ApiSpecification",ready="False"}`]: '3x60',
    },
    says: '3 resources of kind ApiSpecification are not ready',
  },
  SvcOperatorStatusLate: {
    series: { [`svc_operator_status_pending{${OPERATOR}}`]: '40x60' },
    says: 'The status of 40 resources is out of date',
  },
  SvcOperatorCertificateEnds: {
    series: {
      [`svc_operator_certificate_expiry_timestamp_seconds{${OPERATOR},secret="svc-gateway-webhook-tls"}`]:
        '262800x70',
    },
    says: 'The certificate in Secret svc-gateway-webhook-tls ends in 3d',
  },
  SvcOperatorCertificateTrouble: {
    series: { [`svc_operator_troubles{${OPERATOR},of="certificates"}`]: '2x60' },
    says: 'Certificates of 2 namespaces cannot be looked after',
  },
  SvcOperatorWebhookTrouble: {
    series: { [`svc_operator_troubles{${OPERATOR},of="webhook"}`]: '1x60' },
    says: 'The webhook cannot be kept',
  },
  SvcOperatorPodsWithoutGateway: {
    series: { [`svc_operator_pods_without_gateway{${OPERATOR}}`]: '4x60' },
    says: '4 pods that ask for a gateway have none',
  },
}

const caseOf = ({ series = {}, gone = [] }: Fault, minutes = 60) => ({
  minutes,
  series: Object.fromEntries(
    Object.entries({ ...WELL, ...series }).filter(([name]) => !gone.includes(name)),
  ),
})

it('each alert has its fault', () => {
  expect(Object.keys(FAULTS).sort()).toEqual([...NAMES].sort())
})

const availability = [helmAvailability(), promqlAvailability()].find(({ available }) => !available)

describeWhenAvailable('an alert', availability ?? { available: true }, () => {
  let alerts: readonly ChartAlert[] = []
  const fires = async (fault: Fault, minutes = 60) => {
    const { cases } = await askPromql({ alerts, cases: [caseOf(fault, minutes)] })
    return cases[0] ?? []
  }

  beforeAll(async () => {
    alerts = await chartAlerts({ values: { sidecar: { enabled: true } } })
  })

  it('is silent while all is well', async () => {
    expect(await fires({ says: '' })).toEqual([])
  })

  it.each(Object.entries(FAULTS))(
    '%s fires, alone, and says what it found',
    async (name, fault) => {
      const fired = await fires(fault)
      expect([...new Set(fired.map(({ alert }) => alert))]).toEqual([name])
      expect(fired[0]?.annotations['summary']).toContain(fault.says)
    },
  )

  it.each(['SvcGatewayRedisAway', 'SvcGatewayNotReady', 'SvcOperatorNoLeader'])(
    '%s waits: a moment is no fault',
    async (name) => {
      const at = name === 'SvcGatewayNotReady' ? 50 : 56
      expect(await fires(FAULTS[name] ?? { says: '' }, at)).toEqual([])
    },
  )

  it('of another release is not ours', async () => {
    const theirs = { [`svc_gateway_ready{job="other/x-gateway",namespace="o",pod="p"}`]: '0x60' }
    expect(await fires({ series: theirs, says: '' })).toEqual([])
  })

  it('has severity, summary, next step and its section', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning']).toContain(labels['severity'])
      expect(annotations['runbook_url']).toBe(`docs/operations/alerts.md#${alert.toLowerCase()}`)
      expect((annotations['description'] ?? '').length).toBeGreaterThan(80)
      expect((annotations['summary'] ?? '').length).toBeLessThan(120)
    }
    expect(alerts.map(({ alert }) => alert).sort()).toEqual([...NAMES].sort())
  })

  it('can be left out, and is not there where its part is not', async () => {
    const left = await chartAlerts({
      values: {
        gateway: { enabled: false },
        metrics: { prometheusRule: { disabled: ['SvcGatewayBusy'] } },
      },
    })
    const names = left.map(({ alert }) => alert)
    expect(NAMES.filter((name) => !names.includes(name))).toEqual([
      'SvcGatewayBusy',
      'SvcGatewayDown',
    ])
    expect(await chartAlerts({ kinds: [] })).toEqual([])
  })
})
