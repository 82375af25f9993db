// The table of how long requests take when a server is busy but not saturated, for whatever it serves. Needs
// wrk: nothing else here can pause between requests.

import { type Bench, CONNECTIONS } from '../bench.ts'
import { compare, type HttpLoad, type Subject } from '../compare.ts'
import { mainDocument } from '../documents.ts'
import { loadUnmanaged, startGateway } from '../gateway.ts'
import { measure } from '../load.ts'
import { staticPeers, startPeers } from '../peers.ts'
import { atMost, comparisonRemarks, fixed, type Section } from '../section.ts'
import { withServers } from '../server-process.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const NO_UPSTREAM = 'http://127.0.0.1:9'
const PACED_CONNECTIONS = 512
/**
 * All of them connect at once when a repetition begins. What they send until that is over is delayed by it: of three
 * seconds, about one request in a hundred, which is what p99 would tell of.
 */
const LONGER = 5
const SHARE = 0.7
export const GATEWAY = 'gateway'

export const measureLatency = async (bench: Bench): Promise<Section> => {
  await using directory = await makeTempDir()
  return await withServers(bench.machine, async (start) => {
    const peers = { machine: bench.machine, start, directory: directory.path }
    const { started } = await startPeers(staticPeers.slice(0, 1), peers)
    const gateway = await startGateway(start)
    await loadUnmanaged(gateway, [mainDocument(NO_UPSTREAM)])
    const servers = [...started, { name: GATEWAY, server: gateway }]
    return await latencySection(bench, {
      title: 'Latency below saturation',
      work: 'Static JSON.',
      subjects: servers.map(({ name, server }) => ({
        name,
        pid: server.pid,
        load: { url: `${server.url}/v1/static` },
      })),
    })
  })
}

export interface LatencyOptions {
  readonly title: string
  /** What is served, and what else the reader must know. */
  readonly work: string
  /** One of them is named `GATEWAY`. */
  readonly subjects: readonly HttpSubject[]
  /** One of `subjects`, and how many times its p99 the gateway's may be. If left out: that of the first, as near as that is to itself. */
  readonly against?: { readonly name: string; readonly bound: number }
}

interface HttpSubject extends Subject {
  readonly load: HttpLoad
}

export const latencySection = async (
  bench: Bench,
  { title, work, subjects, against }: LatencyOptions,
): Promise<Section> => {
  const full = new Map<string, number>()
  const paced: Subject[] = []
  for (const subject of subjects) {
    bench.progress(`${title}: how much ${subject.name} can serve`)
    const perSecond = await saturate(bench, subject)
    full.set(subject.name, perSecond)
    paced.push({ ...subject, load: { ...subject.load, pauseMs: pauseFor(perSecond) } })
  }
  const timing = { ...bench.timing, seconds: bench.timing.seconds * LONGER }
  const comparison = await compare({ ...bench, timing }, paced, {
    title,
    connections: PACED_CONNECTIONS,
    warmsEach: true,
  })
  const rows = comparison.summaries.map(({ name, perSecond, p50Ms, p99Ms }) => ({
    name,
    share: perSecond / (full.get(name) ?? NaN),
    perSecond,
    p50Ms,
    p99Ms,
  }))
  const own = rows.find(({ name }) => name === GATEWAY)
  const { name: peerName, bound } = against ?? {
    name: subjects[0]?.name ?? '',
    bound: Number((1 + comparison.drift.p99).toFixed(2)),
  }
  const peer = rows.find(({ name }) => name === peerName)
  return {
    title,
    method: `${work} ${PACED_CONNECTIONS} connections pause for a random time after each answer, so long that each server gets about ${SHARE * 100} % of what it can serve (\`load\`). wrk knows whole milliseconds only: requests come in small bunches. Each repetition follows the same load for a few seconds that are not counted, and is ${LONGER} times as long as those of other tables: what the first seconds after a pause cost, and connecting, is not what this table tells of.`,
    tables: [
      {
        head: ['', 'requests/s', 'load', 'p50 ms', 'p99 ms', 'p99 ÷ p50'],
        rows: rows.map(({ name, share, perSecond, p50Ms, p99Ms }) => [
          name,
          fixed(perSecond, 0),
          `${fixed(share * 100, 0)} %`,
          fixed(p50Ms, 2),
          fixed(p99Ms, 2),
          fixed(p99Ms / p50Ms, 1),
        ]),
      },
    ],
    targets: [
      atMost(`p99 ÷ that of ${peerName}`, {
        bound,
        measured: (own?.p99Ms ?? NaN) / (peer?.p99Ms ?? NaN),
        unit: ' ×',
      }),
    ],
    remarks: comparisonRemarks(comparison),
  }
}

/** Requests a second at full load, warm. */
const saturate = async (
  { machine, timing }: Bench,
  { load, pid }: HttpSubject,
): Promise<number> => {
  const at = (seconds: number) =>
    measure(machine, { ...load, connections: CONNECTIONS, seconds }, pid)
  await at(timing.warmSeconds)
  return (await at(timing.seconds)).perSecond
}

/** Mean pause of a connection between two requests. */
const pauseFor = (perSecond: number): number => (PACED_CONNECTIONS * 1000) / (perSecond * SHARE)
