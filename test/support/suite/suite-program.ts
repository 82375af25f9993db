// Runs every test: those of `make test`, then those that it skipped or left out, for which it builds what takes minutes
// (WAMP routers, Kubernetes, a node and its images). A file with real parts that failed is run once more, alone: what passes
// then is flaky, and named so. The last line is "N passed, N failed".
//
// usage: suite-program.ts [--after REPORT [--after-failed]]
//   REPORT: what `make test` has left by --json --outputFile=REPORT; --after-failed: its exit code was not 0

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { parseArgs } from 'node:util'
import { buildNode } from '../cluster/build-node.ts'
import { clusterImages } from '../cluster/cluster-images.ts'
import { clusterAvailability } from '../cluster/node-recipe.ts'
import { buildKube } from '../kubernetes/build-kube.ts'
import { buildPromql } from '../prometheus/promql.ts'
import { buildRouter } from '../routers/build-router.ts'
import { CLUSTER_PATHS, CONTROL_PLANE_PATHS } from './kubernetes-paths.ts'
import {
  addUp,
  type FileReport,
  filesToRepeat,
  filesWithSkippedTests,
  type FinishedPart,
  flakyTests,
  type PartReport,
} from './part-report.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** A test whose tools are missing fails. */
const EVERYTHING = { REQUIRE_REAL: '1' } as const

const readReport = (path: string): PartReport | undefined =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as PartReport) : undefined

/** Jest's own process says how it goes; here only its report is read. */
const runPart = async (
  path: string,
  flags: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<FinishedPart> => {
  const argv = ['test', '--', ...flags, '--json', `--outputFile=${path}`]
  const child = spawn('npm', argv, { stdio: 'inherit', env: { ...env, ...environment } })
  const [code] = (await once(child, 'close')) as [number | null]
  return { report: readReport(path), exitCode: code ?? 1 }
}

const BUILDS = {
  nexus: () => buildRouter('nexus'),
  Crossbar: () => buildRouter('crossbar'),
  Kubernetes: () => buildKube({ whole: true }),
  "Prometheus' parser": () => buildPromql(),
  'the node of a cluster, and its images': async () => {
    const availability = clusterAvailability()
    if (!availability.available) throw new Error(availability.why)
    await buildNode()
    await clusterImages()
  },
} satisfies Record<string, () => Promise<unknown>>

/** What cannot be built is told here, and fails the tests that need it. */
const buildAll = async (): Promise<void> => {
  for (const [what, build] of Object.entries(BUILDS)) {
    try {
      await build()
    } catch (error) {
      process.stderr.write(`not built: ${what}: ${String(error)}\n`)
    }
  }
}

/** What `make test` skips or leaves out. */
const runRest = async (directory: string, quick: FinishedPart): Promise<FinishedPart[]> => {
  await buildAll()
  const skipped = quick.report === undefined ? [] : filesWithSkippedTests(quick.report)
  // Side by side: the tests of a cluster mostly wait for it. They are one after the other, since all are of one node.
  return Promise.all([
    runPart(join(directory, 'real.json'), [...CONTROL_PLANE_PATHS, ...skipped], EVERYTHING),
    runPart(join(directory, 'cluster.json'), ['-w', '1', ...CLUSTER_PATHS], EVERYTHING),
  ])
}

/** Runs each file once more, with nothing of the suite beside it. */
const repeat = async (
  directory: string,
  files: readonly string[],
): Promise<readonly FileReport[]> => {
  const repeated: FileReport[] = []
  for (const [index, file] of files.entries()) {
    process.stderr.write(`failed, and is run once more by itself: ${file}\n`)
    const flags = ['--runTestsByPath', file]
    const { report } = await runPart(join(directory, `again-${index}.json`), flags, EVERYTHING)
    repeated.push(...(report?.testResults ?? []))
  }
  return repeated
}

const { values } = parseArgs({
  options: { after: { type: 'string' }, 'after-failed': { type: 'boolean', default: false } },
})
const directory = await mkdtemp(join(tmpdir(), 'svc-gateway-suite-'))
try {
  const quick =
    values.after === undefined
      ? await runPart(join(directory, 'quick.json'), [])
      : { report: readReport(values.after), exitCode: values['after-failed'] ? 1 : 0 }
  const parts = [quick, ...(await runRest(directory, quick))]
  const repeated = await repeat(directory, filesToRepeat(parts, ROOT))
  const { passed, failed } = addUp(parts, repeated)
  const flaky = flakyTests(parts, repeated, ROOT).map((test) => `flaky: ${test}\n`)
  process.stdout.write(`${flaky.join('')}${passed} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
} finally {
  await rm(directory, { recursive: true })
}
