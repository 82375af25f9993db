// Runs a command, and returns what it prints and its exit code. It never throws for what the command says.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { env } from 'node:process'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  /** All of it but PATH; ours where left out. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** On stdin. */
  readonly input?: string
  /** Killed after it; 60 s otherwise. */
  readonly timeoutMs?: number
}

export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  /** -1 for a command that was killed. */
  readonly code: number
}

/** @throws where there is no such program */
export const runCommand = async (command: Command): Promise<CommandResult> => {
  const { program, args, environment, cwd, input = '', timeoutMs = 60_000 } = command
  const child = spawn(program, args, {
    env: environment === undefined ? env : { PATH: env['PATH'], ...environment },
    ...(cwd !== undefined && { cwd }),
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  // One that ends without reading its input is no news.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return {
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
    code: code ?? -1,
  }
}

/** What it printed. @throws with the end of what it said, unless it ended with 0 */
export const demandCommand = async (command: Command): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(command)
  if (code === 0) return stdout
  const said = `${stdout}${stderr}`.trim().slice(-4000)
  throw new Error(`${[command.program, ...command.args].join(' ')} ended with ${code}:\n${said}`)
}
