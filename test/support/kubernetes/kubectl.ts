// Runs kubectl with arguments, and returns what it prints and its exit code. It reads and writes nothing of the user's.

import { dirname } from 'node:path'
import { type CommandResult, runCommand } from './run-command.ts'

export interface KubectlOptions {
  /** For `-f -`. */
  readonly input?: string
  /** The administrator's otherwise. */
  readonly kubeconfig?: string
  /** Killed after it; 60 s otherwise. */
  readonly timeoutMs?: number
}

export type KubectlResult = CommandResult

export interface KubectlProgram {
  readonly program: string
  /** The administrator's. */
  readonly kubeconfig: string
}

export const runKubectl = (
  { program, kubeconfig: admin }: KubectlProgram,
  args: readonly string[],
  { input = '', kubeconfig = admin, timeoutMs = 60_000 }: KubectlOptions = {},
): Promise<KubectlResult> => {
  // What it remembers of an API server would outlive that: ports come again.
  const home = dirname(admin)
  const environment = { HOME: home, KUBECACHEDIR: `${home}/kubectl`, KUBECONFIG: kubeconfig }
  return runCommand({ program, args, environment, input, timeoutMs })
}
