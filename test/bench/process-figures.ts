// Process ids in, what these processes and their children have used so far out. Reads /proc; NaN where there
// is none.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Figures {
  readonly cpuMicros: number
  readonly rssMegabytes: number
}

/** Of the whole trees: a cluster's workers count. */
export const readFigures = (...roots: readonly number[]): Figures => {
  const pids = roots.flatMap(processTree)
  return { cpuMicros: sum(pids.map(cpuMicros)), rssMegabytes: sum(pids.map(rssMegabytes)) }
}

/** CPU time from one line of `/proc/PID/stat`, in clock ticks: user and system (proc_pid_stat(5)). */
const parseCpuTicks = (stat: string): number => {
  // The second field, the program's name in brackets, may hold blanks and brackets itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Resident memory in MB (2^20) from `/proc/PID/status`. */
const parseRssMegabytes = (status: string): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024

/** The process, its children and theirs. */
export const processTree = (pid: number): readonly number[] => {
  const children = read(`/proc/${pid}/task/${pid}/children`)?.trim() ?? ''
  if (children === '') return [pid]
  return [pid, ...children.split(' ').map(Number).flatMap(processTree)]
}

const cpuMicros = (pid: number): number => {
  const stat = read(`/proc/${pid}/stat`)
  return stat === undefined ? NaN : (parseCpuTicks(stat) / ticksPerSecond()) * 1e6
}

const rssMegabytes = (pid: number): number => parseRssMegabytes(read(`/proc/${pid}/status`) ?? '')

const ticksPerSecond = (): number =>
  Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
