// Measures the gateway beside its peers (`make bench`), prints each table as soon as it is done and writes the figures to
// docs/benchmarks.md. It asserts nothing.

import { type Bench, QUICK_TIMING, TIMING } from './bench.ts'
import { type Arguments, readArguments, type TableName, USAGE } from './arguments.ts'
import { canLoad } from './load.ts'
import { describeMachine, lookAtMachine, type Machine, pinOwnProcess } from './machine.ts'
import { describeRun, writeReport } from './results-page.ts'
import { renderSection, type Section } from './section.ts'
import { measureBuilds } from './tables/builds.ts'
import { measureCompile } from './tables/compile.ts'
import { measureDecisions } from './tables/decisions.ts'
import { measureEvents } from './tables/events.ts'
import { measureFiles } from './tables/files.ts'
import { measureForward, measureForwardLatency } from './tables/forward.ts'
import { measureLatency } from './tables/latency.ts'
import { measureLoad } from './tables/load.ts'
import { measureMatch } from './tables/match.ts'
import { measureMemory } from './tables/memory.ts'
import { measureProcesses } from './tables/processes.ts'
import { measureSecurity } from './tables/security.ts'
import { measureStart } from './tables/start.ts'
import { measureStatic } from './tables/static.ts'
import { measureCrossbar, measureWamp, measureWampLatency } from './tables/wamp.ts'
import { lacksRouter } from './wamp-rig.ts'
import { endOnSignals, readOrExit, startProgress } from './start-program.ts'

interface TableMaker {
  readonly make: (bench: Bench) => Promise<Section | readonly Section[]>
  /** Why it cannot be made on this machine. */
  readonly lacks: (
    machine: Machine,
    given: Arguments,
  ) => string | undefined | Promise<string | undefined>
}

const needsLoad = (machine: Machine): string | undefined =>
  canLoad(machine) ? undefined : 'neither wrk nor autocannon is installed here'

const needsWrk = (machine: Machine): string | undefined =>
  machine.has('wrk') ? undefined : 'wrk, which can pause between requests, is not installed here'

const needsBase = (machine: Machine, { base }: Arguments): string | undefined =>
  base === undefined ? 'no other build was named by --base' : needsLoad(machine)

const MAKERS = {
  files: { make: measureFiles, lacks: () => undefined },
  static: { make: measureStatic, lacks: needsLoad },
  security: { make: measureSecurity, lacks: needsLoad },
  forward: { make: measureForward, lacks: needsLoad },
  match: { make: measureMatch, lacks: needsLoad },
  decisions: { make: measureDecisions, lacks: () => undefined },
  start: { make: measureStart, lacks: () => undefined },
  load: { make: measureLoad, lacks: () => undefined },
  compile: { make: measureCompile, lacks: () => undefined },
  memory: { make: measureMemory, lacks: () => undefined },
  processes: { make: measureProcesses, lacks: needsLoad },
  latency: { make: measureLatency, lacks: needsWrk },
  'forward-latency': { make: measureForwardLatency, lacks: needsWrk },
  wamp: { make: measureWamp, lacks: (machine) => needsLoad(machine) ?? lacksRouter('nexus') },
  crossbar: {
    make: measureCrossbar,
    lacks: (machine) => needsLoad(machine) ?? lacksRouter('crossbar'),
  },
  events: { make: measureEvents, lacks: () => lacksRouter('nexus') },
  builds: { make: (bench: Bench) => measureBuilds(bench, bench.base ?? ''), lacks: needsBase },
  'wamp-latency': {
    make: measureWampLatency,
    lacks: (machine) => needsWrk(machine) ?? lacksRouter('nexus'),
  },
} as const satisfies Record<TableName, TableMaker>

const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/** What was measured, or why nothing was. */
const makeTable = async (
  name: TableName,
  bench: Bench,
  given: Arguments,
): Promise<readonly (Section | string)[]> => {
  const { make, lacks }: TableMaker = MAKERS[name]
  const lacking = await lacks(bench.machine, given)
  const made =
    lacking === undefined
      ? [await make(bench)].flat()
      : [`The table '${name}' was left out: ${lacking}.`]
  for (const each of made) print(typeof each === 'string' ? each : `\n${renderSection(each)}\n`)
  return made
}

const main = async (given: Arguments): Promise<void> => {
  const { tables, isQuick, base, destination } = given
  const startedMs = performance.now()
  const machine = lookAtMachine()
  pinOwnProcess(machine)
  const timing = isQuick ? QUICK_TIMING : TIMING
  const bench: Bench = { machine, timing, base, progress: startProgress() }
  const made: (Section | string)[] = []
  for (const name of tables) made.push(...(await makeTable(name, bench, given)))
  const report = {
    title: 'Gateway',
    facts: [
      describeRun(startedMs, 'dataplane'),
      ...describeMachine(machine),
      'Medians of three interleaved repetitions',
      ...(isQuick ? ['A quick run, one second per measurement: these numbers are noise'] : []),
    ],
    sections: made.filter((each) => typeof each !== 'string'),
    missing: made.filter((each) => typeof each === 'string'),
  } as const
  writeReport(report, destination)
}

endOnSignals()

await main(readOrExit(readArguments, USAGE))
