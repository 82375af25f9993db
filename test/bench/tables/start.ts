// The table of starts: how long a gateway takes until it listens, with nothing to serve and with a snapshot of many
// documents, which it serves by then.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { makeTempDir } from '../../support/temp-dir.ts'
import type { Bench } from '../bench.ts'
import { manyDocument } from '../documents.ts'
import { loadUnmanaged, MAIN, startGateway } from '../gateway.ts'
import type { Machine } from '../machine.ts'
import { readFigures } from '../process-figures.ts'
import { atMost, fixed, type Section, whole } from '../section.ts'
import { withServers } from '../server-process.ts'
import { median } from '../statistics.ts'

const DOCUMENTS = 1000
/** A start is short, and the first one after another program finds cold caches. */
const REPETITIONS = 9

interface Start {
  readonly seconds: number
  /** Of all threads. */
  readonly cpuSeconds: number
}

export const measureStart = async (bench: Bench): Promise<Section> => {
  await using directory = await makeTempDir()
  bench.progress(`start: loading ${whole(DOCUMENTS)} documents`)
  await writeSnapshot(bench, directory.path)
  const ways = {
    [EMPTY]: [],
    [`a snapshot of ${whole(DOCUMENTS)} documents`]: ['--state-dir', directory.path],
    [`${EMPTY}, again`]: [],
  }
  const starts = new Map<string, Start[]>(Object.keys(ways).map((name) => [name, []]))
  for (let repetition = 1; repetition <= REPETITIONS; repetition++) {
    bench.progress(`start: ${repetition} of ${REPETITIONS}`)
    for (const [name, flags] of Object.entries(ways))
      starts.get(name)?.push(await startOnce(bench.machine, flags))
  }
  const summaries = Array.from(starts, ([name, each]) => ({
    name,
    seconds: median(each.map(({ seconds }) => seconds)),
    cpuSeconds: median(each.map(({ cpuSeconds }) => cpuSeconds)),
  }))
  const [empty, restored] = summaries
  return {
    title: 'Start',
    method: `From the start of the process until it listens, on both cores; with \`--state-dir\` it serves the ${whole(DOCUMENTS)} documents of 20 paths by then. CPU is that of all threads. Medians of ${REPETITIONS} interleaved starts.`,
    tables: [
      {
        head: ['', 'seconds', 'CPU seconds'],
        rows: summaries.map(({ name, seconds, cpuSeconds }) => [
          name,
          fixed(seconds, 2),
          fixed(cpuSeconds, 2),
        ]),
      },
    ],
    targets: [
      atMost('start → listening', { bound: 0.35, measured: empty?.seconds ?? NaN, unit: ' s' }),
      atMost(`start with a snapshot of ${whole(DOCUMENTS)} documents → ready`, {
        bound: 1,
        measured: restored?.seconds ?? NaN,
        unit: ' s',
      }),
    ],
    remarks: [WHAT_IT_TAKES],
  }
}

const EMPTY = 'nothing to serve'

/** Found by counting modules, by CPU profiles and by leaving one thing out at a time. */
const WHAT_IT_TAKES =
  'CPU time of the main thread until it listens, by what was taken away, one after the other: 0.33 s with everything; 0.28 without fetch and WebSocket of Node (which an `import` of `node:http` loads) and without Express (loaded for the first request of the management API); 0.23 with validators that are generated, not made by ajv at each start; 0.20 without prom-client and undici. What is left is 620 modules, of which 580 are ours. `NODE_COMPILE_CACHE` would save 0.04 more, but its folder is for one kind of processor and one user, and would keep builds of the image from being equal.'

const writeSnapshot = ({ machine }: Bench, directory: string): Promise<void> =>
  withServers(machine, async (start) => {
    const gateway = await startGateway(start, { flags: ['--state-dir', directory] })
    await loadUnmanaged(
      gateway,
      Array.from({ length: DOCUMENTS }, (_, index) => manyDocument(index)),
    )
  })

/** This process is pinned to one core, and a start uses two. */
const onBothCores = ({ isPinned }: Machine): readonly string[] =>
  isPinned ? ['taskset', '-c', '0,1'] : []

const startOnce = async (machine: Machine, flags: readonly string[]): Promise<Start> => {
  const listeners = ['--public', '127.0.0.1:0', '--management', '127.0.0.1:0']
  const command = [...onBothCores(machine), process.execPath, MAIN, ...listeners, ...flags]
  const [program = '', ...args] = command
  const startedMs = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    output += String(chunk)
    if (output.includes('"listening"')) break
  }
  const seconds = (performance.now() - startedMs) / 1000
  const cpuSeconds = readFigures(child.pid ?? 0).cpuMicros / 1e6
  if (!output.includes('"listening"')) throw new Error(`the gateway does not start: ${output}`)
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  return { seconds, cpuSeconds }
}
