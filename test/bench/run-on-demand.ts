// What makes requests by itself runs in a process of its own: it is told over HTTP for how many seconds, and
// tells what came of it. Both ends are here, so that they agree.

import { createServer, type Server as HttpServer } from 'node:http'
import type { Server } from './server-process.ts'
import type { Loaded } from './wrk.ts'

/** For a program of `servers/`: it listens once it is ready to run. */
export const offerRuns = (port: number, run: (seconds: number) => Promise<Loaded>): HttpServer =>
  createServer((request, response) => {
    run(Number(request.url?.slice(1))).then(
      (loaded) => response.end(JSON.stringify(loaded)),
      (error: unknown) => {
        response.statusCode = 500
        response.end(String(error))
      },
    )
  }).listen(port, '127.0.0.1')

/**
 * @returns the `load` of a subject
 * @example const subject = { name: 'autobahn', pid: caller.pid, load: runsOf(caller) }
 */
export const runsOf =
  ({ url }: Pick<Server, 'url'>) =>
  async (seconds: number): Promise<Loaded> => {
    const response = await fetch(`${url}/${seconds}`)
    const text = await response.text()
    if (!response.ok) throw new Error(`the run failed: ${text}`)
    return JSON.parse(text) as Loaded
  }
