// Starts many keep-alive clients of one gateway in a process of their own, and has them send rounds of requests, one
// from each client.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { programEnvironment } from '../../support/program-environment.ts'
import type { RoundReport } from './in-flight-program.ts'

export interface ManyClients extends AsyncDisposable {
  /** Every client posts `{args: [its number]}` to that path; resolves when all have been answered. */
  round(path: string): Promise<RoundReport>
}

const PROGRAM = join(import.meta.dirname, 'in-flight-program.ts')

/** Resolves when all are connected. */
export const startClients = async (origin: string, count: number): Promise<ManyClients> => {
  const child = spawn(process.execPath, [PROGRAM, origin, String(count)], {
    env: programEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const read = async (): Promise<unknown> => {
    const line = await lines.next()
    if (line.done === true) throw new Error('the clients have ended')
    return JSON.parse(line.value) as unknown
  }
  await read()
  return {
    round: async (path) => {
      child.stdin.write(`${path}\n`)
      return (await read()) as RoundReport
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

const SPARE_FILES = 2000

/** What a process here may have open, at most as many as wanted. */
export const affordableClients = (wanted: number): number => {
  const { stdout } = spawnSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })
  const limit = Number(stdout)
  return Number.isNaN(limit) ? wanted : Math.max(100, Math.min(wanted, limit - SPARE_FILES))
}
