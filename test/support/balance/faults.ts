// Scenarios in which one instance fails: it gets next to nothing while it does, no `GET` with a retry fails, and it is used
// again when it has recovered.

import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import type { Scenario } from './check.ts'
import { type Behaviour, type Instance, startBlackHole, startInstance } from './instance.ts'
import { addressOf, type Front, startUpstreams, type Upstreams } from './rig.ts'
import { noneFailed, REFRESHED_MS } from './spread.ts'

const HEALTHY: Behaviour = { kind: 'answers', status: 200, delayMs: 0 }
/** The time within which it must be noticed, at 100 requests a second or more. */
const NOTICED_SECONDS = { addresses: 2, 'one address': 3 } as const satisfies Record<Front, number>
const LEAST_PER_SECOND = 100
const MOST_OF_FAILING = { addresses: 0.05, 'one address': 0.1 } as const satisfies Record<
  Front,
  number
>
/** Of which the share is taken. */
const WATCHED = 200
const USED_AGAIN = 20
/** Ejected for 10 s, and once more for 20 s where a probe came before it had recovered. */
const RECOVERED_MS = 60_000

export const oneOfThreeIs = (fault: 'unavailable' | 'silent', front: Front): Scenario => ({
  name: `one of three is ${fault}, ${front}`,
  run: async (rig) => {
    const name = `${fault}-${front === 'addresses' ? 'named' : 'one'}`
    // Long enough for a time-out to be told of the upstream.
    await using up = await startUpstreams(rig, { name, count: 3, front, retries: 1, timeout: 1500 })
    await up.load.next(100)
    const sick = await become(up, fault)
    await up.load.next(
      NOTICED_SECONDS[front] * Math.max(LEAST_PER_SECOND, rig.pace.requestsPerSecond),
    )
    const share = await shareOf(up, sick, WATCHED)
    await sick.behave(HEALTHY)
    await usedAgain(sick)
    return [
      { what: 'share of the one that fails', measured: share, most: MOST_OF_FAILING[front] },
      { ...noneFailed(up), most: mostFailed(fault, front) },
    ]
  },
})

export const oneOfTwoRecordsIs = (fault: 'dead' | 'a black hole'): Scenario => ({
  name: `one of two records is ${fault}`,
  run: async (rig) => {
    await using up = await startUpstreams(rig, {
      name: `two-${fault === 'dead' ? 'dead' : 'black'}`,
      count: 1,
    })
    const place = { address: addressOf(1), port: up.port }
    await using own = new AsyncDisposableStack()
    own.use(fault === 'dead' ? undefined : await startBlackHole(place))
    const [alive] = up.instances
    // No retry is asked for: a connection goes on to the other address by itself.
    await up.leadTo([alive, { ...alive, ...place }] as Instance[])
    await up.load.next(100)
    await sleep(REFRESHED_MS)
    await up.load.next(WATCHED)
    return [noneFailed(up)]
  },
})

export const killedAndReplacedByAStranger: Scenario = {
  name: 'killed, its address reused by another server',
  run: async (rig) => {
    await using up = await startUpstreams(rig, { name: 'stranger', count: 3, retries: 1 })
    await up.load.next(100)
    const killed = up.instances[2]
    if (killed === undefined) throw new Error('there are three')
    await killed.kill()
    await up.leadTo(up.instances.slice(0, 2))
    await using stranger = await startInstance(killed, 'stranger')
    await sleep(REFRESHED_MS)
    const share = await shareOf(up, stranger, WATCHED)
    return [
      { what: 'share of the other server', measured: share, most: 0 },
      { what: 'failed of all', measured: up.load.total().failed, most: 0 },
    ]
  },
}

/** As a server that closes connections when they have idled for a while: the request is on its way. */
export const connectionsCutAsRequestsCome: Scenario = {
  name: 'connections are closed as requests come',
  run: async (rig) => {
    await using up = await startUpstreams(rig, { name: 'cut', count: 1, retries: 1 })
    const [only] = up.instances
    await only?.behave({ kind: 'cuts' })
    const { failed } = await up.load.next(150)
    await up.load[Symbol.asyncDispose]()
    const before = (await only?.received()) ?? 0
    const posts = rig.load(up.url, 'POST')
    await posts.next(100)
    await posts[Symbol.asyncDispose]()
    const { sent, failed: failedPosts } = posts.total()
    const received = ((await only?.received()) ?? 0) - before
    return [
      { what: 'failed of 150 GET', measured: failed, most: 0 },
      // It is not known what became of one that was sent.
      { what: `failed of ${sent} POST`, measured: failedPosts, least: 1 },
      { what: 'POST that were sent twice', measured: received - sent, least: 0, most: 0 },
    ]
  },
}

/** What is retried goes elsewhere. A time-out is not, and behind one address the retry may reach the same one again. */
const mostFailed = (fault: 'unavailable' | 'silent', front: Front): number =>
  fault === 'unavailable' && front === 'addresses' ? 0 : 30

const become = async (up: Upstreams, fault: 'unavailable' | 'silent'): Promise<Instance> => {
  const sick = up.instances[1]
  if (sick === undefined) throw new Error('there are three')
  await sick.behave(
    fault === 'silent' ? { kind: 'silent' } : { kind: 'answers', status: 503, delayMs: 0 },
  )
  return sick
}

/** Of all attempts, for retries are what the others get instead. */
const shareOf = async (up: Upstreams, one: Instance, requests: number): Promise<number> => {
  const before = await one.received()
  await up.load.next(requests)
  return ((await one.received()) - before) / requests
}

const usedAgain = async (one: Instance): Promise<void> => {
  const before = await one.received()
  await eventually(
    async () => {
      const requests = (await one.received()) - before
      if (requests < USED_AGAIN) throw new Error(`it got ${requests} since it has recovered`)
    },
    { withinMs: RECOVERED_MS, everyMs: 200 },
  )
}
