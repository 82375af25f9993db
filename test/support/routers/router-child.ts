// Runs a command in a process group of its own, which ends with the process that started it, and leaves none behind. It
// does not know what it runs.

import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

export interface RouterChild {
  readonly pid: number
  readonly hasEnded: boolean
  /** To the program alone. */
  terminate(): void
  /** To the whole group: Crossbar's workers too. */
  signalAll(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
  /** Resolves once nothing of the group runs. */
  readonly ended: Promise<void>
}

export interface ChildOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Takes stdout and stderr, appended. */
  readonly logPath: string
}

/**
 * The shell becomes the program, so that the pid is the program's own. What it leaves behind reads a pipe
 * whose other end we hold: when we are gone, killed or not, it kills the group.
 */
const GUARDED =
  'exec 3<&0 </dev/null; (read -r _ <&3; kill -KILL -$$) >/dev/null 2>&1 & exec 3<&-; exec "$0" "$@"'

export const startChild = ({ command, args, cwd, logPath }: ChildOptions): RouterChild => {
  const log = openSync(logPath, 'a')
  const child = spawn('sh', ['-c', GUARDED, command, ...args], {
    cwd,
    detached: true,
    stdio: ['pipe', log, log],
  })
  closeSync(log)
  const { pid } = child
  if (pid === undefined) throw new Error(`cannot start ${command}`)
  const state = { hasEnded: false }
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      state.hasEnded = true
      // Workers that outlived it go now.
      signalGroup(pid, 'SIGKILL')
      resolve()
    })
  })
  return {
    pid,
    ended,
    get hasEnded() {
      return state.hasEnded
    },
    terminate: () => {
      child.kill('SIGTERM')
    },
    signalAll: (signal) => {
      signalGroup(pid, signal)
    },
  }
}

const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal)
  } catch {
    // Nothing of it is left.
  }
}
