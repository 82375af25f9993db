// Servers that run side by side in, what each of them reaches out: measured one at a time, interleaved,
// the reference first and last in every repetition.

import { type Bench, CONNECTIONS } from './bench.ts'
import { measure, measureWhile } from './load.ts'
import { type Comparison, type Repetition, type Run, summarise } from './statistics.ts'
import type { Load, Loaded } from './wrk.ts'

export interface Subject {
  readonly name: string
  readonly pid: number
  /** More processes whose work is part of every request. */
  readonly otherPids?: readonly number[]
  /** HTTP requests, or whatever else makes requests for so many seconds. */
  readonly load: HttpLoad | ((seconds: number) => Promise<Loaded>)
}

export type HttpLoad = Pick<Load, 'url' | 'headers' | 'post' | 'random' | 'pauseMs'>

export interface CompareOptions {
  /** Heads the lines of progress. */
  readonly title: string
  readonly connections?: number
  /** Times the warm-up of the benchmark; 1. */
  readonly warmFactor?: number
  /** Warms up before every run, not only before the first: while others run, V8 gives back what it can and code with it. */
  readonly warmsEach?: boolean
}

/** @param subjects the reference first */
export const compare = async (
  bench: Bench,
  subjects: readonly Subject[],
  { title, connections = CONNECTIONS, warmFactor = 1, warmsEach = false }: CompareOptions,
): Promise<Comparison> => {
  const { machine, timing, progress } = bench
  const under = async (subject: Subject, seconds: number): Promise<Run> => {
    const { name, load } = subject
    const pids = [subject.pid, ...(subject.otherPids ?? [])]
    const measured =
      typeof load === 'function'
        ? await measureWhile(() => load(seconds), ...pids)
        : await measure(machine, { ...load, connections, seconds }, ...pids)
    return { name, measured }
  }
  for (const subject of subjects) {
    progress(`${title}: warming up ${subject.name}`)
    await under(subject, timing.warmSeconds * warmFactor)
  }
  const repetitions: Repetition[] = []
  for (let repetition = 1; repetition <= timing.repetitions; repetition++) {
    const runs: Run[] = []
    for (const subject of [...subjects, ...subjects.slice(0, 1)]) {
      progress(`${title}: ${subject.name}, ${repetition} of ${timing.repetitions}`)
      if (warmsEach) await under(subject, timing.warmSeconds)
      runs.push(await under(subject, timing.seconds))
    }
    repetitions.push(runs)
  }
  return summarise(repetitions)
}
