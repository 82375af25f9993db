// Starts a script of this repository as a process and reads its lines and its end. It shares our process group, so that
// a terminal that closes ends it too.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface ProgramOptions {
  /** For people: `gateway`. */
  readonly name: string
  /** Path of the script from the top of the repository. */
  readonly script: string
  readonly flags: readonly string[]
  /** Every line of stdout and stderr. */
  readonly onLine: (line: string) => void
}

export interface Program {
  readonly name: string
  /** What it printed before it ended; never settles while it runs. */
  readonly ended: Promise<string>
  /** Sends SIGINT and waits for the end; SIGKILL after five seconds. */
  readonly stop: () => Promise<void>
}

const ROOT = join(import.meta.dirname, '..')
const STOP_MS = 5000
const KEPT_LINES = 5

export const startProgram = ({ name, script, flags, onLine }: ProgramOptions): Program => {
  const child = spawn(process.execPath, [join(ROOT, script), ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const last: string[] = []
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => {
      last.push(line)
      if (last.length > KEPT_LINES) last.shift()
      onLine(line)
    })
  }
  return { name, ended: endOf(child, last), stop: () => stop(child) }
}

/** `close`, not `exit`: at `close`, its last line has been read. */
const endOf = (child: ChildProcess, last: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => {
      resolve(error.message)
    })
    child.once('close', () => {
      resolve(last.join('\n'))
    })
  })

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exited
  clearTimeout(timer)
}
