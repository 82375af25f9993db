// Every document of `manyDocument`, and so many paths of each, asked for once: afterwards nothing is used
// for the first time.

import { Agent, get } from 'node:http'
import type { RandomTargets } from './wrk.ts'

const SOCKETS = 16

/** Throws unless every response is 200. */
export const requestEach = async (
  url: string,
  { documents, paths }: RandomTargets,
): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
  const work = async (first: number): Promise<void> => {
    for (let index = first; index < documents; index += SOCKETS)
      for (let path = 0; path < paths; path++)
        await request(`${url}/v1/resource-${path}/7`, `host-${index}.bench.test`, agent)
  }
  await Promise.all(Array.from({ length: SOCKETS }, (_, first) => work(first)))
  agent.destroy()
}

const request = (url: string, host: string, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { agent, headers: { host } }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`${url} on ${host} answered ${response.statusCode ?? 0}`))
      })
    }).on('error', reject)
  })
