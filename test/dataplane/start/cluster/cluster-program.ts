// A program of the cluster test: primary and worker in one script, as the gateway's own main is. Its
// documents are bytes that say what to answer under their id. Orders come over the channel of the test.

import cluster from 'node:cluster'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { mock } from 'node:test'
import { ProcessStatusRegistry } from '../../../../dataplane/start/cluster/process-status.ts'
import { startCluster, type ClusterPlane } from '../../../../dataplane/start/cluster/cluster.ts'
import { runWorker } from '../../../../dataplane/start/cluster/worker.ts'
import { readGatewaySettings } from '../../../../dataplane/config.ts'
import { createMeasurements } from '../../../../dataplane/metrics.ts'
import type { ServingParts } from '../../../../dataplane/start/plane.ts'
import { createShutdown, stopOnSignals } from '../../../../dataplane/start/shutdown.ts'
import type { PackedDocument } from '../../../../dataplane/store/packed/packed-document.ts'
import { createLog } from '../../../../telemetry/log.ts'
import { renderMetrics } from '../../../../telemetry/metrics-state.ts'
import { securityState } from '../../../support/serving-home.ts'
import { settled } from '../../../support/settled.ts'
import { expand } from '../../../../dataplane/store/packed/compact.ts'

const log = createLog({ level: 'silent', name: 'cluster-program' })

const createParts = (): ServingParts => {
  const documents = new Map<string, Uint8Array>()
  /** Responses that wait for the end. */
  const held: (() => void)[] = []
  const { metrics, requests } = createMeasurements()
  const row = requests.rowFor({ api: 'test', version: 'v1', path: '/', method: 'get' })
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const id = (request.url ?? '/').slice(1)
    if (id === 'crash') process.exit(3)
    response.setHeader('x-pid', String(process.pid))
    const body = documents.get(id)
    response.statusCode = body === undefined ? 404 : 200
    const answer = (): void => {
      response.end(body ?? 'nothing')
      row.observe(response.statusCode, 0.001)
    }
    if (id === 'slow') {
      response.flushHeaders()
      held.push(answer)
    } else answer()
  }
  return {
    serving: {
      apply: (change) => {
        if (change.remove.includes('poison')) return Promise.reject(new Error('poisoned'))
        // Never answers: the primary must not wait for ever.
        if (change.remove.includes('hang')) return new Promise(() => undefined)
        for (const id of change.remove) documents.delete(id)
        for (const document of change.put) documents.set(document.id, expand(document.content))
        return Promise.resolve()
      },
    },
    publicHandlers: () => ({ onRequest }),
    exportMetrics: () => metrics.exportState(),
    requests,
    releaseHere: () => Promise.resolve(false),
    endStreams: () => {
      // Only when the listeners have begun to close: a worker that did not wait would be gone by then.
      setImmediate(() => {
        for (const answer of held.splice(0)) answer()
      })
    },
    close: () => Promise.resolve(),
  }
}

const documentOf = (id: string, text: string): PackedDocument => ({
  id,
  realmUri: 'realm',
  rank: 0,
  since: 0,
  hosts: [],
  versions: [],
  content: { plain: Buffer.from(text) },
})

interface Order {
  readonly put?: Readonly<Record<string, string>>
  readonly remove?: readonly string[]
  readonly metrics?: true
  /** The workers leave the change unanswered for as long as the primary waits, and are replaced. */
  readonly isUnanswered?: true
}

const obey = async (cluster: ClusterPlane, order: Order): Promise<unknown> => {
  if (order.metrics) {
    const { state, requests } = await cluster.exportMetrics()
    return renderMetrics([...state, ...requests])
  }
  const apply = (): Promise<void> =>
    cluster.serving.apply({
      put: Object.entries(order.put ?? {}).map(([id, text]) => documentOf(id, text)),
      remove: order.remove ?? [],
      realms: { put: [], delete: [] },
    })
  await (order.isUnanswered ? waitInVain(apply) : apply())
  return { size: cluster.size }
}

/** All of the time that passes meanwhile passes at once. */
const waitInVain = async (perform: () => Promise<void>): Promise<void> => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const performed = perform()
  await settled()
  mock.timers.tick(30_000)
  await performed
  // Both have ended: what is left is the pause before others start.
  mock.timers.tick(10_000)
  mock.timers.reset()
}

const runPrimary = async (): Promise<void> => {
  const parsed = readGatewaySettings(process.argv.slice(2))
  if (parsed.kind !== 'settings') throw new Error(JSON.stringify(parsed))
  const { settings } = parsed
  const cluster = startCluster({
    processes: 2,
    settings,
    log,
    processStatus: new ProcessStatusRegistry(),
    security: securityState(),
  })
  await obey(cluster, { put: { first: 'before anybody listened' } })
  const urls = await cluster.listen()
  const shutdown = createShutdown({
    settings,
    serving: cluster,
    finish: () => Promise.resolve(),
    log,
  })
  stopOnSignals(process, shutdown, (code) => process.exit(code))
  process.on('message', (order: Order) => {
    obey(cluster, order).then(
      (value) => process.send?.({ value }),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
  process.send?.({ value: urls })
}

if (cluster.isWorker) {
  runWorker({
    channel: process,
    create: () => Promise.resolve({ parts: createParts(), log }),
    onListening: () => undefined,
    exit: (code) => process.exit(code),
  })
} else {
  runPrimary().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    process.exit(2)
  })
}
