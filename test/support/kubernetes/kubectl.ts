// Arguments come in; what kubectl prints and its exit code go out. It reads and writes nothing of the user's.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { env } from 'node:process'

export interface KubectlOptions {
  /** For `-f -`. */
  readonly input?: string
  /** The administrator's otherwise. */
  readonly kubeconfig?: string
  /** Killed after it; 60 s otherwise. */
  readonly timeoutMs?: number
}

export interface KubectlResult {
  readonly stdout: string
  readonly stderr: string
  /** -1 for a kubectl that was killed. */
  readonly code: number
}

export interface KubectlProgram {
  readonly program: string
  /** The administrator's. */
  readonly kubeconfig: string
}

export const runKubectl = async (
  { program, kubeconfig: admin }: KubectlProgram,
  args: readonly string[],
  { input = '', kubeconfig = admin, timeoutMs = 60_000 }: KubectlOptions = {},
): Promise<KubectlResult> => {
  // What it remembers of an API server would outlive that: ports come again.
  const home = dirname(admin)
  const child = spawn(program, args, {
    env: { PATH: env['PATH'], HOME: home, KUBECACHEDIR: `${home}/kubectl`, KUBECONFIG: kubeconfig },
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
