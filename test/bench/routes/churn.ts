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
import { type LoadReport, startChurnLoad } from './churn-load.ts'

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
  using load = await startChurnLoad({
    urls: rig.gateways.map(({ gateway }) => gateway.public),
    documents: stable,
    perSecond: size.requestsPerSecond,
  })
  progress('churn: quiet')
  // What is asked for first is compiled first; that is no part of what is compared.
  await sleep(WARM_MS)
  await load.take()
  // The same samples as during churn, as gateways render their metrics for them.
  await sampled(rig, size.quietSeconds, () => sleep(1000 / size.changesPerSecond))
  const quiet = await load.take()
  let changes = 0
  const beganMs = performance.now()
  const samples = await sampled(rig, size.seconds, async (atSeconds) => {
    if (changes % (60 * size.changesPerSecond) === 0)
      progress(`churn: ${Math.round(atSeconds)} of ${size.seconds} s`)
    await change(rig, changes, { documents, stable })
    changes += 1
    const dueMs = (changes / size.changesPerSecond) * 1000
    await sleep(Math.max(0, dueMs - (performance.now() - beganMs)))
  })
  const churned = await load.take()
  return {
    size,
    changes,
    failures: addUp([...quiet.failures, ...churned.failures]),
    quietMs: quiet.latenciesMs,
    churnMs: churned.latenciesMs,
    samples,
  }
}

/** Takes a sample every ten seconds, and one at the end, while `step` is repeated. */
const sampled = async (
  rig: Rig,
  seconds: number,
  step: (atSeconds: number) => Promise<void>,
): Promise<readonly Sample[]> => {
  const samples: Sample[] = []
  const beganMs = performance.now()
  const secondsSince = (): number => (performance.now() - beganMs) / 1000
  let sampledAt = -SAMPLE_SECONDS
  while (secondsSince() < seconds) {
    if (secondsSince() - sampledAt >= SAMPLE_SECONDS) {
      sampledAt = secondsSince()
      samples.push({ atSeconds: sampledAt, ...(await holdings(rig)) })
    }
    await step(secondsSince())
  }
  samples.push({ atSeconds: secondsSince(), ...(await holdings(rig)) })
  return samples
}

const addUp = (failures: LoadReport['failures']): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const [what, count] of failures) sums.set(what, (sums.get(what) ?? 0) + count)
  return sums
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
  const response = await fetch(`${url}/metrics`)
  const lines = (await response.text()).split('\n')
  const timers = /^\S*active_resources\{[^}]*type="Timeout"[^}]*\} (\d+)/
  return {
    rssMegabytes: readFigures(pid).rssMegabytes,
    fileDescriptors: readdirSync(`/proc/${pid}/fd`).length,
    timers: lines.reduce((sum, line) => sum + Number(timers.exec(line)?.[1] ?? 0), 0),
    series: lines.filter((line) => line !== '' && !line.startsWith('#')).length,
  }
}
