// Locks a path for one process at a time. A lock whose holder is no more is taken over; one that lives is waited for,
// as long as a build may take.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../is-alive.ts'

const PATIENCE_MS = 600_000
const POLL_MS = 100

export const whileLocked = async (
  path: string,
  run: () => Promise<void>,
  { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
): Promise<void> => {
  await take(path, patienceMs)
  try {
    await run()
  } finally {
    await rm(path, { force: true })
  }
}

const take = async (path: string, patienceMs: number): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  const deadlineMs = performance.now() + patienceMs
  while (!(await isTaken(path))) {
    if (performance.now() > deadlineMs) throw new Error(`${path} is held for too long: remove it`)
    if (await isStale(path)) await rm(path, { force: true })
    else await sleep(POLL_MS)
  }
}

const isTaken = async (path: string): Promise<boolean> => {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    // Not `instanceof Error`: under jest Node's errors are of another realm.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Empty: its holder is about to write its pid. */
const isStale = async (path: string): Promise<boolean> => {
  const pid = Number(await readFile(path, 'utf8').catch(() => ''))
  return pid > 0 && !isAlive(pid)
}
