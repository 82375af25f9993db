// Command lines in, servers that take connections out; all of them ended when the work with them is done,
// and when the benchmark itself ends.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import type { Core, Machine } from './machine.ts'

export interface Server {
  readonly pid: number
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly stop: () => Promise<void>
}

export interface ServerOptions {
  readonly core?: Core
  /** The program and its arguments. */
  readonly command: (port: number) => readonly string[]
}

export type StartServer = (options: ServerOptions) => Promise<Server>

/** What `use` has started is ended when it returns or throws. */
export const withServers = async <T>(
  machine: Machine,
  use: (start: StartServer) => Promise<T>,
): Promise<T> => {
  const servers: Server[] = []
  try {
    return await use(async (options) => {
      const server = await startServer(machine, options)
      servers.push(server)
      return server
    })
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

const STOP_MS = 3000

const startServer = async (
  machine: Machine,
  { core = 'server', command }: ServerOptions,
): Promise<Server> => {
  const port = await freePort()
  const [program = '', ...args] = machine.pin(core, command(port))
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const errors = keepEnd(child)
  const onExit = (): void => {
    child.kill('SIGKILL')
  }
  process.once('exit', onExit)
  const stop = async (): Promise<void> => {
    process.off('exit', onExit)
    if (hasEnded(child)) return
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })])
    child.kill('SIGKILL')
    await ended
  }
  try {
    await untilListening(port, child)
  } catch (error) {
    await stop()
    throw new Error(`${program} ${args.join(' ')} did not start:\n${errors()}`, { cause: error })
  }
  return { pid: child.pid ?? 0, port, url: `http://127.0.0.1:${port}`, stop }
}

const MAX_KEPT = 4096

/** The last of what it wrote to stderr. */
const keepEnd = (child: ChildProcess): (() => string) => {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-MAX_KEPT)
  })
  child.on('error', (error) => {
    text += error.message
  })
  return () => text
}

const hasEnded = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null

const START_MS = 20_000
const ATTEMPT_MS = 50

const untilListening = async (port: number, child: ChildProcess): Promise<void> => {
  for (let waitedMs = 0; waitedMs < START_MS; waitedMs += ATTEMPT_MS) {
    if (await canConnect(port)) return
    if (hasEnded(child)) throw new Error('it has ended')
    await sleep(ATTEMPT_MS)
  }
  throw new Error(`nothing listens on port ${port}`)
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
