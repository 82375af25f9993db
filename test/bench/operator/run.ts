// A control plane and how much of everything in; all parts run one after the other on it, and what was measured, out.

import type { Size, StageName } from './arguments.ts'
import type { Measured } from './report.ts'
import { Rig, type RigOptions } from './rig.ts'
import {
  begin,
  measureBurst,
  measureCold,
  measureEdits,
  measureLeaderChange,
  measureNewPods,
  measureRest,
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
  const has = (name: StageName): boolean => stages.includes(name)
  try {
    const begun = await begin(stage)
    const { operator } = begun
    return {
      ...{ size, begun },
      ...(has('edits') && { edits: await measureEdits(stage, operator) }),
      ...(has('pods') && { pods: await measureNewPods(stage) }),
      ...(has('cold') && { cold: await measureCold(stage, begun) }),
      ...(has('burst') && { burst: await measureBurst(stage, operator) }),
      ...(has('rest') && { rest: await measureRest(stage, begun) }),
      ...(has('leaders') && { leaders: await measureLeaders(stage, begun) }),
    }
  } catch (cause) {
    const counts = (await rig.audit.read()).map(
      ({ verb, resource, count }) => `${count} × ${verb} ${resource}`,
    )
    const facts = ['The API server heard:', ...counts, 'Operators said last:', ...rig.logs()]
    throw new Error([String(cause), ...facts].join('\n'), { cause })
  }
}

const measureLeaders = async (
  stage: Stage,
  { operator }: Awaited<ReturnType<typeof begin>>,
): Promise<NonNullable<Measured['leaders']>> => {
  const first = await measureLeaderChange(stage, operator, 'stop')
  const second = await measureLeaderChange(stage, first.leader, 'kill')
  return { graceful: first.change, killed: second.change }
}
