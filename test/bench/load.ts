// Load on one server for a bounded time: requests a second, the CPU time that the server spent on each and
// the most memory it held. wrk where the machine has it, autocannon otherwise; or whatever else makes requests.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeTempDir } from '../support/temp-dir.ts'
import { runAutocannon } from './autocannon.ts'
import { hasPackage, type Machine } from './machine.ts'
import { readFigures } from './process-figures.ts'
import type { Measured } from './statistics.ts'
import { type Load, type Loaded, parseWrk, wrkCommand, wrkScript } from './wrk.ts'

const run = promisify(execFile)

export const canLoad = (machine: Machine): boolean => machine.has('wrk') || hasPackage('autocannon')

/** @param pids of the server, for its CPU time and memory */
export const measure = (
  machine: Machine,
  load: Load,
  ...pids: readonly number[]
): Promise<Measured> => measureWhile(() => generate(machine, load), ...pids)

/** @param run makes the requests: of anything, by anybody */
export const measureWhile = async (
  run: () => Promise<Loaded>,
  ...pids: readonly number[]
): Promise<Measured> => {
  const memory = watchMemory(pids)
  const before = readFigures(...pids)
  const loaded = await run().finally(memory.stop)
  const spentMicros = readFigures(...pids).cpuMicros - before.cpuMicros
  return {
    perSecond: loaded.requests / loaded.seconds,
    cpuMicros: spentMicros / loaded.requests,
    p50Ms: loaded.p50Ms,
    p99Ms: loaded.p99Ms,
    peakRssMegabytes: memory.peak(),
    socketErrors: loaded.socketErrors,
  }
}

const SAMPLE_MS = 100

const watchMemory = (
  pids: readonly number[],
): { readonly stop: () => void; readonly peak: () => number } => {
  let peak = readFigures(...pids).rssMegabytes
  const sample = (): void => {
    peak = Math.max(peak, readFigures(...pids).rssMegabytes)
  }
  const timer = setInterval(sample, SAMPLE_MS)
  return {
    stop: () => {
      sample()
      clearInterval(timer)
    },
    peak: () => peak,
  }
}

const generate = async (machine: Machine, load: Load): Promise<Loaded> => {
  if (!machine.has('wrk')) return runAutocannon(load)
  await using directory = await makeTempDir()
  const script = join(directory.path, 'load.lua')
  await writeFile(script, wrkScript(load))
  const [program = '', ...args] = machine.pin('load', wrkCommand(load, script))
  const { stdout } = await run(program, args)
  try {
    return parseWrk(stdout)
  } catch (error) {
    throw new Error(`the load on ${load.url} failed`, { cause: error })
  }
}
