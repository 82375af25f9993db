// Reads how many bytes of memory a process has resident.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { promisify } from 'node:util'

export const residentBytes = async (pid: number): Promise<number> => {
  const text =
    platform() === 'linux'
      ? /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
      : (await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])).stdout.trim()
  return Number(text) * 1024
}
