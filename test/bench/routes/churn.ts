// Measures whether anything grows, or slows, while documents come, change and go all the time: memory, file descriptors,
// timers and metric series of the operator and of a gateway, and the latency of requests to documents that stay.

import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { LONG } from '../../component/kubernetes/home.ts'
import { eventually } from '../../support/eventually.ts'
import { inParallel } from '../../../base/in-parallel.ts'
import { readFigures } from '../process-figures.ts'
import { churnHost, churnName, churnResource } from './documents.ts'
import type { Rig } from './rig.ts'
import { startSteadyLoad } from './steady-load.ts'

export interface ChurnSize {
  readonly documents: number
  /** Creates, edits and deletes together. */
  readonly changesPerSecond: number
  readonly seconds: number
  readonly quietSeconds: number
  readonly requestsPerSecond: number
}

export interface Sample {
  /** Since churn began. */
  readonly atSeconds: number
  readonly operator: Held
  readonly gateway: Held
}

/** What a process holds. */
export interface Held {
  readonly rssMegabytes: number
  readonly fileDescriptors: number
  readonly timers: number
  readonly series: number
}

export interface Churned {
  readonly size: ChurnSize
  readonly changes: number
  readonly requests: number
  /** Requests that did not get a 200, by status, or by what was wrong with the connection. */
  readonly failures: ReadonlyMap<string, number>
  readonly quietMs: readonly number[]
  readonly churnMs: readonly number[]
  readonly samples: readonly Sample[]
}

const SAMPLE_SECONDS = 10
/** Resources that are created at a time. */
const AT_ONCE = 16

export const churn = async (
  rig: Rig,
  size: ChurnSize,
  progress: (text: string) => void,
): Promise<Churned> => {
  const { documents } = size
  progress(`churn: creating ${documents} documents`)
  await inParallel(
    Array.from({ length: documents }, (_, index) => index),
    AT_ONCE,
    (index) => rig.apply(churnResource(index, 0)),
  )
  await eventually(() => isServed(rig, documents - 1), { ...LONG, withinMs: 600_000 })
  // One half stays as it is, and is asked for; the other half is edited.
  const stable = Math.ceil(documents / 2)
  let requests = 0
  const failures = new Map<string, number>()
  await using load = startSteadyLoad({
    perSecond: size.requestsPerSecond,
    ask: (index) => ({
      url: `${rig.gateways[index % rig.gateways.length]?.gateway.public ?? ''}/item`,
      headers: { host: churnHost((index * 7919) % stable) },
      onAnswer: ({ status, text }) => {
        requests += 1
        if (status === 200) return
        const failure = status === 0 ? text : `status ${status}`
        failures.set(failure, (failures.get(failure) ?? 0) + 1)
      },
    }),
  })
  progress('churn: quiet')
  // What is asked for first is compiled first; that is no part of what is compared.
  await sleep(WARM_MS)
  load.takeLatencies()
  await sleep(size.quietSeconds * 1000)
  const quietMs = load.takeLatencies()
  const samples: Sample[] = []
  const beganMs = performance.now()
  const secondsSince = (): number => (performance.now() - beganMs) / 1000
  let changes = 0
  let sampledAt = -SAMPLE_SECONDS
  while (secondsSince() < size.seconds) {
    if (secondsSince() - sampledAt >= SAMPLE_SECONDS) {
      sampledAt = secondsSince()
      samples.push({ atSeconds: sampledAt, ...(await holdings(rig)) })
      progress(`churn: ${Math.round(sampledAt)} of ${size.seconds} s`)
    }
    await change(rig, changes, { documents, stable })
    changes += 1
    const dueMs = (changes / size.changesPerSecond) * 1000
    await sleep(Math.max(0, dueMs - (performance.now() - beganMs)))
  }
  const churnMs = load.takeLatencies()
  samples.push({ atSeconds: secondsSince(), ...(await holdings(rig)) })
  return { size, changes, requests, failures, quietMs, churnMs, samples }
}

const WARM_MS = 10_000

/** In turns: one is created, one is edited, and the one created before it is deleted. */
const change = async (
  rig: Rig,
  number: number,
  { documents, stable }: { readonly documents: number; readonly stable: number },
): Promise<void> => {
  const turn = Math.floor(number / 3)
  if (number % 3 === 0) return rig.apply(churnResource(documents + turn, 0))
  if (number % 3 === 1)
    return rig.apply(churnResource(stable + (turn % (documents - stable)), turn + 1))
  return turn === 0 ? undefined : rig.remove(churnName(documents + turn - 1))
}

const isServed = async ({ gateways }: Rig, index: number): Promise<void> => {
  for (const gateway of gateways) {
    const { status } = await gateway.get(churnHost(index), '/item')
    if (status !== 200) throw new Error(`document ${index} is ${status}`)
  }
}

const holdings = async (rig: Rig): Promise<Omit<Sample, 'atSeconds'>> => {
  const [gateway] = rig.gateways
  if (gateway === undefined) throw new Error('no gateway')
  const { pid, management } = gateway.gateway
  return {
    operator: await held(rig.operator.pid, rig.operator.url),
    gateway: await held(pid, management),
  }
}

const held = async (pid: number, url: string): Promise<Held> => {
  const answer = await fetch(`${url}/metrics`)
  const lines = (await answer.text()).split('\n')
  const timers = /^\S*active_resources\{[^}]*type="Timeout"[^}]*\} (\d+)/
  return {
    rssMegabytes: readFigures(pid).rssMegabytes,
    fileDescriptors: readdirSync(`/proc/${pid}/fd`).length,
    timers: lines.reduce((sum, line) => sum + Number(timers.exec(line)?.[1] ?? 0), 0),
    series: lines.filter((line) => line !== '' && !line.startsWith('#')).length,
  }
}
