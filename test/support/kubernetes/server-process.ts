// Starts a server by a command; it can be ended, killed, frozen and started again. It signals nothing but the process
// it started, and ends with the process that started it.

import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RouterChild, type ChildOptions, startChild } from '../routers/router-child.ts'

export interface ServerProcess {
  /** Another one after `start`. @throws before it */
  readonly pid: number
  readonly isRunning: boolean
  start(): void
  /** SIGTERM, and SIGKILL when that is not enough. Idempotent. */
  stop(): Promise<void>
  /** SIGKILL. Idempotent. */
  kill(): Promise<void>
  /** On return none of its threads runs any more. */
  freeze(): Promise<void>
  thaw(): void
}

/** An API server waits for its watches much longer. */
const STOP_MS = 2000

export const createServerProcess = (options: ChildOptions): ServerProcess => {
  let child: RouterChild | undefined
  const isRunning = (): boolean => child !== undefined && !child.hasEnded
  const signal = (name: NodeJS.Signals): void => {
    // Not to the group: what ends it when we are gone must stay awake.
    if (child !== undefined && isRunning()) process.kill(child.pid, name)
  }
  const kill = async (): Promise<void> => {
    child?.signalAll('SIGKILL')
    await child?.ended
  }
  const pid = (): number => {
    if (child === undefined) throw new Error(`${options.command} was not started`)
    return child.pid
  }
  return {
    kill,
    get pid() {
      return pid()
    },
    get isRunning() {
      return isRunning()
    },
    start: () => {
      child = startChild(options)
    },
    stop: async () => {
      signal('SIGTERM')
      // A frozen one must be able to hear it.
      signal('SIGCONT')
      await Promise.race([child?.ended, sleep(STOP_MS, undefined, { ref: false })])
      await kill()
    },
    freeze: async () => {
      signal('SIGSTOP')
      while (isRunning() && (await hasAwakeThread(pid()))) await sleep(10)
    },
    thaw: () => {
      signal('SIGCONT')
    },
  }
}

/** Where there is no /proc it is not known. */
const hasAwakeThread = async (pid: number): Promise<boolean> => {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  for (const thread of threads) {
    const status = await readFile(`/proc/${pid}/task/${thread}/status`, 'utf8').catch(() => '')
    if (/^State:\s[^TZX]/m.test(status)) return true
  }
  return false
}
