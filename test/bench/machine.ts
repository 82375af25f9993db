// The machine of a benchmark: programs it has, cores they are pinned to, CPU time and memory they used.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export const has = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export interface Running {
  readonly child: ChildProcess
  readonly pid: number
  stop(): Promise<void>
}

/** Pinned to one core where `taskset` is there; resolves when `port` takes connections. */
export const start = async (
  command: readonly string[],
  core: number,
  port: number,
): Promise<Running> => {
  const line = has('taskset') ? ['taskset', '-c', String(core), ...command] : [...command]
  const [program = '', ...args] = line
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  await untilListening(port, child)
  return {
    child,
    pid: child.pid ?? 0,
    stop: async () => {
      if (child.exitCode !== null) return
      child.kill('SIGINT')
      await Promise.race([new Promise((resolve) => child.once('exit', resolve)), sleep(3000)])
      child.kill('SIGKILL')
    },
  }
}

const untilListening = async (port: number, child: ChildProcess): Promise<void> => {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error(`a server ended with code ${child.exitCode}`)
    if (await canConnect(port)) return
    await sleep(50)
  }
  throw new Error(`nobody listens on port ${port}`)
}

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => {
      resolve(false)
    })
  })

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK']).toString())

/** CPU time of a process in µs. */
export const cpuMicros = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6
}

/** Resident set of a process in MB. */
export const rssMegabytes = (pid: number): number => {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}
