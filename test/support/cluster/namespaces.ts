// Creates the Linux namespaces of a node, which hide and end everything that is started in them: processes, containers,
// mounts, bridges, rules of the firewall. The host keeps nothing of them.

import { access, mkdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { type CommandResult, runCommand } from '../kubernetes/run-command.ts'
import { type RouterChild, startChild } from '../routers/router-child.ts'

export interface Namespaces extends AsyncDisposable {
  /** Of the first process inside, as the host sees it. */
  readonly firstPid: number
  /** Runs inside until it ends. */
  run(command: readonly string[], how?: RunOptions): Promise<CommandResult>
  /** Runs inside until all ends; its output is `NAME.log`. */
  start(name: string, command: readonly string[]): RouterChild
}

export interface RunOptions {
  readonly input?: string
  readonly timeoutMs?: number
}

const INIT = join(import.meta.dirname, 'inside-node.sh')
const UNSHARED = ['--net', '--mount', '--pid', '--ipc', '--uts'] as const
/** A machine under load needs it. */
const START_MS = 60_000

/** @param path where programs are looked for first */
export const startNamespaces = async (directory: string, path: string): Promise<Namespaces> => {
  await mkdir(join(directory, 'kubelet'), { recursive: true })
  const outer = startChild({
    command: 'unshare',
    args: [...UNSHARED, '--fork', '--kill-child', '--mount-proc', 'bash', INIT, directory],
    cwd: directory,
    logPath: join(directory, 'namespaces.log'),
  })
  const inside: RouterChild[] = []
  const first = { pid: 0 }
  const dispose = async (): Promise<void> => {
    for (const child of [outer, ...inside]) child.signalAll('SIGKILL')
    await Promise.all([outer, ...inside].map(({ ended }) => ended))
    // The kernel ends all others in there before it says that the first one has ended.
    await eventually(() => untilGone(first.pid), { withinMs: START_MS })
  }
  try {
    await eventually(() => untilReady(outer, directory), { withinMs: START_MS })
    first.pid = await firstProcess(outer.pid)
  } catch (error) {
    await dispose()
    throw error
  }
  const entering = (command: readonly string[]): readonly string[] => [
    '--target',
    String(first.pid),
    '--mount',
    '--net',
    '--pid',
    '--ipc',
    '--uts',
    'env',
    `PATH=${path}`,
    ...command,
  ]
  return {
    firstPid: first.pid,
    run: (command, how = {}) =>
      runCommand({ program: 'nsenter', args: entering(command), cwd: '/', ...how }),
    start: (name, command) => {
      const logPath = join(directory, `${name}.log`)
      const child = startChild({ command: 'nsenter', args: entering(command), cwd: '/', logPath })
      inside.push(child)
      return child
    },
    [Symbol.asyncDispose]: dispose,
  }
}

const untilReady = async (outer: RouterChild, directory: string): Promise<void> => {
  if (outer.hasEnded) {
    const log = await readFile(join(directory, 'namespaces.log'), 'utf8')
    throw new Error(`no namespaces for a node:\n${log.slice(-2000)}`)
  }
  await access(join(directory, 'ready'))
}

/** The child of another pid namespace: what watches over `outer` is its child, too. */
const firstProcess = async (outer: number): Promise<number> => {
  const children = await readFile(`/proc/${outer}/task/${outer}/children`, 'utf8')
  const own = await readlink('/proc/self/ns/pid')
  for (const pid of children.trim().split(' '))
    if ((await readlink(`/proc/${pid}/ns/pid`)) !== own) return Number(pid)
  throw new Error(`${outer} has no child in a namespace of its own`)
}

/** Ended, whether its parent has taken note or not. */
const untilGone = async (pid: number): Promise<void> => {
  if (pid === 0) return
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  if (/^State:\s[^ZX]/m.test(status)) throw new Error(`${pid} has not ended`)
}
