// Starts upstreams that answer with what they read of the header `x-user`, as a JSON list: programs in Go and Python, and
// a server of Node that reads it as Node and as CGI do.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { env } from 'node:process'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Availability } from '../availability.ts'
import { makeTempDir } from '../temp-dir.ts'

export interface HeaderReader {
  readonly origin: string
  readonly stop: () => Promise<void>
}

const HERE = import.meta.dirname

/** Whether the program is there. */
export const programAvailable = (program: string, args: readonly string[]): Availability =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0
    ? { available: true }
    : { available: false, why: `there is no ${program}` }

export const startNodeReader = async (): Promise<HeaderReader> => {
  const server = createServer(({ headers, rawHeaders }, response) => {
    const lines = rawHeaders.filter(
      (_, at) =>
        at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase().replaceAll('_', '-') === 'x-user',
    )
    response.end(JSON.stringify([headers['x-user'], ...lines]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { origin: `http://127.0.0.1:${port}`, stop }
}

export const startPythonReader = (): Promise<HeaderReader> =>
  startProgram('python3', [join(HERE, 'wsgi.py')])

/** Builds it first, which is quick where Go has its standard library built. */
export const startGoReader = async (): Promise<HeaderReader> => {
  const dir = await makeTempDir()
  const program = join(dir.path, 'reader')
  await promisify(execFile)('go', ['build', '-buildvcs=false', '-o', program, 'main.go'], {
    cwd: HERE,
    env: { ...env, GO111MODULE: 'off' },
  })
  const { origin, stop } = await startProgram(program, [])
  return {
    origin,
    stop: async () => {
      await stop()
      await dir[Symbol.asyncDispose]()
    },
  }
}

const startProgram = async (program: string, args: readonly string[]): Promise<HeaderReader> => {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [port] = (await once(lines, 'line')) as [string]
  return { origin: `http://127.0.0.1:${port}`, stop: () => stopProgram(child) }
}

const stopProgram = async (child: ChildProcess): Promise<void> => {
  const exited = once(child, 'exit')
  child.stdin?.end()
  await exited
}
