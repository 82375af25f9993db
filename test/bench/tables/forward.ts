// The tables of requests that are passed on to an upstream: small bodies and large ones, beside a
// forwarder that does nothing else and beside well-known proxies.

import type { Bench } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { mainDocument } from '../documents.ts'
import { loadUnmanaged, startGateway } from '../gateway.ts'
import { forwardPeers, startPeers, startUpstream } from '../peers.ts'
import {
  atMost,
  comparisonRemarks,
  comparisonTable,
  fixed,
  ratioAtLeast,
  type Section,
} from '../section.ts'
import { type Server, type StartServer, withServers } from '../server-process.ts'
import type { Comparison, Summary } from '../statistics.ts'
import { GATEWAY, latencySection } from './latency.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const MEMORY = {
  'RSS MB': ({ peakRssMegabytes }: Summary) => fixed(peakRssMegabytes, 0),
}
const BARE = 'bare undici dispatch'

/** Envoy beside the gateway, each at a share of what it can serve itself. */
export const measureForwardLatency = async (bench: Bench): Promise<Section> => {
  await using directory = await makeTempDir()
  const options = { machine: bench.machine, directory: directory.path }
  return await withServers(bench.machine, async (start) => {
    const upstream = await startUpstream({ ...options, start })
    const peers = forwardPeers(upstream).filter(({ name }) => PACED.has(name))
    const { started, remarks } = await startPeers(peers, { ...options, start })
    const own = await startOwn(start, upstream)
    const section = await latencySection(bench, {
      title: 'Latency of forwards below saturation',
      work: 'Forwards of 200 bytes.',
      subjects: [...started, own].map(({ name, server }) => ({
        name,
        pid: server.pid,
        load: { url: `${server.url}/v1/small` },
      })),
      against: { name: 'envoy', bound: 2 },
    })
    return { ...section, remarks: [...section.remarks, ...remarks] }
  })
}

const PACED: ReadonlySet<string> = new Set(['nginx', 'envoy'])

export const measureForward = async (bench: Bench): Promise<readonly Section[]> => {
  await using directory = await makeTempDir()
  const options = { machine: bench.machine, directory: directory.path }
  return await withServers(bench.machine, async (start) => {
    const upstream = await startUpstream({ ...options, start })
    const { started, remarks } = await startPeers(forwardPeers(upstream), { ...options, start })
    const own = await startOwn(start, upstream)
    const servers = [...started.slice(0, 1), own, ...started.slice(1)]
    const upstreamIs = bench.machine.has('nginx') ? 'nginx' : 'node:http'
    return [
      smallSection(await compareAt(bench, servers, '/v1/small'), upstreamIs, remarks),
      largeSection(await compareAt(bench, servers, '/v1/large'), upstreamIs, remarks),
    ]
  })
}

interface Named {
  readonly name: string
  readonly server: Server
}

const startOwn = async (start: StartServer, upstream: Server): Promise<Named> => {
  const server = await startGateway(start)
  await loadUnmanaged(server, [mainDocument(upstream.url)])
  return { name: GATEWAY, server }
}

const compareAt = (bench: Bench, servers: readonly Named[], path: string): Promise<Comparison> => {
  const subjects = servers.map(({ name, server }): Subject => ({
    name,
    pid: server.pid,
    load: { url: server.url + path },
  }))
  return compare(bench, subjects, { title: `forward ${path.slice('/v1/'.length)}` })
}

const smallSection = (
  comparison: Comparison,
  upstreamIs: string,
  remarks: readonly string[],
): Section => ({
  title: 'Forward, 200 bytes',
  method: `64 connections, ${upstreamIs} as the upstream. Every server takes \`/v1\` off the path and adds the client's address. Upstream and load generator share a core: where they are the bottleneck, CPU per request is the fair number. \`RSS\` is the most that the server held meanwhile.`,
  tables: [comparisonTable(comparison, MEMORY)],
  targets: [
    ...ratioAtLeast(comparison, GATEWAY, BARE, 0.85),
    ...ratioAtLeast(comparison, GATEWAY, 'envoy', 1.3),
    ...ratioAtLeast(comparison, GATEWAY, 'nginx', 0.6),
    ...ratioAtLeast(comparison, GATEWAY, 'caddy', 1),
  ],
  remarks: [...comparisonRemarks(comparison), ...remarks],
})

const largeSection = (
  comparison: Comparison,
  upstreamIs: string,
  remarks: readonly string[],
): Section => ({
  title: 'Forward, 1 MiB',
  method: `The same with a body of 1 MiB from ${upstreamIs}, streamed to 64 clients at a time.`,
  tables: [comparisonTable(comparison, MEMORY)],
  targets: [
    ...ratioAtLeast(comparison, GATEWAY, BARE, 0.9),
    ...ratioAtLeast(comparison, GATEWAY, 'envoy', 0.95),
    atMost('gateway, RSS with 64 bodies of 1 MiB at a time', {
      bound: 160,
      measured: comparison.summaries.find(({ name }) => name === GATEWAY)?.peakRssMegabytes ?? NaN,
      unit: ' MB',
      digits: 0,
    }),
  ],
  remarks: [...comparisonRemarks(comparison), ...remarks],
})
