// Starts a real Redis on a free port of loopback, without persistence, which stops when it is disposed of. Where the
// machine has no redis-server it says so.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import type { Availability } from './availability.ts'

export interface RedisServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Ends it at once; what it held is lost. */
  kill(): Promise<void>
  /** On the same port, with nothing in it. */
  restart(): Promise<void>
  /**
   * What it answers to a command; throws for an error.
   *
   * @example await redis.tell('CONFIG SET maxmemory 1')
   */
  tell(command: string): Promise<string>
}

export const hasRedis = (): boolean => spawnSync('redis-server', ['--version']).status === 0

export const redisAvailability = (): Availability =>
  hasRedis() ? { available: true } : { available: false, why: 'there is no `redis-server` on PATH' }

/** @example await using redis = await startRedis() */
export const startRedis = async (): Promise<RedisServer> => {
  const port = await freePort()
  let running = await launch(port)
  const kill = async (): Promise<void> => {
    if (running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    restart: async () => {
      await kill()
      running = await launch(port)
    },
    tell: (command) => tell(port, command),
    [Symbol.asyncDispose]: kill,
  }
}

const launch = async (port: number): Promise<ChildProcess> => {
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', flags, { stdio: 'ignore' })
  await eventually(() => answers(port))
  return child
}

/** Inline, as a person would at its port. */
const tell = async (port: number, command: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${command}\r\n`)
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  const response = bytes.toString().trimEnd()
  if (response.startsWith('-')) throw new Error(response)
  return response
}

const answers = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
