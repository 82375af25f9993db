// Reads the processes of this machine from /proc (Linux).

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface ProcessEntry {
  readonly pid: number
  readonly parentPid: number
  /** `R`, `S`, `D`, `T` (stopped), `Z` (ended, not yet waited for), … (proc(5)) */
  readonly state: string
  /** Names its PID namespace: what runs in a container has another. */
  readonly namespace: string
}

/** Without those that end while they are read. */
export const readProcessTable = (): readonly ProcessEntry[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const namespace = readlinkSync(`/proc/${name}/ns/pid`)
        return [parseProcessStat(readFileSync(`/proc/${name}/stat`, 'utf8'), namespace)]
      } catch {
        return []
      }
    })

/** @param stat `1234 (any (name)) S 1 …`: only the last parenthesis ends the name */
export const parseProcessStat = (stat: string, namespace: string): ProcessEntry => {
  const [state = '', parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { pid: Number.parseInt(stat, 10), parentPid: Number(parentPid), state, namespace }
}

/** Those that the process has started, and those that these have, and so on; without itself. */
export const descendantsOf = (
  pid: number,
  table: readonly ProcessEntry[],
): readonly ProcessEntry[] => {
  const children = Map.groupBy(table, ({ parentPid }) => parentPid)
  const found: ProcessEntry[] = [...(children.get(pid) ?? [])]
  for (const entry of found) found.push(...(children.get(entry.pid) ?? []))
  return found
}
