// Runs all parts of the benchmark one after the other on a control plane, and returns what was measured.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openInspector } from '../inspector.ts'
import type { Size, StageName } from './arguments.ts'
import type { Measured, MemoryAfter } from './report.ts'
import { Rig, type RigOptions } from './rig.ts'
import {
  begin,
  measureBurst,
  measureCold,
  measureEdits,
  measureLeaderChange,
  measureNewPods,
  measureRest,
  readMemory,
  type Stage,
} from './stages.ts'

export interface RunOptions extends Omit<RigOptions, 'standIns'> {
  readonly size: Size
  readonly stages: readonly StageName[]
  readonly progress: (text: string) => void
}

export const runStages = async ({
  size,
  stages,
  progress,
  ...options
}: RunOptions): Promise<Measured> => {
  await using rig = await Rig.open({ ...options, standIns: size.dataPlanes + size.pods })
  const stage: Stage = { rig, size, progress }
  try {
    return await Promise.race([runOn(stage, stages, options.program.profiles), rig.failure])
  } catch (cause) {
    const counts = (await rig.audit.read()).map(
      ({ verb, resource, count }) => `${count} × ${verb} ${resource}`,
    )
    const facts = ['The API server heard:', ...counts, 'Operators said last:', ...rig.logs()]
    throw new Error([String(cause), ...facts].join('\n'), { cause })
  }
}

const runOn = async (
  stage: Stage,
  stages: readonly StageName[],
  profiles: string | undefined,
): Promise<Measured> => {
  const begun = await begin(stage)
  const { operator } = begun
  const memory: MemoryAfter[] = []
  const part = async <T>(name: StageName, measure: () => Promise<T>): Promise<T | undefined> => {
    if (!stages.includes(name)) return undefined
    const result = await profiled(name, begun, profiles, measure)
    memory.push({ name, ...readMemory(operator.pid) })
    return result
  }
  memory.push({ name: 'begin', ...readMemory(operator.pid) })
  const edits = await part('edits', () => measureEdits(stage, operator))
  const pods = await part('pods', () => measureNewPods(stage))
  const cold = await part('cold', () => measureCold(stage, begun))
  const burst = await part('burst', () => measureBurst(stage, operator))
  const rest = await part('rest', () => measureRest(stage, begun))
  const leaders = stages.includes('leaders') ? await measureLeaders(stage, begun) : undefined
  return { size: stage.size, begun, edits, pods, cold, burst, rest, leaders, memory }
}

/** What an operator does during one part, as a file of its own; undefined: nothing is recorded. */
const profiled = async <T>(
  name: StageName,
  { operator, inspectorPort }: Awaited<ReturnType<typeof begin>>,
  directory: string | undefined,
  measure: () => Promise<T>,
): Promise<T> => {
  if (directory === undefined) return measure()
  using inspector = await openInspector(operator.pid, inspectorPort)
  const [result, profile] = await inspector.profile(measure)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${name}.cpuprofile`), profile)
  return result
}

const measureLeaders = async (
  stage: Stage,
  { operator }: Awaited<ReturnType<typeof begin>>,
): Promise<NonNullable<Measured['leaders']>> => {
  const first = await measureLeaderChange(stage, operator, 'stop')
  const second = await measureLeaderChange(stage, first.leader, 'kill')
  return { graceful: first.change, killed: second.change }
}
