// Scenarios in which an upstream grows: each instance gets its fair share, over the addresses of a name and behind one
// address.

import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import type { Check, Scenario } from './check.ts'
import type { Tally } from './load.ts'
import { startUpstreams, type Upstreams } from './rig.ts'

/** An address that is new has its full share after it. */
const WARM_MS = 10_000
/** In which a name is looked up anew, and the half of it for a busy machine. */
export const REFRESHED_MS = 15_000

/** Of its fair share. */
const TOLERANCE = 0.2

/** @param steps how many instances are used, one after the other; shares are measured after each but the first */
export const spreadOverAddresses = (steps: readonly number[]): Scenario => ({
  name: `addresses ${steps.join(' → ')}`,
  run: async (rig) => {
    await using up = await startUpstreams(rig, {
      name: `spread-${steps.join('-')}`,
      count: Math.max(...steps),
      retries: 1,
    })
    const checks: Check[] = []
    for (const [at, count] of steps.entries()) {
      await leadToFirst(up, count)
      await usesAll(up, count)
      if (at === 0) continue
      await sleep(WARM_MS)
      checks.push(...(await measureShares(up, count, rig.pace)))
    }
    return [...checks, noneFailed(up)]
  },
})

export const spreadBehindOneAddress = (steps: readonly number[]): Scenario => ({
  name: `one address ${steps.join(' → ')}`,
  run: async (rig) => {
    const { renewedMs, responseMs } = rig.pace
    await using up = await startUpstreams(rig, {
      name: 'one-spread',
      count: Math.max(...steps),
      front: 'one address',
      retries: 1,
    })
    for (const each of up.instances)
      await each.behave({ kind: 'answers', status: 200, delayMs: responseMs })
    const checks: Check[] = []
    for (const [at, count] of steps.entries()) {
      await leadToFirst(up, count)
      await up.load.next(rig.pace.requestsPerSecond)
      if (at === 0) continue
      await sleep(renewedMs)
      checks.push(...(await measureShares(up, count, rig.pace)))
    }
    return [...checks, noneFailed(up)]
  },
})

export const noneFailed = (up: Upstreams): Check => {
  const { failed, sent, statuses } = up.load.total()
  const which = failed === 0 ? '' : ` ${JSON.stringify(statuses)}`
  return { what: `failed of ${sent}${which}`, measured: failed, most: 0 }
}

/** Each of the first so many has answered since. */
export const usesAll = async (up: Upstreams, count: number): Promise<void> => {
  const before = await receivedBy(up)
  await eventually(
    async () => {
      const now = await receivedBy(up)
      const unused = now.slice(0, count).filter((each, at) => each === before[at])
      if (unused.length > 0) throw new Error(`${unused.length} of ${count} get nothing`)
    },
    { withinMs: 3 * REFRESHED_MS, everyMs: 100 },
  )
}

const receivedBy = (up: Upstreams): Promise<readonly number[]> =>
  Promise.all(up.instances.map((each) => each.received()))

const leadToFirst = (up: Upstreams, count: number): Promise<void> =>
  up.leadTo(up.instances.slice(0, count))

const measureShares = async (
  up: Upstreams,
  count: number,
  { fastPerSecond, requestsPerSecond, sampleOf }: MeasuringPace,
): Promise<readonly Check[]> => {
  up.load.setRate(fastPerSecond)
  const tally = await up.load.next(sampleOf(count))
  up.load.setRate(requestsPerSecond)
  const shares = sharesOf(tally, count)
  return [
    {
      what: `least of ${count}, of a fair share`,
      measured: Math.min(...shares),
      least: 1 - TOLERANCE,
    },
    {
      what: `most of ${count}, of a fair share`,
      measured: Math.max(...shares),
      most: 1 + TOLERANCE,
    },
  ]
}

interface MeasuringPace {
  readonly fastPerSecond: number
  readonly requestsPerSecond: number
  readonly sampleOf: (instances: number) => number
}

/** 1: exactly fair. */
const sharesOf = ({ byInstance, sent }: Tally, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => ((byInstance[`i${at}`] ?? 0) * count) / sent)
