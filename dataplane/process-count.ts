// Decides how many processes serve: as many as `--processes` says, where `auto` follows the machine and the cgroup
// limit.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** `readFile` returns the text of a file, or undefined if there is none. */
export const countProcesses = (
  setting: number | 'auto',
  cores: number = availableParallelism(),
  readFile: (path: string) => string | undefined = readIfThere,
): number => {
  if (setting !== 'auto') return setting
  // Rounded down: a process on half a core would only be throttled.
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
