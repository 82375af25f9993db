// A URL in, and the slowest of a steady stream of requests to it while some work is done. The stream comes
// from a process of its own, which what this one does cannot hold up.

import { fork } from 'node:child_process'
import { once } from 'node:events'

export interface ProbeReport {
  readonly requests: number
  readonly failed: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly slowestMs: number
}

export interface Probe extends Disposable {
  /** The requests that were answered while `work` was done. Throws when one was not answered with 200. */
  readonly during: (work: () => Promise<void>) => Promise<ProbeReport>
}

const PROGRAM = new URL('programs/probe-program.ts', import.meta.url)

export const startProbe = async (url: string): Promise<Probe> => {
  const child = fork(PROGRAM, [url])
  await once(child, 'message')
  return {
    during: async (work) => {
      child.send('start')
      await work()
      const answered = once(child, 'message') as Promise<[ProbeReport]>
      child.send('stop')
      const [report] = await answered
      if (report.failed > 0) throw new Error(`${report.failed} requests to ${url} failed meanwhile`)
      return report
    },
    [Symbol.dispose]: () => {
      child.kill()
    },
  }
}
