// Starts a real gateway process with flags, on free ports, and collects its output. It inherits no environment, so that
// no setting of the machine leaks into a test.

import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { programEnvironment } from './program-environment.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface GatewayOptions {
  /** Override the defaults below: a repeated flag's last value wins. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Of another version; from source where absent. */
  readonly main?: string
}

export interface GatewayProcess extends AsyncDisposable {
  readonly pid: number
  /** Base URLs, as the first line on stdout told them. */
  readonly public: string
  readonly management: string
  /** That line whole. */
  readonly listening: Readonly<Record<string, unknown>>
  /** stdout and stderr so far, in lines. */
  readonly logs: () => readonly string[]
  readonly signal: (name: NodeJS.Signals) => void
  readonly exited: Promise<Exit>
  /** SIGTERM, then its end; SIGKILL after 30 s. Throws with the log unless it ends with 0. */
  readonly stop: () => Promise<void>
  /** kill -9. */
  readonly kill: () => Promise<void>
}

const MAIN = join(import.meta.dirname, '../../dataplane/main.ts')
const DEFAULT_FLAGS = [
  '--public',
  '127.0.0.1:0',
  '--management',
  '127.0.0.1:0',
  '--drain-delay-seconds',
  '0',
]
/** Only what fails waits for so long: less than a test may take. */
const START_MS = 45_000
const STOP_MS = 30_000

/**
 * Starts a gateway and waits until it listens. Throws with its output if it ends before, or takes 45 s.
 *
 * @example
 * await using gateway = await startGateway({ flags: ['--state-dir', dir.path] })
 * const response = await fetch(`${gateway.management}/ready`)
 */
export const startGateway = async ({
  flags = [],
  env = {},
  main = MAIN,
}: GatewayOptions = {}): Promise<GatewayProcess> => {
  const own = DEFAULT_FLAGS.flatMap((flag, i) =>
    i % 2 === 0 && !flags.includes(flag) ? [flag, DEFAULT_FLAGS[i + 1] ?? ''] : [],
  )
  const child = spawnMain([...own, ...flags], env, main)
  const lines: string[] = []
  const exited = exitOf(child)
  const listening = await untilListening(child, lines, exited)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  const stop = (): Promise<void> => stopInOrder(child, exited, lines)
  return {
    pid: child.pid ?? 0,
    public: String(listening['public']),
    management: String(listening['management']),
    listening,
    logs: () => lines,
    signal: (name) => child.kill(name),
    exited,
    stop,
    kill,
    [Symbol.asyncDispose]: () => (hasEnded(child) ? Promise.resolve() : stop()),
  }
}

export interface Run extends Exit {
  readonly stdout: string
  readonly stderr: string
}

/** Runs a gateway with exactly these flags until it ends by itself; killed after 30 s. */
export const runGateway = async (
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> => {
  const child = spawnMain(flags, env)
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  const exit = await exitOf(child)
  clearTimeout(timer)
  return { ...exit, ...output }
}

const spawnMain = (
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
  main = MAIN,
): ChildProcess =>
  spawn(process.execPath, [main, ...flags], {
    env: programEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })

const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null

const exitOf = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    // `close`, not `exit`: then the last line of its output has been read.
    child.once('close', (code, signal) => {
      resolve({ code, signal })
    })
  })

const followLines = (child: ChildProcess, take: (line: string) => void): void => {
  for (const output of [child.stdout, child.stderr]) {
    if (output !== null) createInterface({ input: output }).on('line', take)
  }
}

const untilListening = (
  child: ChildProcess,
  lines: string[],
  exited: Promise<Exit>,
): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    const fail = (): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`the gateway did not start to listen:\n${lines.join('\n')}`))
    }
    const timer = setTimeout(fail, START_MS)
    exited.then(fail, fail)
    followLines(child, (line) => {
      lines.push(line)
      const record = parseRecord(line)
      if (record?.['msg'] !== 'listening') return
      clearTimeout(timer)
      resolve(record)
    })
  })

const parseRecord = (line: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const stopInOrder = async (
  child: ChildProcess,
  exited: Promise<Exit>,
  lines: readonly string[],
): Promise<void> => {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  const { code, signal } = await exited
  clearTimeout(timer)
  if (code !== 0) {
    throw new Error(
      `the gateway ended with ${code ?? signal ?? 'nothing'} instead of 0:\n${lines.slice(-30).join('\n')}`,
    )
  }
}
