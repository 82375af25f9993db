// Stops single processes at random for a moment, as a machine does that is out of memory, or whose hypervisor is busy.

import { readProcessTable, descendantsOf, type ProcessEntry } from './process-table.ts'

export interface Halts {
  /** How often a process was stopped so far. */
  readonly count: number
  /** Stops no more, and lets everything go on that stands. */
  end(): void
}

export interface HaltOptions {
  /** Its descendants are stopped, itself is not. */
  readonly rootPid: number
  /** In [0, 1). */
  readonly random: () => number
}

const PAUSE_MS = { least: 30, most: 600 } as const
/** Between two halts, of which several may overlap. */
const GAP_MS = { least: 50, most: 350 } as const

/** @example using halts = startHalts({ rootPid: child.pid, random: seededRandom(1) }) */
export const startHalts = ({ rootPid, random }: HaltOptions): Halts & Disposable => {
  const between = ({ least, most }: { readonly least: number; readonly most: number }): number =>
    least + random() * (most - least)
  const stopped = new Map<number, NodeJS.Timeout>()
  let count = 0
  let gap: NodeJS.Timeout

  const resume = (pid: number): void => {
    clearTimeout(stopped.get(pid))
    stopped.delete(pid)
    sendSignal(pid, 'SIGCONT')
  }
  const haltOne = (): void => {
    const table = readProcessTable()
    const descendants = descendantsOf(rootPid, table)
    // nsenter stops itself when what it runs is stopped, and waits to be woken.
    for (const { pid, state } of descendants) {
      if (state === 'T' && !stopped.has(pid)) sendSignal(pid, 'SIGCONT')
    }
    const pid = chooseVictim(descendants, table, random)
    if (pid !== undefined && sendSignal(pid, 'SIGSTOP')) {
      count += 1
      stopped.set(pid, setTimeout(resume, between(PAUSE_MS), pid))
    }
    gap = setTimeout(haltOne, between(GAP_MS))
  }
  const end = (): void => {
    clearTimeout(gap)
    for (const pid of stopped.keys()) resume(pid)
  }
  gap = setTimeout(haltOne, between(GAP_MS))
  return {
    get count() {
      return count
    },
    end,
    [Symbol.dispose]: end,
  }
}

/** Not what runs in a container, nor what stands or has ended. */
const chooseVictim = (
  descendants: readonly ProcessEntry[],
  table: readonly ProcessEntry[],
  random: () => number,
): number | undefined => {
  const own = table.find(({ pid }) => pid === process.pid)
  const running = descendants.filter(
    ({ state, namespace }) => !'TtZX'.includes(state) && namespace === own?.namespace,
  )
  return running[Math.floor(random() * running.length)]?.pid
}

const sendSignal = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
    return false
  }
}
