// The bridge does the same against the playground's own router as against the real ones.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { prepareSuite, START_MS } from '../../support/routers/router-under-test.ts'
import { bridgeSuite } from './bridge-contract.ts'

const suite = await prepareSuite('embedded')
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
