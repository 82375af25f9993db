import { EventEmitter } from 'node:events'
import { describe, expect, it, jest } from '@jest/globals'
import { createGatewayRequests } from '../../../../dataplane/metrics.ts'
import {
  ProcessStatusRegistry,
  type DurableName,
} from '../../../../dataplane/start/cluster/process-status.ts'
import type { ToPrimary, ToWorker } from '../../../../dataplane/start/cluster/message.ts'
import { ClusterPeer } from '../../../../dataplane/start/cluster/peer.ts'
import { runWorker } from '../../../../dataplane/start/cluster/worker.ts'
import {
  startCluster,
  type ClusterPlane,
  type ForkedWorker,
} from '../../../../dataplane/start/cluster/cluster.ts'
import { readGatewaySettings, type GatewaySettings } from '../../../../dataplane/config.ts'
import { createReplicatedContent } from '../../../../dataplane/start/cluster/replicated-content.ts'
import {
  serveHere,
  type ServedMetrics,
  type ServingParts,
} from '../../../../dataplane/start/plane.ts'
import { StartError } from '../../../../dataplane/start-error.ts'
import type { PackedDocument } from '../../../../dataplane/store/packed/packed-document.ts'
import type { ServingChange } from '../../../../dataplane/store/serving.ts'
import { ServiceDirectory } from '../../../../dataplane/upstream/endpoints/service-directory.ts'
import { createLog } from '../../../../telemetry/log.ts'
import type { MetricsState } from '../../../../telemetry/metrics-state.ts'
import { NO_COUNTS, type RequestCounts } from '../../../../telemetry/request-counts.ts'
import type { RequestMetrics } from '../../../../telemetry/request-metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import { request } from '../../../support/http-request.ts'
import { securityState } from '../../../support/serving-home.ts'
import { settled } from '../../../support/settled.ts'
import { stopTimers } from '../../stop-timers.ts'
import { sizeOfCompact } from '../../../../dataplane/store/packed/compact.ts'

const settingsOf = (...argv: readonly string[]): GatewaySettings => {
  const parsed = readGatewaySettings(['--public', '127.0.0.1:0', ...argv], {})
  if (parsed.kind !== 'settings') throw new Error(JSON.stringify(parsed))
  return parsed.settings
}

const documentOf = (id: string, bytes = 10): PackedDocument => ({
  id,
  realmUri: 'r',
  rank: 0,
  since: 0,
  hosts: [],
  versions: [],
  content: { plain: new Uint8Array(bytes) },
})

const put = (...ids: readonly string[]): ServingChange => ({
  put: ids.map((id) => documentOf(id)),
  remove: [],
  realms: { put: [], delete: [] },
})

const requestsOf = (value: number): MetricsState => [
  {
    name: 'requests',
    help: 'R.',
    type: 'counter',
    merge: 'sum',
    series: ['requests'],
    values: [value],
  },
  { name: 'open', help: 'O.', type: 'gauge', merge: 'sum', series: ['open'], values: [value] },
]

const valueOf = ({ state }: ServedMetrics, name: string): number | undefined =>
  state.find((family) => family.name === name)?.values[0]

/** Each API with the number of its requests. */
const requestsIn = ({ requests }: ServedMetrics): (readonly [api: string, count: number])[] =>
  requests
    .filter(({ name }) => name === 'svc_gateway_requests_total')
    .flatMap((family) => [...family.samples()])
    .map(([series, count]) => [/api="(\w*)"/.exec(series)?.[1] ?? '', count])

type Respond = (message: ToWorker) => ToPrimary | undefined

const obedient: Respond = (message) => {
  if (message.kind === 'measure')
    return { kind: 'metrics', task: message.task, state: requestsOf(1), requests: NO_COUNTS }
  if (message.kind === 'listen') {
    const address = { kind: 'tcp', host: '127.0.0.1', port: 4711 } as const
    return { kind: 'done', task: message.task, addresses: { public: address } }
  }
  return 'task' in message ? { kind: 'done', task: message.task } : undefined
}

/** A worker without a process: answers as told, dies when killed or closed. */
class FakeWorker implements ForkedWorker {
  readonly id: number
  readonly received: ToWorker[] = []
  answer: Respond
  readonly #events = new EventEmitter()

  constructor(id: number, respond: Respond) {
    this.id = id
    this.answer = respond
  }

  send(message: ToWorker): void {
    this.received.push(message)
    if (message.kind === 'close') this.die()
    const response = this.answer(message)
    if (response !== undefined) queueMicrotask(() => this.#events.emit('message', response))
  }

  say(message: ToPrimary): void {
    this.#events.emit('message', message)
  }

  kill(): void {
    this.die()
  }

  die(): void {
    queueMicrotask(() => this.#events.emit('exit'))
  }

  on(event: 'exit' | 'message', listener: (message: ToPrimary) => void): void {
    this.#events.on(event, listener)
  }

  kinds(): string[] {
    return this.received.map(({ kind }) => kind)
  }
}

interface Fixture {
  readonly cluster: ClusterPlane
  readonly workers: FakeWorker[]
  readonly restarts: () => number
  readonly lines: string[]
  readonly processStatus: ProcessStatusRegistry
}

const prepare = (
  processes: number,
  responders: readonly Respond[] = [],
  argv: readonly string[] = [],
): Fixture => {
  const workers: FakeWorker[] = []
  const lines: string[] = []
  let restarts = 0
  const processStatus = new ProcessStatusRegistry()
  const security = securityState()
  const cluster = startCluster({
    processes,
    settings: settingsOf(...argv),
    log: createLog({
      level: 'info',
      name: 'x',
      destination: { write: (line) => lines.push(line) },
    }),
    processStatus,
    security,
    onRestart: () => restarts++,
    fork: () => {
      const worker = new FakeWorker(workers.length + 1, responders[workers.length] ?? obedient)
      workers.push(worker)
      return worker
    },
  })
  return { cluster, workers, restarts: () => restarts, lines, processStatus }
}

// No worker is ever late by itself.
stopTimers()

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms)

/** From the loss of a first worker to the start of another, and all that this one is told. */
const passRestart = (): Promise<void> => pass(200)

const applied = (worker: FakeWorker | undefined): string[] =>
  (worker?.received ?? []).flatMap((message) =>
    message.kind === 'apply' ? message.change.put.map(({ id }) => id) : [],
  )

describe('the primary', () => {
  it('gives a worker settings and everything held before it listens', async () => {
    const { cluster, workers } = prepare(2)
    await cluster.serving.apply(put('a'))
    await cluster.serving.apply(put('b'))
    expect(workers).toEqual([])
    expect(await cluster.listen()).toEqual({ public: 'http://127.0.0.1:4711' })
    expect(cluster.size).toBe(2)
    for (const worker of workers) {
      expect(worker.kinds()).toEqual(['start', 'announce', 'apply', 'apply', 'listen'])
      expect(applied(worker)).toEqual(['a', 'b'])
    }
    cluster.announce(['http://127.0.0.1:1'])
    await cluster.serving.apply(put('c'))
    expect(workers.map(applied)).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ])
    await cluster.close()
    expect(cluster.size).toBe(0)
  })

  it('replaces a worker that dies, tells it all, and counts it', async () => {
    const { cluster, workers, restarts } = prepare(2)
    await cluster.listen()
    cluster.announce(['http://own'])
    await cluster.serving.apply(put('a'))
    await cluster.exportMetrics()
    workers[0]?.die()
    await passRestart()
    expect(workers[2]?.kinds().at(-1)).toBe('listen')
    expect(restarts()).toBe(1)
    expect(applied(workers[2])).toEqual(['a'])
    expect(workers[2]?.received).toContainEqual({ kind: 'announce', task: 2, urls: ['http://own'] })
    // What the dead one had counted is kept; what it held is not.
    const state = await cluster.exportMetrics()
    expect(valueOf(state, 'requests')).toBe(3)
    expect(valueOf(state, 'open')).toBe(2)
    await cluster.close()
  })

  it('never takes back what one worker forgets while another counts on', async () => {
    const { cluster, workers } = prepare(2)
    await cluster.listen()
    const [first, second] = workers
    const counted = async (...states: readonly Readonly<Record<string, number>>[]) => {
      for (const [at, worker] of [first, second].entries()) {
        if (worker === undefined) continue
        const values = states[at] ?? {}
        const family = { name: 'f', help: 'F.', type: 'counter', merge: 'sum', isForgetful: true }
        const state = [
          { ...family, series: Object.keys(values), values: Object.values(values) },
        ] as MetricsState
        worker.answer = (message) =>
          message.kind === 'measure'
            ? { kind: 'metrics', task: message.task, state, requests: NO_COUNTS }
            : obedient(message)
      }
      const [merged] = (await cluster.exportMetrics()).state
      return Object.fromEntries(
        (merged?.series ?? []).map((series, at) => [series, merged?.values[at]]),
      )
    }
    expect(await counted({ a: 5, b: 1 }, { a: 7 })).toEqual({ a: 12, b: 1 })
    expect(await counted({ b: 1 }, { a: 8 })).toEqual({ a: 13, b: 1 })
    expect(await counted({ a: 1, b: 1 }, { a: 8 })).toEqual({ a: 14, b: 1 })
    // It is not counted: it may begin anew.
    expect(await counted({ b: 1 }, {})).toEqual({ b: 1 })
    expect(await counted({ a: 1, b: 1 }, {})).toEqual({ a: 1, b: 1 })
    await cluster.close()
  })

  it('asks each worker for its upstreams, and waits a second at most', async () => {
    const view = { origins: [], isTruncated: true }
    const { cluster } = prepare(2, [
      (message) =>
        message.kind === 'view upstreams'
          ? { kind: 'upstreams', task: message.task, view }
          : obedient(message),
      (message) => (message.kind === 'view upstreams' ? undefined : obedient(message)),
    ])
    await cluster.listen()
    const asked = cluster.viewUpstreams(true)
    await pass(1000)
    expect(await asked).toEqual([view, undefined])
    await cluster.close()
  })

  it('asks each worker for decisions, and waits a second at most', async () => {
    const { cluster } = prepare(2, [
      (message) =>
        message.kind === 'find decisions'
          ? { kind: 'decisions', task: message.task, texts: [message.id] }
          : obedient(message),
      (message) => (message.kind === 'find decisions' ? undefined : obedient(message)),
    ])
    await cluster.listen()
    const asked = cluster.findDecisions('some-id')
    await pass(1000)
    expect(await asked).toEqual([['some-id'], undefined])
    await cluster.close()
  })

  it('asks each worker for failures, and waits a second at most', async () => {
    const failures = [{ endedMs: 1, text: '{}' }]
    const { cluster } = prepare(2, [
      (message) =>
        message.kind === 'find failures'
          ? { kind: 'failures', task: message.task, failures }
          : obedient(message),
      (message) => (message.kind === 'find failures' ? undefined : obedient(message)),
    ])
    await cluster.listen()
    const asked = cluster.findFailures({ match: '', beforeMs: undefined, limit: 1 })
    await pass(1000)
    expect(await asked).toEqual([failures, undefined])
    await cluster.close()
  })

  it('tells every worker of the Pods of Services, also one that comes later, and waits for all', async () => {
    const known: Respond = (message) =>
      message.kind === 'endpoints' ? { kind: 'known', task: message.task } : obedient(message)
    const { cluster, workers } = prepare(2, [known, known, known])
    await cluster.listen()
    const service = { service: 'shop/orders', addresses: ['10.0.0.1'], ports: [] }
    await cluster.endpoints.apply({ put: [service], delete: [] })
    expect(cluster.endpoints.directory.size).toBe(1)
    const told = (worker: FakeWorker | undefined): unknown[] =>
      (worker?.received ?? []).flatMap((message) =>
        message.kind === 'endpoints' ? [message.change] : [],
      )
    expect(workers.map(told)).toEqual(Array(2).fill([{ put: [service], delete: [] }]))
    workers[0]?.die()
    await passRestart()
    expect(told(workers[2])).toEqual([{ put: [service], delete: [] }])
    expect(workers[2]?.kinds().indexOf('endpoints')).toBeLessThan(
      workers[2]?.kinds().indexOf('listen') ?? 0,
    )
    await cluster.close()
  })

  it('does not wait for ever for a worker that does not take them', async () => {
    const { cluster } = prepare(1, [
      (message) => (message.kind === 'endpoints' ? undefined : obedient(message)),
    ])
    await cluster.listen()
    let isDone = false
    const done = cluster.endpoints
      .apply({ put: [], delete: [], only: [] })
      .then(() => (isDone = true))
    await pass(4999)
    expect(isDone).toBe(false)
    await pass(1)
    await done
    await cluster.close()
  })

  it('asks for the real port once the first socket is closed', async () => {
    const { cluster, workers } = prepare(1)
    await cluster.listen()
    workers[0]?.die()
    await passRestart()
    expect(workers[1]?.received.at(-1)).toMatchObject({
      kind: 'listen',
      at: { public: { port: 4711 } },
    })
    expect(workers[0]?.received.at(-1)).toMatchObject({ kind: 'listen', at: {} })
    await cluster.close()
  })

  const failing: Respond = (message) =>
    message.kind === 'apply'
      ? { kind: 'failed', task: message.task, message: 'broken', isStartError: false }
      : obedient(message)
  const healthyUntilTold = (): { answer: Respond; fail: () => void } => {
    let current = obedient
    return { answer: (message) => current(message), fail: () => (current = failing) }
  }

  it('refuses a change that all refuse, and keeps nothing of it', async () => {
    const [one, two] = [healthyUntilTold(), healthyUntilTold()]
    const { cluster, workers } = prepare(2, [one.answer, two.answer])
    await cluster.serving.apply(put('a'))
    await cluster.listen()
    one.fail()
    two.fail()
    await expect(cluster.serving.apply(put('a', 'b'))).rejects.toThrow('broken')
    workers[0]?.die()
    await passRestart()
    expect(applied(workers[2])).toEqual(['a'])
    await cluster.close()
  })

  it('restarts the one worker that refuses what the others took', async () => {
    const one = healthyUntilTold()
    const { cluster, workers } = prepare(2, [one.answer])
    await cluster.listen()
    one.fail()
    await cluster.serving.apply(put('a'))
    await passRestart()
    expect(applied(workers[2])).toEqual(['a'])
    await cluster.close()
  })

  it('kills a worker that does not answer, and does without it', async () => {
    const one = healthyUntilTold()
    const { cluster, workers } = prepare(2, [
      (message) =>
        message.kind === 'apply' && message.change.put.length > 0 ? undefined : one.answer(message),
    ])
    await cluster.listen()
    const done = cluster.serving.apply(put('a'))
    await pass(29_999)
    expect(cluster.size).toBe(2)
    await pass(1)
    expect(cluster.size).toBe(1)
    await done
    await passRestart()
    expect(applied(workers[2])).toEqual(['a'])
    await cluster.close()
  })

  it('counts the requests of all workers once, also of one that died, and drops those of removed documents', async () => {
    const { cluster, workers } = prepare(2)
    await cluster.listen()
    const count = (worker: FakeWorker | undefined, requests: RequestMetrics): void => {
      if (worker === undefined) return
      worker.answer = (message) =>
        message.kind === 'measure'
          ? { kind: 'metrics', task: message.task, state: [], requests: requests.takeCounts() }
          : obedient(message)
    }
    const shown = async (): Promise<Readonly<Record<string, number>>> => {
      return Object.fromEntries(requestsIn(await cluster.exportMetrics()))
    }
    const counts = [createGatewayRequests(), createGatewayRequests()]
    counts.forEach((requests, at) => {
      count(workers[at], requests)
      for (const api of ['a', 'b'])
        requests.rowFor({ api, version: 'v1', path: '/v1/x', method: 'GET' }).observe(200, 0.1)
    })
    expect(await shown()).toEqual({ a: 2, b: 2 })
    expect(await shown()).toEqual({ a: 2, b: 2 })
    workers[0]?.die()
    await passRestart()
    expect(await shown()).toEqual({ a: 2, b: 2 })
    await cluster.serving.apply({ ...put(), remove: ['a'] })
    for (const requests of counts) requests.remove('a')
    expect(await shown()).toEqual({ b: 2 })
    // One that is loaded again begins at 0.
    await cluster.serving.apply(put('a'))
    counts[1]?.rowFor({ api: 'a', version: 'v1', path: '/v1/x', method: 'GET' }).observe(200, 0.1)
    expect(await shown()).toEqual({ a: 1, b: 2 })
    await cluster.close()
  })

  const countedBy = (api: string): RequestCounts => {
    const requests = createGatewayRequests()
    requests.rowFor({ api, version: 'v1', path: '/x', method: 'GET' }).observe(200, 0.1)
    return requests.takeCounts()
  }

  const apisOf = (served: ServedMetrics): string[] => requestsIn(served).map(([api]) => api)

  it('adds what a worker has counted when its reply comes, however late', async () => {
    const asked: number[] = []
    const { cluster, workers } = prepare(1, [
      (message) => {
        if (message.kind !== 'measure') return obedient(message)
        asked.push(message.task)
        return undefined
      },
    ])
    await cluster.listen()
    const [, second] = [cluster.exportMetrics(), cluster.exportMetrics()]
    await pass(1000)
    expect(apisOf(await second)).toEqual([])
    for (const [at, task] of asked.entries())
      workers[0]?.say({ kind: 'metrics', task, state: [], requests: countedBy(`a${at}`) })
    const third = cluster.exportMetrics()
    await pass(1000)
    expect(apisOf(await third)).toEqual(['a0', 'a1'])
    await cluster.close()
  })

  it('takes nothing from a worker that could not remove a document and is about to end', async () => {
    const { cluster, workers } = prepare(2)
    await cluster.listen()
    const [first] = workers
    if (first === undefined) throw new Error('no worker')
    first.answer = (message) =>
      message.kind === 'apply'
        ? { kind: 'failed', task: message.task, message: 'broken', isStartError: false }
        : obedient(message)
    // It was asked before, and its reply is on the way when it is killed.
    const die = first.die.bind(first)
    first.kill = () => {
      first.say({ kind: 'metrics', task: 99, state: [], requests: countedBy('a') })
      die()
    }
    await cluster.serving.apply({ ...put(), remove: ['a'] })
    expect(apisOf(await cluster.exportMetrics())).toEqual([])
    await cluster.close()
  })

  it('takes the last known figures of a worker that is late', async () => {
    let isLate = false
    const { cluster } = prepare(1, [
      (message) => (isLate && message.kind === 'measure' ? undefined : obedient(message)),
    ])
    await cluster.listen()
    expect(valueOf(await cluster.exportMetrics(), 'requests')).toBe(1)
    isLate = true
    const late = cluster.exportMetrics()
    await pass(1000)
    expect(valueOf(await late, 'requests')).toBe(1)
    await cluster.close()
  })

  it.each<[string, Respond, string]>([
    [
      'cannot listen',
      (message) =>
        message.kind === 'listen'
          ? { kind: 'failed', task: message.task, message: '--public x: taken', isStartError: true }
          : obedient(message),
      '--public x: taken',
    ],
    ['is silent', () => undefined, 'a serving process ended at its start'],
  ])('does not start when the first worker %s', async (_, respond, message) => {
    const { cluster, restarts } = prepare(2, [respond])
    const failed = cluster.listen().catch((caught: unknown) => caught)
    await pass(30_000)
    const error = await failed
    expect(error).toBeInstanceOf(StartError)
    expect(String(error)).toContain(message)
    expect([cluster.size, restarts()]).toEqual([0, 0])
  })

  it('says why a later worker could not start, and tries again', async () => {
    const { cluster, workers, lines } = prepare(2, [
      obedient,
      (message) =>
        message.kind === 'listen'
          ? { kind: 'failed', task: message.task, message: 'no memory', isStartError: false }
          : obedient(message),
    ])
    await cluster.listen()
    expect(lines.join('')).toContain('no memory')
    await passRestart()
    expect(workers[2]?.kinds().at(-1)).toBe('listen')
    await cluster.close()
  })

  it('passes on draining, and replaces no worker from then on', async () => {
    const { cluster, workers } = prepare(2)
    await cluster.listen()
    cluster.beginDraining()
    expect(workers.map((worker) => worker.kinds().at(-1))).toEqual(['drain', 'drain'])
    cluster.releaseClients()
    expect(workers.map((worker) => worker.kinds().at(-1))).toEqual([
      'release clients',
      'release clients',
    ])
    workers[0]?.die()
    await pass(60_000)
    expect(workers).toHaveLength(2)
    await cluster.close()
  })

  it('kills what does not end after abort', async () => {
    const { cluster, workers } = prepare(1)
    await cluster.listen()
    const [worker] = workers
    if (worker === undefined) throw new Error('no worker')
    const die = worker.die.bind(worker)
    worker.die = () => undefined
    const closed = cluster.close()
    worker.kill = die
    cluster.abort()
    expect(worker.kinds().at(-1)).toBe('abort')
    await pass(1999)
    expect(cluster.size).toBe(1)
    await pass(1)
    await closed
  })

  it('refuses a living socket before it forks', async () => {
    const { cluster, workers } = prepare(1, [], ['--public', 'unix:/etc/hostname'])
    await expect(cluster.listen()).rejects.toThrow('--public unix:/etc/hostname')
    expect(workers).toEqual([])
  })
})

describe('ClusterPeer', () => {
  it('has no task left once its process is gone', async () => {
    const peer = new ClusterPeer(
      { id: 1, send: () => true, kill: () => true },
      { taskTimeoutMs: 60_000, onRequests: () => undefined },
    )
    const outcome = peer.perform({ kind: 'apply', change: put('a') })
    const queued = peer.perform({ kind: 'apply', change: put('b') })
    await settled()
    peer.markGone()
    expect([await outcome, await queued]).toEqual([{ kind: 'gone' }, { kind: 'gone' }])
    expect(peer.isGone).toBe(true)
    await peer.measure(60_000)
    expect(peer.lastMetrics).toEqual([])
    peer.notify('close')
    peer.receive({ kind: 'done', task: 99 })
  })
})

describe('held content', () => {
  const realm = (uri: string, description: string): { uri: string; description: string } => ({
    uri,
    description,
  })

  it('adds up changes, and takes one back', () => {
    const held = createReplicatedContent()
    held.add({
      ...put('a', 'b'),
      realms: { put: [realm('r', 'one'), realm('s', 'x')], delete: [] },
    })
    const undo = held.add({
      put: [documentOf('b', 20), documentOf('__proto__')],
      remove: ['a'],
      realms: { put: [realm('r', 'two')], delete: ['s'] },
    })
    const content = (): unknown => {
      const portions = held.portions()
      return [
        portions.flatMap(({ realms }) => realms.put.map(({ description }) => description)),
        portions.flatMap((change) =>
          change.put.map(({ id, content }) => [id, sizeOfCompact(content)]),
        ),
      ]
    }
    expect(content()).toEqual([
      ['two'],
      [
        ['b', 20],
        ['__proto__', 10],
      ],
    ])
    undo()
    expect(content()).toEqual([
      ['one', 'x'],
      [
        ['b', 10],
        ['a', 10],
      ],
    ])
  })

  it('tells a later worker that the operator has sent something, unless that was taken back', () => {
    const held = createReplicatedContent()
    const marks = () => held.portions().map(({ isComplete = false }) => isComplete)
    held.add({ ...put('a'), realms: { put: [], delete: [] } })
    expect(marks()).toEqual([false, false])
    const undo = held.add({ ...put('b'), isComplete: true })
    expect(marks()[0]).toBe(true)
    undo()
    expect(marks()[0]).toBe(false)
    held.add({ ...put('b'), isComplete: true })
    held.add(put('c'))
    expect(marks()[0]).toBe(true)
  })

  it('sends documents in portions', () => {
    const held = createReplicatedContent()
    held.add({
      ...put(),
      put: Array.from({ length: 10 }, (_, i) => documentOf(`d${i}`, 1024 * 1024)),
    })
    expect(held.portions().map((change) => change.put.length)).toEqual([0, 4, 4, 2])
  })
})

const startWorker = (
  parts: Partial<ServingParts> = {},
): {
  channel: EventEmitter
  sent: ToPrimary[]
  codes: number[]
  tell: (message: ToWorker) => void
  responseTo: (task: number) => Promise<ToPrimary>
  /** How often it has said that it listens. */
  listenings: () => number
} => {
  const channel = new EventEmitter()
  const sent: ToPrimary[] = []
  const codes: number[] = []
  let listenings = 0
  runWorker({
    channel: {
      send: (message) => sent.push(message),
      on: (event: string, listener: (message: ToWorker) => void) => channel.on(event, listener),
    },
    create: () =>
      Promise.resolve({
        log: createLog({ level: 'silent', name: 'x' }),
        parts: {
          serving: { apply: () => Promise.resolve() },
          publicHandlers: () => ({ onRequest: (_, response) => response.end('served') }),
          exportMetrics: () => Promise.resolve(requestsOf(5)),
          releaseHere: () => Promise.resolve(false),
          endStreams: () => undefined,
          close: () => Promise.resolve(),
          ...parts,
        },
      }),
    onListening: () => {
      listenings += 1
    },
    exit: (code) => codes.push(code),
  })
  return {
    channel,
    sent,
    codes,
    listenings: () => listenings,
    tell: (message) => channel.emit('message', message),
    responseTo: (task) =>
      eventually(() => {
        const response = sent.find((message) => 'task' in message && message.task === task)
        if (response === undefined) throw new Error(`no response to ${task}`)
        return response
      }),
  }
}

describe('a worker', () => {
  it('starts, applies, listens, measures, drains and closes at the primary’s messages', async () => {
    const urls: (readonly string[])[] = []
    const changes: string[] = []
    let ended = 0
    const worker = startWorker({
      endStreams: () => {
        ended += 1
      },
      announce: (own) => urls.push(own),
      serving: {
        apply: (change) => {
          changes.push(...change.put.map(({ id }) => id))
          return Promise.resolve()
        },
      },
    })
    worker.tell({ kind: 'start', task: 1, settings: settingsOf(), rings: securityState().rings })
    worker.tell({ kind: 'announce', task: 2, urls: ['http://own'] })
    worker.tell({ kind: 'apply', task: 3, change: put('a') })
    await worker.responseTo(3)
    expect(worker.listenings()).toBe(0)
    worker.tell({ kind: 'listen', task: 4, at: {} })
    const response = await worker.responseTo(4)
    expect(worker.listenings()).toBe(1)
    const address = response.kind === 'done' ? response.addresses?.public : undefined
    if (address?.kind !== 'tcp') throw new Error(JSON.stringify(response))
    expect([urls, changes]).toEqual([[['http://own']], ['a']])
    const url = `http://127.0.0.1:${address.port}`
    expect((await request(url)).text).toBe('served')
    worker.tell({ kind: 'measure', task: 5 })
    const measured = await worker.responseTo(5)
    const state = measured.kind === 'metrics' ? measured.state : []
    expect(state.slice(0, 2)).toEqual(requestsOf(5))
    expect(state[2]?.series).toEqual(['svc_gateway_connections{listener="public"}'])
    worker.tell({ kind: 'drain' })
    expect((await request(url)).headers.connection).toBe('close')
    worker.tell({ kind: 'release clients' })
    expect((await request(url)).headers.connection).toBe('close')
    expect(ended).toBe(1)
    worker.tell({ kind: 'abort' })
    worker.tell({ kind: 'close' })
    worker.tell({ kind: 'close' })
    await eventually(() => {
      expect(worker.codes).toEqual([0])
    })
    worker.channel.emit('disconnect')
    expect(worker.codes).toEqual([0])
  })

  it('answers a failure, and does the next task all the same', async () => {
    const worker = startWorker({ serving: { apply: () => Promise.reject(new Error('broken')) } })
    worker.tell({ kind: 'apply', task: 1, change: put() })
    worker.tell({
      kind: 'start',
      task: 2,
      settings: settingsOf('--public', '203.0.113.1:1'),
      rings: securityState().rings,
    })
    worker.tell({ kind: 'apply', task: 3, change: put() })
    worker.tell({ kind: 'listen', task: 4, at: {} })
    expect(await worker.responseTo(4)).toMatchObject({ kind: 'failed', isStartError: true })
    expect(worker.sent).toMatchObject([
      { kind: 'failed', task: 1, message: 'the worker has not started yet', isStartError: false },
      { kind: 'done', task: 2 },
      { kind: 'failed', task: 3, message: 'broken' },
      { kind: 'failed', task: 4 },
    ])
    expect(worker.listenings()).toBe(0)
  })

  it('measures nothing before it has started', async () => {
    const worker = startWorker()
    worker.tell({ kind: 'measure', task: 1 })
    expect(await worker.responseTo(1)).toEqual({
      kind: 'metrics',
      task: 1,
      state: [],
      requests: NO_COUNTS,
    })
  })

  it('ends with its primary, and leaves signals to it', () => {
    const worker = startWorker()
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2']) worker.channel.emit(signal)
    expect(worker.codes).toEqual([])
    worker.channel.emit('disconnect')
    expect(worker.codes).toEqual([1])
  })
})

describe('what bridges say across processes', () => {
  const status = [
    { realmUri: 'com.acme', sessions: [{ url: 'ws://r', state: 'open' as const }], durable: [] },
  ]
  const name = { realmUri: 'com.acme', kind: 'registration' as const, id: 7 }

  it('writes what each worker says on the board, and erases it with the worker', async () => {
    const { cluster, workers, processStatus } = prepare(2)
    let changes = 0
    processStatus.onChange(() => changes++)
    await cluster.listen()
    workers[0]?.say({ kind: 'bridge', status })
    workers[1]?.say({ kind: 'bridge', status })
    expect(processStatus.sessionsOf('com.acme')).toHaveLength(2)
    expect(processStatus.sessionsOf('constructor')).toEqual([])
    workers[0]?.die()
    await settled()
    expect(processStatus.sessionsOf('com.acme')).toHaveLength(1)
    workers[0]?.say({ kind: 'bridge', status })
    expect(processStatus.sessionsOf('com.acme')).toHaveLength(1)
    expect(changes).toBe(3)
    await cluster.close()
  })

  it.each([
    { holder: 1, found: true },
    { holder: undefined, found: false },
  ])('asks the other workers for what one does not hold: $found', async ({ holder, found }) => {
    const holds =
      (index: number): Respond =>
      (message) =>
        message.kind === 'release'
          ? { kind: 'released', task: message.task, found: index === holder }
          : obedient(message)
    const { cluster, workers } = prepare(3, [holds(0), holds(1), holds(2)])
    await cluster.listen()
    workers[0]?.say({ kind: 'release', ask: 4, name })
    await settled()
    expect(workers[0]?.received).toContainEqual({ kind: 'released', ask: 4, found })
    expect(workers[0]?.kinds()).not.toContain('release')
    expect(workers[1]?.received).toContainEqual(expect.objectContaining({ kind: 'release', name }))
    await cluster.close()
  })

  it('lets a worker ask its primary, and answers it', async () => {
    let ask: ((name: DurableName) => Promise<boolean>) | undefined
    const channel = new EventEmitter()
    const sent: ToPrimary[] = []
    runWorker({
      channel: {
        send: (message) => sent.push(message),
        on: (event: string, listener: (message: ToWorker) => void) => channel.on(event, listener),
      },
      create: (_settings, { peers }) => {
        ask = (durable) => peers.releaseElsewhere(durable)
        peers.statusChanged(status)
        return Promise.reject(new Error('enough'))
      },
      onListening: () => undefined,
      exit: () => undefined,
    })
    channel.emit('message', {
      kind: 'start',
      task: 1,
      settings: settingsOf(),
      rings: securityState().rings,
    })
    await settled()
    expect(sent).toContainEqual({ kind: 'bridge', status })
    const response = ask?.(name)
    const question = sent.find(({ kind }) => kind === 'release')
    expect(question).toEqual({ kind: 'release', ask: 1, name })
    channel.emit('message', { kind: 'released', ask: 1, found: true })
    expect(await response).toBe(true)
  })

  it('shares one state: a revocation is known everywhere before it is confirmed', async () => {
    const { cluster, workers } = prepare(3)
    await cluster.listen()
    const until = Math.floor(Date.now() / 1000) + 60
    const call = { kind: 'revoke', key: 'ticket:1', untilUnixSeconds: until } as const
    workers[0]?.say({ kind: 'shared', ask: 9, call })
    await settled()
    expect(workers[0]?.received).toContainEqual(
      expect.objectContaining({ kind: 'shared', ask: 9, reply: { ok: true, value: undefined } }),
    )
    const entries = [['ticket:1', until]]
    for (const worker of workers.slice(1))
      expect(worker.received).toContainEqual(expect.objectContaining({ kind: 'revoked', entries }))
    expect(workers[0]?.kinds()).not.toContain('revoked')
    workers[1]?.say({ kind: 'shared', ask: 1, call: { kind: 'takeOnce', key: 'a', ttlSeconds: 5 } })
    workers[2]?.say({ kind: 'shared', ask: 1, call: { kind: 'takeOnce', key: 'a', ttlSeconds: 5 } })
    const answers = (): unknown[] =>
      [workers[1], workers[2]].flatMap((worker) =>
        (worker?.received ?? []).flatMap((message) =>
          message.kind === 'shared' ? [message.reply] : [],
        ),
      )
    await settled()
    expect(answers()).toHaveLength(2)
    expect(answers()).toContainEqual({ ok: true, value: true })
    expect(answers()).toContainEqual({ ok: true, value: false })
    // A worker that starts later is told what it missed.
    workers[0]?.die()
    await passRestart()
    expect(workers[3]?.received).toContainEqual(
      expect.objectContaining({ kind: 'revoked', entries }),
    )
    await cluster.close()
  })

  it('releases what the worker holds when the primary asks', async () => {
    const names: DurableName[] = []
    const worker = startWorker({
      releaseHere: (asked) => Promise.resolve(names.push(asked) > 0),
    })
    worker.tell({ kind: 'release', task: 3, name })
    expect(await worker.responseTo(3)).toEqual({ kind: 'released', task: 3, found: false })
    worker.tell({ kind: 'start', task: 1, settings: settingsOf(), rings: securityState().rings })
    await worker.responseTo(1)
    worker.tell({ kind: 'release', task: 4, name })
    expect(await worker.responseTo(4)).toEqual({ kind: 'released', task: 4, found: true })
    expect(names).toEqual([name])
  })
})

describe('a worker that gets the Pods of Services', () => {
  it('knows them before it has started, and says so', async () => {
    const { tell, responseTo } = startWorker()
    const service = { service: 'shop/orders', addresses: [], ports: [] }
    tell({ kind: 'endpoints', task: 5, change: { put: [service], delete: [] } })
    expect(await responseTo(5)).toEqual({ kind: 'known', task: 5 })
  })
})

describe('serveHere', () => {
  it('is the same plane in one process', async () => {
    const urls: (readonly string[])[] = []
    let isClosed = false
    const parts: ServingParts = {
      serving: { apply: () => Promise.resolve() },
      publicHandlers: () => ({ onRequest: (_, response) => response.end('here') }),
      exportMetrics: () => Promise.resolve(requestsOf(3)),
      announce: (own) => urls.push(own),
      releaseHere: () => Promise.resolve(false),
      endStreams: () => undefined,
      close: () => {
        isClosed = true
        return Promise.resolve()
      },
    }
    const plane = serveHere(parts, {
      settings: settingsOf(),
      log: createLog({ level: 'silent', name: 'x' }),
      services: new ServiceDirectory(),
    })
    plane.beginDraining()
    plane.abort()
    const { public: url = '' } = await plane.listen()
    plane.announce([url])
    expect(urls).toEqual([[url]])
    expect((await request(url)).text).toBe('here')
    expect(valueOf(await plane.exportMetrics(), 'requests')).toBe(3)
    plane.beginDraining()
    expect((await request(url)).headers.connection).toBe('close')
    plane.abort()
    await plane.close()
    expect(isClosed).toBe(true)
  })
})
