// Scenarios in which an upstream is replaced, goes away as a whole, or its name is not resolved any more.

import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import type { Check, Scenario } from './check.ts'
import type { Instance } from './instance.ts'
import { addressOf, type Front, startUpstreams } from './rig.ts'
import { noneFailed, REFRESHED_MS, usesAll } from './spread.ts'

const REPLACED = 3

/** Each instance gets a successor at another address, as a Pod does, and ends as soon as the name or the balancer knows. */
export const rollingUpdate = (front: Front): Scenario => ({
  name: `rolling update, ${front}`,
  run: async (rig) => {
    await using up = await startUpstreams(rig, {
      name: `rolling-${front === 'addresses' ? 'named' : 'one'}`,
      count: REPLACED,
      front,
      retries: 1,
    })
    const { requestsPerSecond, updatePerSecond } = rig.pace
    up.load.setRate(updatePerSecond)
    let serving: readonly Instance[] = up.instances
    for (const [at, old] of up.instances.entries()) {
      await up.load.next(2 * updatePerSecond)
      const successor = await up.add(addressOf(REPLACED + at), `n${at}`)
      serving = [...serving.filter((each) => each !== old), successor]
      await up.leadTo(serving)
      await old.stop()
    }
    await up.load.next(2 * updatePerSecond)
    up.load.setRate(requestsPerSecond)
    return [noneFailed(up), await usesSuccessors(serving)]
  },
})

/** All are killed at once, and are there again after a while. */
export const wholeUpstreamDownAndBack = (front: Front): Scenario => ({
  name: `all down and back, ${front}`,
  run: async (rig) => {
    const count = 3
    await using up = await startUpstreams(rig, {
      name: `down-${front === 'addresses' ? 'named' : 'one'}`,
      count,
      front,
      retries: 1,
    })
    await up.load.next(100)
    await Promise.all(up.instances.map((each) => each.kill()))
    await up.load.next(50)
    const down = await up.load.next(150)
    const back = await Promise.all(up.instances.map((each, at) => up.add(each.address, `b${at}`)))
    await up.load.next(20)
    const { failed } = await up.load.next(300)
    return [
      { what: 'failed of 150 while all are down', measured: down.failed, least: 150 },
      { what: 'failed of 300 when they are back', measured: failed, most: 0 },
      await usesSuccessors(back),
    ]
  },
})

/** What is known of a name without a response. */
const FORGOTTEN_MS = 75_000

export const nameStopsResolving = (until: 'it is known yet' | 'it is forgotten'): Scenario => ({
  name: `a name is not resolved until ${until}`,
  run: async (rig) => {
    const name = until === 'it is forgotten' ? 'forgotten' : 'unresolved'
    await using up = await startUpstreams(rig, { name, count: 2, retries: 1 })
    await up.load.next(100)
    await rig.setName(name, 'EAI_AGAIN')
    await sleep(until === 'it is forgotten' ? FORGOTTEN_MS : REFRESHED_MS)
    const away = await up.load.next(200)
    await up.leadTo(up.instances)
    await usesAll(up, 2)
    const back = await up.load.next(200)
    const failed = until === 'it is forgotten' ? { least: 200 } : { most: 0 }
    return [
      { what: 'failed of 200 meanwhile', measured: away.failed, ...failed },
      { what: 'failed of 200 afterwards', measured: back.failed, most: 0 },
    ]
  },
})

/** Each of them gets requests. */
const usesSuccessors = async (successors: readonly Instance[]): Promise<Check> => {
  const unused = async (): Promise<number> => {
    const received = await Promise.all(successors.map((each) => each.received()))
    return received.filter((each) => each < 5).length
  }
  const check = async (): Promise<void> => {
    if ((await unused()) > 0) throw new Error('a successor gets nothing')
  }
  await eventually(check, { withinMs: 4 * REFRESHED_MS, everyMs: 200 }).catch(() => undefined)
  return { what: `unused of ${successors.length} successors`, measured: await unused(), most: 0 }
}
