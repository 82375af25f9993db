// Measures the operator on a real API server with stand-ins for data planes (`make bench-operator`), prints the tables and
// writes the figures to docs/benchmarks.md. It asserts nothing.

import { resolve } from 'node:path'
import { startControlPlane } from '../../support/kubernetes/control-plane.ts'
import { goModule, kubeAvailability } from '../../support/kubernetes/kube-recipe.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { describeHardware, describeLoad } from '../machine.ts'
import { describeRun, renderReport, writeReport } from '../results-page.ts'
import { type Section, whole } from '../section.ts'
import {
  type Arguments,
  LARGE_SIZE,
  LARGE_STAGES,
  readArguments,
  type Size,
  type StageName,
  USAGE,
} from './arguments.ts'
import { type AuditLog, prepareAuditLog } from './audit-log.ts'
import { type BenchPlane, startLightPlane } from './light-plane.ts'
import { type Measured, sectionsOf } from './report.ts'
import { OPERATOR_USER } from './rig.ts'
import { runStages } from './run.ts'
import { endOnSignals, readOrExit, startProgress } from '../start-program.ts'

const startedMs = performance.now()
const progress = startProgress()

const factsOf = ({ isQuick, isLight }: Arguments, loadBefore: string): readonly string[] => {
  const kubernetes = isLight
    ? 'an API server of our own, in memory'
    : `Kubernetes ${goModule().versionOf('k8s.io/kubernetes')}`
  return [
    describeRun(startedMs, 'operator'),
    `${describeHardware()}; load ${loadBefore} before, ${describeLoad()} after`,
    `Node ${process.versions.node}, ${kubernetes}; API server, etcd, stand-ins and benchmark share the machine`,
    'Data planes are stand-ins in one process, which validate nothing; plain HTTP to them',
    ...(isQuick ? ['A quick run: these numbers are noise'] : []),
  ]
}

interface Opened {
  readonly plane: BenchPlane
  readonly audit: AuditLog
}

const openReal = async (stack: AsyncDisposableStack, directory: string): Promise<Opened> => {
  const availability = kubeAvailability()
  if (!availability.available) throw new Error(`no control plane here: ${availability.why}`)
  const audit = await prepareAuditLog(directory, OPERATOR_USER)
  const options = { controllers: false, apiserverFlags: audit.flags }
  return { plane: stack.use(await startControlPlane(options)), audit }
}

const openLight = async (stack: AsyncDisposableStack, directory: string): Promise<Opened> => {
  const light = stack.use(await startLightPlane(directory))
  return light
}

const main = async (given: Arguments): Promise<void> => {
  const { size, stages, isLarge } = given
  const loadBefore = describeLoad()
  const sections = sectionsOf(await measure(given, size, stages))
  write(given, sections, loadBefore)
  if (!isLarge) return
  const large = await measure(given, LARGE_SIZE, LARGE_STAGES)
  const ofSize = `${whole(LARGE_SIZE.documents)} documents`
  const more = sectionsOf(large).map((each) => ({ ...each, title: `${each.title}, ${ofSize}` }))
  write(given, [...sections, ...more], loadBefore)
}

const write = (given: Arguments, sections: readonly Section[], loadBefore: string): void => {
  const report = { title: 'Operator', facts: factsOf(given, loadBefore), sections } as const
  process.stdout.write(`${renderReport(report)}\n`)
  writeReport(report, given.destination)
}

const measure = async (
  { isLight, operator, profiles, nodeFlags }: Arguments,
  size: Size,
  stages: readonly StageName[],
): Promise<Measured> => {
  await using directory = await makeTempDir()
  progress('starting a control plane')
  await using stack = new AsyncDisposableStack()
  const { plane, audit } = await (isLight ? openLight : openReal)(stack, directory.path)
  const { memoryLimit } = size
  const program = { main: resolve(operator), profiles, nodeFlags, memoryLimit }
  return await runStages({
    plane,
    audit,
    directory: directory.path,
    size,
    stages,
    program,
    progress,
  })
}

endOnSignals()

await main(readOrExit(readArguments, USAGE))
