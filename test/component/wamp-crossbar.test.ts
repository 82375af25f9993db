// What clients of a gateway see when something goes wrong with Crossbar, or between the two.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { prepareSuite, START_MS } from '../support/routers/router-under-test.ts'
import { faultSuite } from './wamp/fault-suite.ts'

const faults = faultSuite(await prepareSuite('crossbar'))

beforeAll(faults.start, START_MS)
afterAll(faults.stop, START_MS)

it.each(faults.rows)(
  '$title',
  async ({ observe, expected }) => {
    expect(await observe()).toEqual(expected)
  },
  60_000,
)
