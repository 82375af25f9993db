// `--processes` in, how many processes serve out: `auto` is what the machine and the cgroup limit allow.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** `readFile` gives the text of a file, or undefined where there is none. */
export const countProcesses = (
  setting: number | 'auto',
  cores: number = availableParallelism(),
  readFile: (path: string) => string | undefined = readIfThere,
): number => {
  if (setting !== 'auto') return setting
  // Half a core more would only be throttled: rounded down.
  return Math.max(1, Math.min(cores, Math.floor(readQuota(readFile))))
}

/** Cores of the cgroup's CPU quota; Infinity without one. */
const readQuota = (readFile: (path: string) => string | undefined): number => {
  // cgroup v2: "150000 100000" or "max 100000" (kernel documentation, cgroup-v2, cpu.max).
  const unified = readFile('/sys/fs/cgroup/cpu.max')
  const [quota, period] =
    unified === undefined
      ? [
          readFile('/sys/fs/cgroup/cpu/cpu.cfs_quota_us'),
          readFile('/sys/fs/cgroup/cpu/cpu.cfs_period_us'),
        ]
      : unified.trim().split(' ')
  const cores = Number(quota) / Number(period)
  return cores > 0 ? cores : Infinity
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
