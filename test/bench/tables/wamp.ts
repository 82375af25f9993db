// The tables of requests that become WAMP calls: beside direct calls of autobahn, beside Crossbar's own HTTP
// bridge, and how long they take below saturation.

import type { Bench } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { pinProcesses } from '../machine.ts'
import { processTree } from '../process-figures.ts'
import { runsOf } from '../run-on-demand.ts'
import {
  atMost,
  comparisonRemarks,
  comparisonTable,
  fixed,
  ratioAtLeast,
  type Section,
} from '../section.ts'
import type { Summary } from '../statistics.ts'
import type { Server } from '../server-process.ts'
import { BRIDGE_CALL } from '../wamp-documents.ts'
import { routerVersion, withRouter } from '../wamp-rig.ts'
import { GATEWAY, latencySection } from './latency.ts'

const AUTOBAHN = 'autobahn, no HTTP'
const BARE = 'bare node:http + autobahn'
const WEBSOCKET = 'gateway, WebSocket JSON'

/** How much of its core the measured process was busy: where it is far from all, another was the bottleneck. */
const BUSY = {
  busy: ({ perSecond, cpuMicros }: Summary) => `${fixed((perSecond * cpuMicros) / 10_000, 0)} %`,
}

/** Routers let less through than the gateway can take: it needs longer until its code has been compiled. */
const WARM_FACTOR = 2

export const measureWamp = (bench: Bench): Promise<Section> =>
  withRouter(bench.machine, 'nexus', async ({ router, startGateway, startProgram }) => {
    const { ws, rawsocket } = router
    const caller = async (name: string, url: string): Promise<Subject> => {
      const server = await startProgram('autobahn-caller.ts', { url })
      return { name, pid: server.pid, load: runsOf(server) }
    }
    const bare = await startProgram('bare-caller.ts', { url: ws })
    const subjects = [
      await caller(AUTOBAHN, ws),
      { name: BARE, ...itemsOf(bare) },
      { name: WEBSOCKET, ...itemsOf(await startGateway({ url: ws, serializers: ['json'] })) },
      {
        name: 'gateway, RawSocket JSON',
        ...itemsOf(await startGateway({ url: rawsocket, serializers: ['json'] })),
      },
      {
        name: 'gateway, WebSocket msgpack',
        ...itemsOf(await startGateway({ url: ws, serializers: ['msgpack'] })),
      },
      await caller('autobahn RawSocket, no HTTP', rawsocket),
    ]
    const comparison = await compare(bench, subjects, { title: 'wamp', warmFactor: WARM_FACTOR })
    return {
      title: 'WAMP calls, on nexus',
      method: `GET with one path parameter becomes a call on ${routerVersion('nexus')} with one argument; its result, 178 bytes of JSON, becomes the body. 64 connections, for autobahn alone 64 calls in flight, over WebSocket JSON where nothing else is said. The measured process has a core to itself; load generator, router and callee (a program that does nothing else) share the other one and are the bottleneck where \`busy\` is far from 100 %: there CPU per request is the fair number.`,
      tables: [comparisonTable(comparison, BUSY)],
      targets: [
        atMost(`${WEBSOCKET} ÷ ${BARE}, CPU per call`, {
          bound: 1.08,
          measured: comparison.ratio(BARE, WEBSOCKET).cpu,
          unit: ' ×',
        }),
      ],
      remarks: comparisonRemarks(comparison),
    }
  })

const itemsOf = ({ pid, url }: Server): { pid: number; load: { url: string } } => ({
  pid,
  load: { url: `${url}/v1/items/7` },
})

const BRIDGE = "Crossbar's HTTP bridge"
const OVER_RAWSOCKET = 'gateway, RawSocket JSON'

export const measureCrossbar = (bench: Bench): Promise<Section> =>
  withRouter(bench.machine, 'crossbar', async ({ router, startGateway }) => {
    if (router.httpBridge === undefined) throw new Error('Crossbar has no HTTP bridge here')
    pinProcesses(bench.machine, 'server', processTree(router.pid))
    const through = async (name: string, url: string): Promise<Subject> => {
      const gateway = await startGateway({ url, serializers: ['json'] })
      const load = { url: `${gateway.url}/v1/call`, post: BRIDGE_CALL }
      return { name, pid: router.pid, otherPids: [gateway.pid], load }
    }
    const subjects: readonly Subject[] = [
      { name: BRIDGE, pid: router.pid, load: { url: router.httpBridge.call, post: BRIDGE_CALL } },
      await through(OVER_RAWSOCKET, router.rawsocket),
      await through('gateway, WebSocket JSON', router.ws),
    ]
    const comparison = await compare(bench, subjects, {
      title: 'crossbar',
      warmFactor: WARM_FACTOR,
    })
    return {
      title: 'WAMP calls, on Crossbar',
      method: `POST of procedure and arguments as JSON to ${routerVersion('crossbar')}, 64 connections, the same call and answer both ways. Crossbar, and where there is one the gateway too, share one core; load generator and callee share the other. CPU is that of Crossbar and gateway together.`,
      tables: [comparisonTable(comparison)],
      targets: ratioAtLeast(comparison, OVER_RAWSOCKET, BRIDGE, 2.2),
      remarks: comparisonRemarks(comparison),
    }
  })

export const measureWampLatency = (bench: Bench): Promise<Section> =>
  withRouter(bench.machine, 'nexus', async ({ router, startGateway, startProgram }) => {
    const bare = await startProgram('bare-caller.ts', { url: router.ws })
    const gateway = await startGateway({ url: router.ws, serializers: ['json'] })
    return await latencySection(bench, {
      title: 'Latency of WAMP calls below saturation',
      work: 'GET becomes a call on nexus over WebSocket JSON; router, callee and load generator share a core, and what can be served is what all of them together can.',
      subjects: [
        { name: BARE, ...itemsOf(bare) },
        { name: GATEWAY, ...itemsOf(gateway) },
      ],
    })
  })
