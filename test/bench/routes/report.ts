// Writes the report of the route benchmarks: what was measured, beside what others published. Pure.

import { atMost, fixed, type Section, type Table, whole } from '../section.ts'
import { median, percentile } from '../statistics.ts'
import type { Changed } from './changes.ts'
import type { Churned, Held, Sample } from './churn.ts'
import type { Probed } from './probe.ts'

/** Of the first and last documents of the probe: their propagation is compared. */
const ENDS = 300

export const probeSection = ({ propagationMs, statuses, wrong }: Probed): Section => {
  const count = Math.min(ENDS, Math.ceil(propagationMs.length / 2))
  const first = propagationMs.slice(0, count)
  const last = propagationMs.slice(-count)
  return {
    title: 'Probe: a new document until it is served',
    method: `${whole(propagationMs.length)} documents, created one after the other; two gateways are asked for each every 2 ms, from before it is created until both answer 200. Once all are created, each is asked for again.`,
    tables: [
      latencyTable({
        [`the first ${whole(count)}`]: first,
        [`the last ${whole(count)}`]: last,
        all: propagationMs,
      }),
      {
        head: ['status', 'answers'],
        rows: [...statuses].map(([status, responses]) => [String(status), whole(responses)]),
      },
      PUBLISHED,
    ],
    targets: [
      atMost('answers other than 404, then 200', { bound: 0, measured: wrong, digits: 0 }),
      atMost('p50 of the last ÷ p50 of the first', {
        bound: 1.5,
        measured: median(last) / median(first),
        unit: ' ×',
      }),
    ],
    remarks: [
      'The published figures are of another machine (16 cores of an AMD 9950X, kind), read from its text: they show orders of magnitude. Source: github.com/howardjohn/gateway-api-bench, README-v2.md and README.md, "Route propagation time", with 3,000 HTTPRoutes.',
    ],
  }
}

/** Read on 2026-11-26. */
const PUBLISHED: Table = {
  head: ['published for others', 'propagation', 'other answers than 404 and 200'],
  rows: [
    ['Agentgateway', '10–30 ms', '0'],
    ['Istio', '120–300 ms', '0'],
    ['Envoy Gateway', 'to 600 ms', '14,808'],
    ['NGINX Gateway Fabric 2', 'to 800 ms', '0'],
    ['Traefik', '2 s', '0'],
    ['Kong', '3 s', '0'],
  ],
}

export const changesSection = (
  { changes, requests, versionsSeen, latenciesMs, wrong }: Changed,
  perSecond: number,
): Section => ({
  title: 'Changes: a document that is changed under load',
  method: `Upstream, headers, security and paths of one document are changed ${whole(changes)} times, every 200 ms and more, while two gateways get ${whole(perSecond)} requests per second: with the API key, without it, and to a path that comes and goes. A response must be that of one version, in its status, its header, its upstream and what the upstream received; of a version that is applied; and never of one older than a gateway has answered with before.`,
  tables: [
    latencyTable({ 'a request': latenciesMs }),
    {
      head: ['', ''],
      rows: [
        ['requests', whole(requests)],
        ['versions that answered', whole(versionsSeen)],
      ],
    },
  ],
  targets: [atMost('wrong responses', { bound: 0, measured: wrong.length, digits: 0 })],
  remarks: [
    ...new Set(wrong.slice(0, 10)),
    'Published for others, by errors while a route changes: Agentgateway, Istio, Kgateway, Traefik and Kong none; Envoy Gateway 503s and 500s, Cilium 503s, NGINX 500s. Source: as above, "Route changes", which looks at statuses only.',
  ],
})

export const churnSection = ({
  size,
  changes,
  failures,
  quietMs,
  churnMs,
  samples,
}: Churned): Section => {
  const ratio = percentile(churnMs, 0.99) / percentile(quietMs, 0.99)
  return {
    title: 'Churn: documents that come, change and go',
    method: `${whole(size.documents)} documents; ${whole(size.changesPerSecond)} are created, edited or deleted per second, for ${whole(size.seconds)} s (${whole(changes)} changes), under ${whole(size.requestsPerSecond)} requests per second to documents that stay. The ${whole(size.quietSeconds)} s before, nothing changes.`,
    tables: [
      latencyTable({ 'a request while nothing changes': quietMs, 'during churn': churnMs }),
      heldTable('operator', samples),
      heldTable('gateway', samples),
    ],
    targets: [
      atMost('requests that failed', { bound: 0, measured: sum(failures.values()), digits: 0 }),
      atMost('p99 during churn ÷ before', { bound: 1.5, measured: ratio, unit: ' ×' }),
    ],
    remarks: [
      `${whole(quietMs.length + churnMs.length)} requests in all. Metrics are read every ten seconds, also before. Memory is RSS in MB of 2^20 bytes.`,
      ...Array.from(failures, ([failure, count]) => `${whole(count)} failed with: ${failure}.`),
    ],
  }
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, each) => all + each, 0)

const MEMBERS = {
  rssMegabytes: 'RSS, MB',
  fileDescriptors: 'file descriptors',
  timers: 'timers',
  series: 'metric series',
} as const satisfies Readonly<Record<keyof Held, string>>

/** At the start, and the median of each third after it: what grows shows. */
const heldTable = (who: 'operator' | 'gateway', samples: readonly Sample[]): Table => {
  const [start, ...later] = samples
  const third = Math.ceil(later.length / 3)
  const parts = [0, 1, 2].map((part) => later.slice(part * third, (part + 1) * third))
  return {
    head: [who, 'at the start', 'first third', 'second third', 'last third'],
    rows: Object.entries(MEMBERS).map(([member, name]) => {
      const of = (sample: Sample): number => sample[who][member as keyof Held]
      const values = parts.map((part) => median(part.map(of)))
      return [name, ...[start === undefined ? NaN : of(start), ...values].map(whole)]
    }),
  }
}

const latencyTable = (rows: Readonly<Record<string, readonly number[]>>): Table => ({
  head: ['ms', 'p50', 'p99', 'most', 'n'],
  rows: Object.entries(rows).map(([name, values]) => [
    name,
    fixed(median(values), 1),
    fixed(percentile(values, 0.99), 1),
    fixed(
      values.reduce((most, value) => Math.max(most, value), 0),
      1,
    ),
    whole(values.length),
  ]),
})
