// Starts a real operator process with flags, and collects its output. It inherits no environment, so that no setting of
// the machine leaks into a test.

import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { programEnvironment } from '../../support/program-environment.ts'

export interface OperatorProcess extends AsyncDisposable {
  readonly pid: number
  /** Base URL of its status pages. */
  readonly url: string
  /** stdout and stderr so far, in lines. */
  readonly logs: () => readonly string[]
  readonly signal: (name: NodeJS.Signals) => void
  readonly exited: Promise<number | null>
  /** Resolves when it ends without being stopped, with how and what it has said last. */
  readonly endedByItself: Promise<string>
  /** A page as JSON; undefined where it is none. */
  readonly page: (path: string) => Promise<unknown>
  readonly isLeading: () => Promise<boolean>
  /** SIGTERM, then its end; throws with the log unless it ends with 0. */
  readonly stop: () => Promise<void>
  /** kill -9. */
  readonly kill: () => Promise<void>
}

export interface OperatorProgram {
  /** As it is built; from source where absent. */
  readonly main?: string
  /** Of Node itself. */
  readonly nodeFlags?: readonly string[]
  /** None where absent. */
  readonly env?: Readonly<Record<string, string>>
  /** The last of its output; all of it where absent. */
  readonly keptLines?: number
}

/** From source. */
export const OPERATOR_MAIN = join(import.meta.dirname, '../../../operator/main.ts')
const START_MS = 45_000
/** V8 writes some 40 when the heap is full. */
const LAST_LINES = 60
const STOP_MS = 30_000

/** Resolves when it listens; it may not have read anything yet. */
export const startOperator = async (
  flags: readonly string[],
  { main = OPERATOR_MAIN, nodeFlags = [], env = {}, keptLines = Infinity }: OperatorProgram = {},
): Promise<OperatorProcess> => {
  const child = spawn(process.execPath, [...nodeFlags, main, ...flags], {
    env: programEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  let isToEnd = false
  const endedByItself = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      if (isToEnd) return
      const last = lines.slice(-LAST_LINES).join('\n')
      resolve(`the operator has ended by itself (${String(signal ?? code)}):\n${last}`)
    })
  })
  const keep = (line: string): void => {
    lines.push(line)
    if (lines.length > 2 * keptLines) lines.splice(0, keptLines)
  }
  const url = await untilOperating(child, lines, keep)
  const page = async (path: string): Promise<unknown> => {
    const response = await fetch(`${url}${path}`)
    return response.ok && response.status !== 204 ? response.json() : undefined
  }
  const kill = async (): Promise<void> => {
    isToEnd = true
    child.kill('SIGKILL')
    await exited
  }
  const stop = async (): Promise<void> => {
    isToEnd = true
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    const code = await exited
    clearTimeout(timer)
    if (code !== 0) {
      throw new Error(`the operator ended with ${String(code)}:\n${lines.slice(-30).join('\n')}`)
    }
  }
  return {
    pid: child.pid ?? 0,
    url,
    exited,
    endedByItself,
    page,
    kill,
    stop,
    logs: () => lines,
    signal: (name) => {
      isToEnd = true
      child.kill(name)
    },
    isLeading: async () => {
      const status = (await page('/status')) as { readonly leading: boolean }
      return status.leading
    },
    [Symbol.asyncDispose]: () =>
      child.exitCode === null && child.signalCode === null ? kill() : Promise.resolve(),
  }
}

const untilOperating = (
  child: ChildProcess,
  lines: readonly string[],
  keep: (line: string) => void,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const fail = (): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`the operator did not start:\n${lines.join('\n')}`))
    }
    const timer = setTimeout(fail, START_MS)
    child.once('close', fail)
    const take = (line: string): void => {
      keep(line)
      const status = readStatusUrl(line)
      if (status === undefined) return
      clearTimeout(timer)
      child.off('close', fail)
      resolve(status)
    }
    for (const output of [child.stdout, child.stderr]) {
      if (output !== null) createInterface({ input: output }).on('line', take)
    }
  })

const readStatusUrl = (line: string): string | undefined => {
  // At any place of the line: an operator of an older version begins with it.
  if (!line.startsWith('{') || !line.includes('"msg":"operating"')) return undefined
  const { status } = JSON.parse(line) as { readonly status: string | readonly string[] }
  return [status].flat()[0]
}
