// Load balancing as whoever runs a gateway sees it: a real gateway, upstreams in processes of their own that come, go and
// fail, and requests all the time. What is measured are shares and counts; `npm run balance` does the same at full length.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Check, isKept } from '../support/balance/check.ts'
import { type Pace, startBalanceRig } from '../support/balance/rig.ts'
import { SHORT_LIVED_SCENARIOS, SHORT_SCENARIOS } from '../support/balance/scenarios.ts'

const LONGEST_MS = 180_000

const PACE: Pace = {
  connectionAgeSeconds: 10,
  renewedMs: 10_500,
  requestsPerSecond: 40,
  fastPerSecond: 300,
  updatePerSecond: 100,
  sampleOf: (instances) => Math.max(1500, 500 * instances),
  answerMs: 60,
}
const SHORT_LIVED: Pace = { ...PACE, connectionAgeSeconds: 2, renewedMs: 2500 }

const own = new AsyncDisposableStack()
const runs = new Map<string, Promise<readonly Check[]>>()

beforeAll(async () => {
  for (const [pace, scenarios] of [
    [PACE, SHORT_SCENARIOS],
    [SHORT_LIVED, SHORT_LIVED_SCENARIOS],
  ] as const) {
    const rig = own.use(await startBalanceRig(pace))
    for (const { name, run } of scenarios) {
      const running = run(rig)
      // Its own test tells.
      running.catch(() => undefined)
      runs.set(name, running)
    }
  }
}, LONGEST_MS)

afterAll(async () => {
  await Promise.allSettled(runs.values())
  await own.disposeAsync()
}, LONGEST_MS)

describe('each keeps its limits:', () => {
  it.each([...SHORT_SCENARIOS, ...SHORT_LIVED_SCENARIOS])(
    '$name',
    async ({ name }) => {
      const checks = await runs.get(name)
      expect(checks?.length).toBeGreaterThan(0)
      expect(checks?.filter((check) => !isKept(check))).toEqual([])
    },
    LONGEST_MS,
  )
})
