// Measures a rig and an operator at a given size, and returns plain numbers. One function for each part of the report.
// Every wait ends, with an error that says for what.

import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OperatorProcess } from '../../component/kubernetes/operator-process.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import type { FakePod } from '../../support/kubernetes/fake-pod.ts'
import { openInspector } from '../inspector.ts'
import { readFigures } from '../process-figures.ts'
import type { Size } from './arguments.ts'
import { countStatusWrites, countWrites, type RequestCount } from './audit-log.ts'
import { idOf, nameOf } from './documents.ts'
import { inParallel, now, type Rig } from './rig.ts'
import type { ReceivedCall, Version } from './stand-ins.ts'

export interface Stage {
  readonly rig: Rig
  readonly size: Size
  readonly progress: (text: string) => void
}

/** What an operator has used during a part. */
interface Used {
  readonly cpuMs: number
}

/** A busy machine takes its time; an operator that does nothing at all ends the run. */
const PATIENCE_MS = 300_000

/** The first so many stand-ins have a Pod that stays. */
const planesOf = ({ dataPlanes }: Size): readonly number[] =>
  Array.from({ length: dataPlanes }, (_, index) => index)

const used = async <T>(
  operator: OperatorProcess,
  run: () => Promise<T>,
): Promise<T & { readonly used: Used }> => {
  const before = readFigures(operator.pid).cpuMicros
  const result = await run()
  return { ...result, used: { cpuMs: (readFigures(operator.pid).cpuMicros - before) / 1000 } }
}

export interface Begun {
  readonly operator: OperatorProcess
  readonly inspectorPort: number
  readonly pods: readonly FakePod[]
  /** Since the operator was started. */
  readonly syncedMs: number
  readonly programmedMs: number
  /** Statuses that said Programmed for the first time, per second, once every data plane was complete. */
  readonly statusesPerSecond: number
  readonly used: Used
}

/** Everything is there already: documents, pods that are empty. */
export const begin = async ({ rig, size, progress }: Stage): Promise<Begun> => {
  progress(`applying ${size.documents} documents`)
  await inParallel(size.documents, (index) => rig.edit(index))
  progress(`${size.dataPlanes} pods`)
  const pods = await inParallel(size.dataPlanes, (index) => rig.addPod(index))
  progress('the first operator')
  const inspectorPort = await freePort()
  const startedMs = now()
  const operator = await rig.startOperator([`--inspect-port=127.0.0.1:${inspectorPort}`])
  const syncedMs = (await untilComplete(rig, planesOf(size))) - startedMs
  progress('until all is said to be programmed')
  const [left, sinceMs] = [size.documents - rig.programmed(size.documents), now()]
  const programmedAtMs = await untilAllProgrammed(rig, size, progress)
  const statusesPerSecond = (left * 1000) / (programmedAtMs - sinceMs)
  const programmedMs = programmedAtMs - startedMs
  const cpuMs = readFigures(operator.pid).cpuMicros / 1000
  const used = { cpuMs }
  return { operator, inspectorPort, pods, syncedMs, programmedMs, statusesPerSecond, used }
}

const untilComplete = async (rig: Rig, planes: readonly number[]): Promise<number> => {
  const all = await rig.standIns.until(
    planes,
    ({ completedAtMs }) => completedAtMs !== undefined,
    PATIENCE_MS,
  )
  return Math.max(...all.map(({ completedAtMs = NaN }) => completedAtMs))
}

/** Gives up when nothing has come for long: how long all of it takes is a matter of how much there is. */
const untilAllProgrammed = async (
  rig: Rig,
  { documents }: Size,
  progress: Stage['progress'],
): Promise<number> => {
  let [count, sinceMs, toldMs] = [0, now(), now()]
  for (;;) {
    const newer = rig.programmed(documents)
    if (newer > count) [count, sinceMs] = [newer, now()]
    if (count === documents) return now()
    if (now() - sinceMs > PATIENCE_MS)
      throw new Error(`${count} of ${documents} documents are programmed, and nothing moves`)
    if (now() - toldMs > 20_000) {
      progress(`${count} of ${documents}`)
      toldMs = now()
    }
    await sleep(20)
  }
}

/** From before the API server has heard of it, ms. */
export interface Latencies {
  /** Until the last data plane has it. */
  readonly held: readonly number[]
  /** Until the status says so, and all of them have it. */
  readonly programmed: readonly number[]
}

export interface Edited extends Latencies {
  /** Until the API has it, and until the first data plane has it. */
  readonly applied: readonly number[]
  readonly first: readonly number[]
  readonly used: Used
}

export const measureEdits = (stage: Stage, operator: OperatorProcess): Promise<Edited> =>
  used(operator, async () => {
    const { size, progress } = stage
    progress(`${size.edits} edits, one at a time`)
    const edits: EditTimes[] = []
    for (let turn = 0; turn < size.edits; turn++) {
      edits.push(await editOnce(stage, (turn * STRIDE) % size.documents))
      // What comes in step with the operator's own clocks would measure those.
      await sleep(Math.random() * 100)
    }
    return {
      applied: edits.map(({ appliedMs }) => appliedMs),
      first: edits.map(({ firstMs }) => firstMs),
      held: edits.map(({ heldMs }) => heldMs),
      programmed: edits.map(({ programmedMs }) => programmedMs),
    }
  })

interface EditTimes {
  readonly appliedMs: number
  readonly firstMs: number
  readonly heldMs: number
  readonly programmedMs: number
}

/** Has no factor in common with a round number. */
const STRIDE = 37

const editOnce = async ({ rig, size }: Stage, index: number): Promise<EditTimes> => {
  const startedMs = now()
  const generation = await rig.edit(index)
  const appliedMs = now() - startedMs
  const { digest, atMs } = await rig.statuses.until(nameOf(index), generation, PATIENCE_MS)
  const [arrival] = await untilHeld(rig, size, [{ id: idOf(index), digest }])
  const { firstAtMs = NaN, lastAtMs = NaN } = arrival ?? {}
  return {
    appliedMs,
    firstMs: firstAtMs - startedMs,
    heldMs: lastAtMs - startedMs,
    programmedMs: Math.max(lastAtMs, atMs) - startedMs,
  }
}

/** When the last data plane has taken each of them. */
const untilHeld = (
  { standIns }: Rig,
  { dataPlanes }: Size,
  versions: readonly Version[],
): Promise<readonly ReceivedCall[]> =>
  eventually(
    async () => {
      const arrivals = await standIns.arrivals(versions)
      const missing = arrivals.filter(({ planes }) => planes < dataPlanes).length
      if (missing > 0) throw new Error(`${missing} documents are not on all data planes`)
      return arrivals
    },
    { withinMs: PATIENCE_MS, everyMs: 20 },
  )

export interface NewPods {
  /** From before the Pod is created until it is complete, ms. */
  readonly synced: readonly number[]
}

export const measureNewPods = async ({ rig, size, progress }: Stage): Promise<NewPods> => {
  progress(`${size.pods} new pods, one at a time`)
  const synced: number[] = []
  for (let turn = 0; turn < size.pods; turn++) {
    const index = size.dataPlanes + turn
    const startedMs = now()
    const pod = await rig.addPod(index)
    synced.push((await untilComplete(rig, [index])) - startedMs)
    await pod.delete()
    await sleep(Math.random() * 100)
  }
  return { synced }
}

export interface Cold {
  /** Until each is complete, from before the first restart; ms. */
  readonly synced: readonly number[]
  /** Until the API has been told of all restarts. */
  readonly toldMs: number
  readonly statusWrites: number
  readonly used: Used
}

/** All containers are started anew, at once and empty. */
export const measureCold = (
  { rig, size, progress }: Stage,
  { operator, pods }: Pick<Begun, 'operator' | 'pods'>,
): Promise<Cold> =>
  used(operator, async () => {
    progress(`all ${size.dataPlanes} pods started anew at once`)
    const planes = planesOf(size)
    await rig.audit.mark()
    const startedMs = now()
    await rig.standIns.restart(planes)
    await inParallel(pods.length, async (index) => pods[index]?.restartContainer())
    const toldMs = now() - startedMs
    await untilComplete(rig, planes)
    const all = await rig.standIns.facts()
    return {
      toldMs,
      synced: planes.map((index) => (all[index]?.completedAtMs ?? NaN) - startedMs),
      statusWrites: countStatusWrites(await rig.audit.read()),
    }
  })

export interface Burst extends Latencies {
  /** From the first edit until the API has heard of the last. */
  readonly appliedMs: number
  /** … until the last data plane has the last of them. */
  readonly allHeldMs: number
  /** … until every status says so. */
  readonly allProgrammedMs: number
  readonly used: Used
}

export const measureBurst = (
  { rig, size, progress }: Stage,
  operator: OperatorProcess,
): Promise<Burst> =>
  used(operator, async () => {
    progress(`${size.documents} edits at once`)
    const firstMs = now()
    const edits = await inParallel(size.documents, async (index) => {
      const startedMs = now()
      return { index, startedMs, generation: await rig.edit(index) }
    })
    const appliedMs = now() - firstMs
    await untilNoneIsOlder(rig, edits)
    const said = edits.map(({ index }) => rig.statuses.of(nameOf(index)))
    const versions = edits.map(({ index }) => ({
      id: idOf(index),
      digest: rig.statuses.of(nameOf(index))?.digest ?? '',
    }))
    const heldAt = (await untilHeld(rig, size, versions)).map(({ lastAtMs }) => lastAtMs)
    const bothAt = heldAt.map((atMs, index) => Math.max(atMs, said[index]?.atMs ?? NaN))
    const since = (times: readonly number[]): readonly number[] =>
      times.map((atMs, index) => atMs - (edits[index]?.startedMs ?? NaN))
    return {
      appliedMs,
      held: since(heldAt),
      programmed: since(bothAt),
      allHeldMs: Math.max(...heldAt) - firstMs,
      allProgrammedMs: Math.max(...bothAt) - firstMs,
    }
  })

const untilNoneIsOlder = async (
  rig: Rig,
  edits: readonly { readonly index: number; readonly generation: number }[],
): Promise<void> => {
  let [left, sinceMs] = [Infinity, now()]
  while (left > 0) {
    await sleep(20)
    const older = edits.filter(({ index, generation }) => {
      const said = rig.statuses.of(nameOf(index))
      return said === undefined || said.generation < generation
    }).length
    if (older < left) [left, sinceMs] = [older, now()]
    if (now() - sinceMs > PATIENCE_MS)
      throw new Error(`${left} edits are not said to be programmed, and nothing moves`)
  }
}

export interface Rest {
  /** After the part before it, until nothing was written any more. */
  readonly quietMs: number
  readonly seconds: number
  /** Of one core. */
  readonly cpuShare: number
  readonly requests: readonly RequestCount[]
  readonly statusWrites: number
  /** All but renewals of the Lease. */
  readonly writes: number
  readonly polls: number
  readonly pushes: number
  /** MB (2^20): as it stands, and after a collection. */
  readonly rss: number
  readonly rssCollected: number
  readonly heapCollected: number
}

/** Events are told ten a second, long after what they tell of, and those of a crowd ten seconds later. */
const SETTLE_MS = 11_000
const MAX_SETTLE_MS = 240_000
/** The operator looks every ten seconds whether the last ten were idle, and then collects what the work has left. */
const COLLECTION_MS = 20_000

const untilQuiet = async ({ audit }: Rig): Promise<number> => {
  const startedMs = now()
  for (;;) {
    await audit.mark()
    await sleep(SETTLE_MS)
    if (countWrites(await audit.read()) === 0) return now() - SETTLE_MS - startedMs
    if (now() - startedMs > MAX_SETTLE_MS) throw new Error('it does not come to rest')
  }
}

export const measureRest = async (
  { rig, size, progress }: Stage,
  { operator: { pid }, inspectorPort }: Pick<Begun, 'operator' | 'inspectorPort'>,
): Promise<Rest> => {
  progress('until all has been told, and the garbage of it is collected')
  const quietMs = await untilQuiet(rig)
  await sleep(COLLECTION_MS)
  progress(`at rest for ${size.restSeconds} s`)
  await rig.audit.mark()
  await rig.standIns.mark()
  const [before, startedMs] = [readFigures(pid), now()]
  await sleep(size.restSeconds * 1000)
  const [after, seconds] = [readFigures(pid), (now() - startedMs) / 1000]
  const requests = await rig.audit.read()
  const facts = await rig.standIns.facts()
  using inspector = await openInspector(pid, inspectorPort)
  const heapCollected = await inspector.collect()
  await sleep(1000)
  return {
    quietMs,
    seconds,
    requests,
    heapCollected,
    cpuShare: (after.cpuMicros - before.cpuMicros) / 1e6 / seconds,
    statusWrites: countStatusWrites(requests),
    writes: countWrites(requests),
    polls: facts.reduce((total, { polls, observations }) => total + polls + observations, 0),
    pushes: facts.reduce((total, { pushes }) => total + pushes, 0),
    rss: after.rssMegabytes,
    rssCollected: readFigures(pid).rssMegabytes,
  }
}

export interface Memory {
  /** MB (2^20), now. */
  readonly rss: number
  /** The most since it was asked last. */
  readonly peakRss: number
}

/** The peak begins anew (proc_pid_clear_refs(5)); where that is not allowed it is that of the whole life. */
export const readMemory = (pid: number): Memory => {
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // Not root, or a kernel without it.
  }
  return { rss: readFigures(pid).rssMegabytes, peakRss: Number(peak) / 1024 }
}

export interface LeaderChange {
  /** Until the old process was gone. */
  readonly endedMs: number
  /** Until the new one has read the state of every data plane. */
  readonly observedMs: number
  readonly pushes: number
  readonly statusWrites: number
  /** The first edit after it, until it is programmed. */
  readonly editMs: number
}

/** A standby that is warm takes over; it leads when this resolves. */
export const measureLeaderChange = async (
  stage: Stage,
  leader: OperatorProcess,
  way: 'stop' | 'kill',
): Promise<{ readonly change: LeaderChange; readonly leader: OperatorProcess }> => {
  const { rig, size, progress } = stage
  progress(`leader change: ${way}`)
  const standby = await rig.startOperator()
  await eventually(
    async () => {
      const { status } = await fetch(`${standby.url}/ready`)
      if (status >= 300) throw new Error(`the standby is not ready: ${status}`)
    },
    { withinMs: PATIENCE_MS },
  )
  await sleep(STANDBY_MS)
  await rig.audit.mark()
  await rig.standIns.mark()
  const startedMs = now()
  await (way === 'stop' ? leader.stop() : leader.kill())
  const endedMs = now() - startedMs
  // Only one that knows nothing of a data plane reads its whole state.
  const observed = await rig.standIns.until(
    planesOf(size),
    ({ observations }) => observations > 0,
    PATIENCE_MS,
  )
  const observedMs = Math.max(...observed.map((facts) => facts.observedAtMs ?? NaN)) - startedMs
  await sleep(QUIET_MS)
  const pushes = (await rig.standIns.facts()).reduce((total, facts) => total + facts.pushes, 0)
  const statusWrites = countStatusWrites(await rig.audit.read())
  const { programmedMs: editMs } = await editOnce(stage, 0)
  return { change: { endedMs, observedMs, pushes, statusWrites, editMs }, leader: standby }
}

/** It has looked at the Lease by then. */
const STANDBY_MS = 3_000
/** What would be pushed or written wrongly, would be by then. */
const QUIET_MS = 3_000
