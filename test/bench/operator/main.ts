// Measures the operator on a real API server with stand-ins for data planes (`make bench-operator`), prints the tables and
// writes them to docs/benchmarks-operator.md. It asserts nothing.

import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { startControlPlane } from '../../support/kubernetes/control-plane.ts'
import { goModule, kubeAvailability } from '../../support/kubernetes/kube-recipe.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { describeCommit, describeHardware, describeLoad } from '../machine.ts'
import { renderSection, type Section, whole } from '../section.ts'
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

const pageHead = ({ isQuick, isLight }: Arguments, loadBefore: string): readonly string[] => {
  const commit = describeCommit('operator')
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
  const kubernetes = isLight
    ? 'an API server of our own, in memory'
    : `Kubernetes ${goModule().versionOf('k8s.io/kubernetes')}`
  const facts = [
    `${new Date().toISOString().slice(0, 10)}${commit === '' ? '' : `, commit ${commit}`}, in ${minutes} minutes`,
    `${describeHardware()}; load average ${loadBefore} before, ${describeLoad()} after`,
    `Node ${process.versions.node}, ${kubernetes}; API server, etcd, stand-ins and benchmark share the machine with the operator`,
    'Data planes are stand-ins in one process, which keep digests and validate nothing; plain HTTP to them, where a cluster has mutual TLS',
    ...(isQuick ? ['A quick run: these numbers are noise.'] : []),
  ]
  return [
    '# Benchmarks of the operator',
    'Written by `make bench-operator`; do not edit. The operator as a process of its own, with the rights of its account, on a real API server. What one machine did on one day.',
    facts.map((fact) => `- ${fact}`).join('\n'),
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
  const texts = sections.map(renderSection)
  const page = `${[...pageHead(given, loadBefore), ...texts].join('\n\n')}\n`
  process.stdout.write(page)
  if (given.file === undefined) return
  writeFileSync(given.file, page)
  process.stdout.write(`\nWritten to ${given.file}.\n`)
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
