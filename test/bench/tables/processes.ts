// The tables of what is not throughput: what a second process costs, and how long requests take when the
// gateway is busy but not saturated.

import { type Bench, CONNECTIONS } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { mainDocument } from '../documents.ts'
import { type Gateway, loadByHand, startGateway } from '../gateway.ts'
import { measure } from '../load.ts'
import { staticPeers, startPeers } from '../peers.ts'
import { atMost, comparisonRemarks, comparisonTable, fixed, type Section } from '../section.ts'
import { type Server, type StartServer, withServers } from '../server-process.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const NOBODY = 'http://127.0.0.1:9'
const [ONE, TWO] = ['one process', 'two processes']

export const measureProcesses = (bench: Bench): Promise<Section> =>
  withServers(bench.machine, async (start) => {
    const [one, two] = [await serve(start, []), await serve(start, ['--processes', '2'])]
    const comparison = await compare(bench, [subjectOf(ONE, one), subjectOf(TWO, two)], {
      title: 'processes',
      // Each of the two gets half of the requests, and has all of its own code to compile.
      warmFactor: 3,
    })
    const { cpu } = comparison.ratio(ONE, TWO)
    return {
      title: 'Two processes',
      method:
        'Static JSON, 64 connections. The processes share one core, as load generator and gateway need two: what is compared is the CPU time of all of them per request, not throughput.',
      tables: [comparisonTable(comparison)],
      targets: [atMost('CPU per request, two ÷ one', { bound: 1.1, measured: cpu, unit: ' ×' })],
      remarks: comparisonRemarks(comparison),
    }
  })

const serve = async (start: StartServer, flags: readonly string[]): Promise<Gateway> => {
  const gateway = await startGateway(start, { flags })
  await loadByHand(gateway, [mainDocument(NOBODY)])
  return gateway
}

const subjectOf = (name: string, { pid, url }: Server): Subject => ({
  name,
  pid,
  load: { url: `${url}/v1/static` },
})

const PACED_CONNECTIONS = 512
const SHARE = 0.7
const GATEWAY = 'gateway'

/** Needs wrk: nothing else here can pause between requests. */
export const measureLatency = async (bench: Bench): Promise<Section> => {
  await using directory = await makeTempDir()
  return await withServers(bench.machine, async (start) => {
    const peers = { machine: bench.machine, start, directory: directory.path }
    const { started } = await startPeers(staticPeers.slice(0, 1), peers)
    const gateway = await serve(start, [])
    const servers = [...started, { name: GATEWAY, server: gateway }]
    const full = new Map<string, number>()
    const subjects: Subject[] = []
    for (const { name, server } of servers) {
      bench.progress(`latency: how much ${name} can serve`)
      const subject = subjectOf(name, server)
      const perSecond = await saturate(bench, subject)
      full.set(name, perSecond)
      subjects.push({ ...subject, load: { ...subject.load, pauseMs: pauseFor(perSecond) } })
    }
    const comparison = await compare(bench, subjects, {
      title: 'latency',
      connections: PACED_CONNECTIONS,
    })
    const rows = comparison.summaries.map(({ name, perSecond, p50Ms, p99Ms }) => ({
      name,
      share: perSecond / (full.get(name) ?? NaN),
      perSecond,
      p50Ms,
      p99Ms,
    }))
    const own = rows.find(({ name }) => name === GATEWAY)
    return {
      title: 'Latency below saturation',
      method: `Static JSON. ${PACED_CONNECTIONS} connections pause for a random time after each answer, so long that each server gets about ${SHARE * 100} % of what it can serve (\`load\`). wrk knows whole milliseconds only: requests come in small bunches.`,
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
        atMost('p99 ÷ p50', {
          bound: 3,
          measured: own === undefined ? NaN : own.p99Ms / own.p50Ms,
          unit: ' ×',
          digits: 1,
        }),
      ],
      remarks: comparisonRemarks(comparison),
    }
  })
}

/** Requests a second at full load, warm. */
const saturate = async ({ machine, timing }: Bench, { load, pid }: Subject): Promise<number> => {
  const at = (seconds: number) =>
    measure(machine, { ...load, connections: CONNECTIONS, seconds }, pid)
  await at(timing.warmSeconds)
  return (await at(timing.seconds)).perSecond
}

/** Mean pause of a connection between two requests. */
const pauseFor = (perSecond: number): number => (PACED_CONNECTIONS * 1000) / (perSecond * SHARE)
