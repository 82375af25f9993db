// The tables of requests that are passed on to an upstream: small bodies and large ones, beside a
// forwarder that does nothing else and beside well-known proxies.

import type { Bench } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { mainDocument } from '../documents.ts'
import { type Gateway, loadUnmanaged, startGateway } from '../gateway.ts'
import { forwardPeers, startPeers, startUpstream } from '../peers.ts'
import {
  comparisonRemarks,
  comparisonTable,
  fixed,
  ratioAtLeast,
  type Section,
  type Target,
} from '../section.ts'
import { type Server, withServers } from '../server-process.ts'
import type { Comparison, Summary } from '../statistics.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const MEMORY = {
  'RSS MB': ({ peakRssMegabytes }: Summary) => fixed(peakRssMegabytes, 0),
}
const GATEWAY = 'gateway'
const BARE = 'bare undici dispatch'

export const measureForward = async (bench: Bench): Promise<readonly Section[]> => {
  await using directory = await makeTempDir()
  const options = { machine: bench.machine, directory: directory.path }
  return await withServers(bench.machine, async (start) => {
    const upstream = await startUpstream({ ...options, start })
    const { started, remarks } = await startPeers(forwardPeers(upstream), { ...options, start })
    const gateway = await startGateway(start)
    await loadUnmanaged(gateway, [mainDocument(upstream.url)])
    const servers = placeSecond(started, gateway)
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

const placeSecond = (peers: readonly Named[], gateway: Gateway): readonly Named[] => [
  ...peers.slice(0, 1),
  { name: GATEWAY, server: gateway },
  ...peers.slice(1),
]

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
    ...ratioAtLeast(comparison, GATEWAY, 'nginx', 0.43),
    ...aheadOf(comparison, 'caddy'),
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
  targets: ratioAtLeast(comparison, GATEWAY, BARE, 0.9),
  remarks: [...comparisonRemarks(comparison), ...remarks],
})

const aheadOf = (comparison: Comparison, peer: string): readonly Target[] =>
  ratioAtLeast(comparison, GATEWAY, peer, 1)
