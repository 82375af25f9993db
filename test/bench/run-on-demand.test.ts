// What a run says comes back as it was, and what goes wrong with it too.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it } from '@jest/globals'
import { offerRuns, runsOf } from './run-on-demand.ts'
import type { Loaded } from './wrk.ts'

const loaded = (seconds: number): Loaded => ({
  requests: 7,
  seconds,
  p50Ms: 1.5,
  p99Ms: 2.5,
  socketErrors: 0,
})

const runOn = async (run: (seconds: number) => Promise<Loaded>): Promise<Loaded> => {
  await using server = offerRuns(0, run)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return await runsOf({ url: `http://127.0.0.1:${port}` })(1.25)
}

it('runs for so many seconds', async () => {
  const run = (seconds: number): Promise<Loaded> => Promise.resolve(loaded(seconds))
  expect(await runOn(run)).toEqual(loaded(1.25))
})

it('fails as the run does', async () => {
  const run = (): Promise<Loaded> => Promise.reject(new Error('no such procedure'))
  await expect(runOn(run)).rejects.toThrow('no such procedure')
})
