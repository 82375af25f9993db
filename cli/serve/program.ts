// Starts a program of this installation as a process and reads its lines and its end. It has a process group of its own:
// Ctrl-C of a terminal reaches us alone, and we end it in order. It ends too where we are killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

export interface ProgramOptions {
  /** For people: `gateway`. */
  readonly name: string
  /** The room whose `main` is started. */
  readonly room: 'dataplane' | 'operator'
  readonly flags: readonly string[]
  /** Every line of stdout and stderr. */
  readonly onLine: (line: string) => void
}

export interface Program {
  readonly name: string
  /** What it printed before it ended; never settles while it runs. */
  readonly ended: Promise<string>
  /** Passes on a signal and waits for the end; SIGKILL five seconds after a SIGINT. */
  readonly stop: (signal?: StopSignal) => Promise<void>
}

/** SIGTERM lets requests in flight finish first, within the times that the gateway is set to. */
export type StopSignal = 'SIGINT' | 'SIGTERM'

const ROOT = join(import.meta.dirname, '../..')
/** `.ts` in a checkout, `.js` in a package. */
const EXTENSION = extname(import.meta.filename)
const END_WITH_PARENT = pathToFileURL(
  join(import.meta.dirname, `end-with-parent-entry${EXTENSION}`),
).href
const STOP_MS = 5000
const KEPT_LINES = 5

export const startProgram = ({ name, room, flags, onLine }: ProgramOptions): Program => {
  const script = join(ROOT, room, `main${EXTENSION}`)
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, script, ...flags], {
    // Nothing is written to stdin: that it closes says that we are gone.
    stdio: 'pipe',
    detached: true,
  })
  const last: string[] = []
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => {
      last.push(line)
      if (last.length > KEPT_LINES) last.shift()
      onLine(line)
    })
  }
  return { name, ended: endOf(child, last), stop: (signal = 'SIGINT') => stop(child, signal) }
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

const stop = async (child: ChildProcess, signal: StopSignal): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const timer = signal === 'SIGINT' ? setTimeout(() => child.kill('SIGKILL'), STOP_MS) : undefined
  await exited
  clearTimeout(timer)
}
