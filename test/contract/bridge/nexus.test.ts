// The bridge as the actions use it, against nexus.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { prepareSuite, START_MS } from '../../support/routers/router-under-test.ts'
import { bridgeSuite } from './bridge-contract.ts'

// Its default of 64 messages per client loses calls; a test asks for 10,000 at once.
const suite = await prepareSuite('nexus', { config: { out_queue_size: 30_000 } })
const contract = bridgeSuite(suite)

beforeAll(suite.start, START_MS)
afterAll(async () => {
  await contract[Symbol.asyncDispose]()
  await suite.stop()
}, START_MS)

it.each(contract.rows)(
  '$title',
  async ({ observe, expected }) => {
    expect(await observe()).toEqual(expected)
  },
  60_000,
)
