// Starts the requests of the churn benchmark in a process of their own: what the benchmark itself does, and it changes
// documents and reads metrics, must not be measured as latency.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface ChurnLoad {
  /** Of the gateways. */
  readonly urls: readonly string[]
  /** So many documents, from the first, are asked for. */
  readonly documents: number
  readonly perSecond: number
}

/** Of the requests that ended since the last one. */
export interface LoadReport {
  readonly latenciesMs: readonly number[]
  /** Those that did not get a 200: by status, or by what was wrong with the connection. */
  readonly failures: readonly (readonly [what: string, count: number])[]
}

export interface RunningLoad extends Disposable {
  take(): Promise<LoadReport>
}

const PROGRAM = join(import.meta.dirname, 'churn-load-program.ts')

export const startChurnLoad = async (load: ChurnLoad): Promise<RunningLoad> => {
  const child = fork(PROGRAM, [JSON.stringify(load)], { execArgv: [] })
  await once(child, 'message')
  return {
    take: async () => {
      const reported = once(child, 'message') as Promise<[LoadReport]>
      child.send('take')
      return (await reported)[0]
    },
    [Symbol.dispose]: () => {
      child.kill()
    },
  }
}
