// What the bridge relies on, measured on nexus: a change of version shows here.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { prepareSuite, START_MS } from '../../support/routers/router-under-test.ts'
import { contractRows } from './router-contract.ts'

const suite = await prepareSuite('nexus')

beforeAll(suite.start, START_MS)
afterAll(suite.stop, START_MS)

// Crossbar takes three seconds to come back.
it.each(contractRows(suite))(
  '$title',
  async ({ observe, expected }) => {
    expect(await observe()).toEqual(expected)
  },
  60_000,
)
