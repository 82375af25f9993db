// Requests to a name with several addresses, over real sockets; what passes is counted in requests, and time is a clock
// of the test's own.

import { afterEach, describe, expect, it, jest } from '@jest/globals'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { createGuard, readRules } from '../../../dataplane/upstream/destinations/guard.ts'
import type { HealthEvent } from '../../../dataplane/upstream/endpoints/origin-health.ts'
import {
  type BalancingUpstream,
  createUpstream,
  type UpstreamOptions,
} from '../../../dataplane/upstream/pooled-upstream.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { settled } from '../../support/settled.ts'
import { stopTimers } from '../stop-timers.ts'
import { type Instances, startInstances } from './instances.ts'
import { type Ask, ask, listenRaw, until } from './servers.ts'

stopTimers()

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Rig {
  readonly up: Instances
  readonly upstream: BalancingUpstream
  readonly events: HealthEvent[]
  /** Time passes for the upstream. */
  readonly pass: (ms: number) => void
  /** Eight at a time. @returns how many each instance got, and how many failed. */
  readonly load: (
    requests: number,
    request?: Partial<Ask>,
  ) => Promise<{ shares: number[]; failed: number }>
  /** Until the upstream knows so many addresses. */
  readonly refreshed: (count: number) => Promise<void>
}

const SECOND = 1000

const rig = async (count: number, options: Partial<UpstreamOptions> = {}): Promise<Rig> => {
  const up = await startInstances(count)
  const events: HealthEvent[] = []
  let nowMs = 1_000_000
  const upstream = createUpstream({
    guard: createGuard(),
    resolve: up.resolve,
    clock: { now: () => nowMs, random: seededRandom(7) },
    onHealth: (event) => events.push(event),
    ...options,
  })
  closers.push(
    () => up.close(),
    () => upstream.close(),
  )
  const load: Rig['load'] = async (requests, request = {}) => {
    const before = up.all.map(({ served }) => served)
    let failed = 0
    let left = requests
    const client = async (): Promise<void> => {
      while (left-- > 0) {
        const { status } = await ask(upstream, { origin: up.origin, ...request }).done
        if (status !== 200) failed++
      }
    }
    await Promise.all(Array.from({ length: 8 }, client))
    return { shares: up.all.map(({ served }, at) => served - (before[at] ?? 0)), failed }
  }
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return {
    up,
    upstream,
    events,
    pass,
    load,
    refreshed: async (known) => {
      pass(10 * SECOND)
      await load(1)
      await until(() => sizeOf(upstream) === known, `${known} addresses are known`)
    },
  }
}

const sizeOf = (upstream: BalancingUpstream): number =>
  upstream.endpoints().reduce((sum, { count }) => sum + count, 0)

const countsOf = (upstream: BalancingUpstream): Record<string, number> =>
  Object.fromEntries(upstream.endpoints().map(({ state, count }) => [state, count]))

const answers =
  (status: number) =>
  (_: unknown, response: ServerResponse): void => {
    response.writeHead(status).end()
  }

const expectFair = (shares: readonly number[], instances: number): void => {
  const used = shares.slice(0, instances)
  const fair = used.reduce((sum, share) => sum + share, 0) / instances
  for (const share of used) {
    expect(share).toBeGreaterThan(0.8 * fair)
    expect(share).toBeLessThan(1.2 * fair)
  }
}

const first = (up: Instances, count: number): string[] =>
  up.all.slice(0, count).map(({ address }) => address)

describe('requests are spread', () => {
  it('over 1, 2 and 6 instances as they come, each with its fair share', async () => {
    const { up, load, pass, refreshed } = await rig(6)
    up.response = first(up, 1)
    expect((await load(50)).shares).toEqual([50, 0, 0, 0, 0, 0])
    for (const count of [2, 6]) {
      up.response = first(up, count)
      await refreshed(count)
      pass(10 * SECOND)
      const { shares, failed } = await load(300 * count)
      expect(failed).toBe(0)
      expectFair(shares, count)
    }
  })

  it('at once where nothing was known, whatever comes first in the response', async () => {
    const { load } = await rig(3)
    const { shares } = await load(8)
    expect(shares.every((share) => share > 0)).toBe(true)
  })

  it('over the connections to an address, whichever was used last', async () => {
    const { up, upstream } = await rig(1)
    const used: Socket[] = []
    const held: ServerResponse[] = []
    const [one] = up.all
    if (one !== undefined) one.behave = (_, response) => held.push(response)
    const asked = [1, 2, 3].map(() => ask(upstream, { origin: up.origin }))
    await until(() => held.length === 3, 'there are three connections')
    for (const each of held) each.end()
    await Promise.all(asked.map(({ done }) => done))
    if (one !== undefined)
      one.behave = ({ socket }, response) => {
        used.push(socket)
        response.end()
      }
    for (let count = 0; count < 6; count++) await ask(upstream, { origin: up.origin }).done
    expect(new Set(used).size).toBe(3)
  })

  it('slowly to what is new', async () => {
    const { up, load, refreshed } = await rig(2)
    up.response = first(up, 1)
    await load(8)
    up.response = first(up, 2)
    await refreshed(2)
    const { shares } = await load(400)
    expect(shares[1]).toBeGreaterThan(4)
    expect(shares[1]).toBeLessThan(120)
  })

  it('to the address that has fewer outstanding', async () => {
    const { up, load } = await rig(2)
    const held: ServerResponse[] = []
    await load(8)
    const [one] = up.all
    if (one !== undefined) one.behave = (_, response) => held.push(response)
    // The clients that wait for it take no others.
    const loading = load(100)
    await until(() => up.all[1]?.served !== undefined && held.length > 0, 'it holds some')
    await settled()
    if (one !== undefined) one.behave = undefined
    for (const each of held) each.end('late')
    expect((await loading).failed).toBe(0)
    expect(held.length).toBeLessThanOrEqual(8)
  })

  it('with AAAA records, however they are spelled', async () => {
    const { up, load, upstream, events } = await rig(1)
    up.response = ['0:0:0:0:0:ffff:127.0.0.1', '127.0.0.1']
    const { failed } = await load(40)
    expect({ failed, events, size: sizeOf(upstream) }).toEqual({ failed: 0, events: [], size: 2 })
    expect(upstream.stats()[0]?.running).toBe(0)
  })
})

describe('connections', () => {
  it('take no new request after a minute, or a little earlier', async () => {
    const { up, load, pass } = await rig(1)
    await load(40)
    const before = up.all[0]?.opened ?? 0
    pass(44 * SECOND)
    await load(40)
    expect(up.all[0]?.opened).toBe(before)
    pass(16 * SECOND)
    await load(40)
    expect(up.all[0]?.opened).toBe(2 * before)
    await until(() => (up.all[0]?.open() ?? 0) <= 8, 'the old ones are closed')
  })

  it.each([0, 3600 * SECOND])('live for %d ms if it is set so, 0 is for ever', async (maxAgeMs) => {
    const { up, load, pass } = await rig(1, { maxAgeMs })
    await load(8)
    const before = up.all[0]?.opened
    pass(600 * SECOND)
    await load(8)
    expect(up.all[0]?.opened).toBe(before)
  })

  it('are closed at their age though no other is left', async () => {
    const { up, upstream, pass } = await rig(1)
    for (let round = 1; round <= 3; round++) {
      expect((await ask(upstream, { origin: up.origin }).done).status).toBe(200)
      expect(up.all[0]?.opened).toBe(round)
      expect(upstream.stats()).toEqual([{ origin: up.origin, connected: 1, running: 0, queued: 0 }])
      pass(80 * SECOND)
      await settled()
    }
  })

  it('behind one address that answer 503 three times are closed, so that the next reach others', async () => {
    const { up, load } = await rig(1)
    const bad = new WeakMap<Socket, boolean>()
    let sockets = 0
    const behave = up.all[0]
    if (behave !== undefined)
      behave.behave = ({ socket }, response) => {
        if (!bad.has(socket)) bad.set(socket, sockets++ % 2 === 0)
        response.writeHead(bad.get(socket) === true ? 503 : 200).end()
      }
    await load(100)
    expect((await load(200)).failed).toBeLessThanOrEqual(6)
  })

  it('that are new are closed at their first 503 while others do well', async () => {
    const { up, upstream } = await rig(1)
    const [one] = up.all
    const held: ServerResponse[] = []
    const sick = new WeakSet<Socket>()
    if (one !== undefined)
      one.behave = ({ socket }, response) => {
        if (one.opened === 2) sick.add(socket)
        if (sick.has(socket)) response.writeHead(503).end()
        else held.push(response)
      }
    const askOnce = () => ask(upstream, { origin: up.origin })
    const served = askOnce()
    await until(() => held.length === 1, 'the first one is asked')
    expect((await askOnce().done).status).toBe(503)
    const third = askOnce()
    await until(() => held.length === 2, 'a third one is asked')
    for (const each of held) each.end()
    expect([(await served.done).status, (await third.done).status]).toEqual([200, 200])
  })

  it('are not closed again and again where all answer 503', async () => {
    const { up, load } = await rig(1)
    for (const each of up.all) each.behave = answers(503)
    await load(1000)
    expect(up.all[0]?.opened).toBeLessThan(40)
  })

  it('survive results that name other addresses each time', async () => {
    const { up, load, pass } = await rig(4)
    const opened = (): number => up.all.reduce((sum, each) => sum + each.opened, 0)
    const turn = async (round: number): Promise<void> => {
      const lookups = up.lookups()
      up.response = round % 2 === 0 ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.3', '127.0.0.4']
      pass(10 * SECOND)
      await load(8)
      await until(() => up.lookups() > lookups, 'it is looked up')
      await load(8)
    }
    for (let round = 0; round < 4; round++) await turn(round)
    await load(64)
    const before = opened()
    const { shares } = await load(200)
    expect(shares.every((share) => share > 0)).toBe(true)
    expect(opened() - before).toBeLessThan(20)
  })
})

describe('an instance that', () => {
  it('answers 503 gets next to nothing, and its share again when it is well', async () => {
    const { up, load, pass, events, upstream } = await rig(3)
    const sick = up.all[1]
    if (sick === undefined) throw new Error('there are three')
    sick.behave = answers(503)
    await load(100, { realm: 'a' })
    expect(events).toMatchObject([
      { address: sick.address, realm: 'a', fault: 'status', change: { kind: 'ejected' } },
    ])
    expect((await load(300, { realm: 'a' })).shares[1]).toBe(0)
    expect(countsOf(upstream)).toEqual({ healthy: 2, ejected: 0, ejected_for_realms: 1 })
    // Others validate for themselves, and requests of no realm validate nothing.
    expect((await load(30, { realm: 'b' })).shares[1]).toBeGreaterThan(0)
    expect((await load(30)).shares[1]).toBeGreaterThan(0)

    pass(10 * SECOND)
    expect((await load(100, { realm: 'a' })).shares[1]).toBe(1)
    pass(10 * SECOND)
    expect((await load(100, { realm: 'a' })).shares[1]).toBe(0)
    sick.behave = undefined
    pass(10 * SECOND)
    const slow = (await load(200, { realm: 'a' })).shares[1] ?? 0
    expect(slow).toBeGreaterThan(1)
    expect(slow).toBeLessThan(40)
    pass(10 * SECOND)
    const { shares, failed } = await load(900, { realm: 'a' })
    expect(failed).toBe(0)
    expectFair(shares, 3)
  })

  it.each([
    ['POST', 'GET'],
    ['PATCH', 'PUT'],
  ])('is not tried by a %s while a %s may come', async (unrepeatable, repeatable) => {
    const { up, load, pass } = await rig(2)
    const sick = up.all[1]
    if (sick !== undefined) sick.behave = answers(503)
    await load(60, { realm: 'a' })
    pass(10 * SECOND)
    expect(await load(40, { realm: 'a', method: unrepeatable })).toMatchObject({ failed: 0 })
    expect(await load(40, { realm: 'a', method: repeatable })).toMatchObject({ failed: 1 })
    if (sick !== undefined) sick.behave = undefined
    pass(40 * SECOND)
    const { shares } = await load(100, { realm: 'a', method: unrepeatable })
    expect(shares[1]).toBeGreaterThan(1)
  })

  it('warms for the realm that had ejected it alone', async () => {
    const { up, load, pass } = await rig(2)
    const sick = up.all[1]
    if (sick !== undefined) sick.behave = answers(503)
    await load(100, { realm: 'a' })
    if (sick !== undefined) sick.behave = undefined
    pass(10 * SECOND)
    await load(8, { realm: 'a' })
    expect((await load(100, { realm: 'a' })).shares[1]).toBeLessThan(30)
    expectFair((await load(600, { realm: 'b' })).shares, 2)
  })

  it.each([
    [1200, 1],
    [200, 0],
  ])('accepts and never answers: time-outs of %d ms eject %d', async (timeoutMs, ejected) => {
    const { up, upstream, events } = await rig(2)
    const mute = up.all[1]
    if (mute !== undefined) mute.behave = () => undefined
    const origin = up.origin
    for (let round = 0; round < 4; round++) {
      const before = mute?.served ?? 0
      const asked = Array.from({ length: 8 }, () =>
        ask(upstream, { origin, timeoutMs, realm: 'a' }),
      )
      await until(
        () =>
          asked.every(({ ended }) => ended) ||
          asked.filter(({ ended }) => !ended).length === (mute?.served ?? 0) - before,
        'all are somewhere',
      )
      jest.advanceTimersByTime(timeoutMs + 100)
      await Promise.all(asked.map(({ done }) => done))
    }
    expect(events).toHaveLength(ejected)
    const asked = Array.from({ length: 20 }, () => ask(upstream, { origin, timeoutMs, realm: 'a' }))
    await until(
      () => asked.filter(({ ended }) => ended).length >= (ejected === 1 ? 20 : 1),
      'those that go to the other are answered',
    )
    for (const { call } of asked) call.abort()
  })

  it('is killed costs nothing but what it was doing; its address serves again when it is reused', async () => {
    const { up, load, pass, events } = await rig(2)
    const killed = up.all[1]
    await load(40)
    await killed?.stop()
    const { failed } = await load(100)
    // On connections that were handed out as they broke.
    expect(failed).toBeLessThanOrEqual(8)
    await load(60)
    expect(events).toMatchObject([{ fault: 'refused', realm: undefined }])
    pass(10 * SECOND)
    expect((await load(40)).failed).toBe(0)
    expect(events.at(-1)).toMatchObject({
      change: { kind: 'ejected', why: 'probe', forMs: 20_000 },
    })
    if (killed !== undefined) killed.behave = (_, response) => response.end('another')
    await killed?.start()
    pass(20 * SECOND)
    await load(40)
    expect(events.at(-1)).toMatchObject({ change: { kind: 'readmitted' } })
    pass(10 * SECOND)
    expectFair((await load(600)).shares, 2)
  })

  it('was never there costs no request', async () => {
    const { up, load, events, upstream } = await rig(2)
    await up.all[0]?.stop()
    expect((await load(100)).failed).toBe(0)
    expect(events).toHaveLength(1)
    expect(countsOf(upstream)).toEqual({ healthy: 1, ejected: 1, ejected_for_realms: 0 })
  })

  it('is one of half that are out already is used', async () => {
    const { up, load, events } = await rig(4)
    for (const each of up.all.slice(1)) each.behave = answers(503)
    await load(400, { realm: 'a' })
    expect(events).toHaveLength(2)
  })

  it('breaks its connections is ejected for all', async () => {
    const { up, load, events } = await rig(2)
    const broken = up.all[1]
    if (broken !== undefined) broken.behave = ({ socket }) => socket.destroy()
    await load(100, { realm: 'a' })
    expect(events).toMatchObject([{ fault: 'reset', realm: undefined }])
    expect((await load(100, { realm: 'b' })).failed).toBe(0)
  })
})

describe('what is known of health', () => {
  it('outlives the last connection for a minute', async () => {
    const { up, load, pass, upstream } = await rig(2, { keepAliveMs: 50 })
    const idle = (): Promise<void> =>
      until(() => {
        jest.advanceTimersByTime(100)
        return upstream.stats().length === 0
      }, 'no connection is left')
    const sick = up.all[1]
    if (sick !== undefined) sick.behave = answers(503)
    await load(100, { realm: 'a' })
    await idle()
    pass(9 * SECOND)
    expect((await load(40, { realm: 'a' })).shares[1]).toBe(0)
    await idle()
    pass(61 * SECOND)
    expect((await load(40, { realm: 'a' })).shares[1]).toBeGreaterThan(2)
  })

  it('says nothing of what we gave up while it connected', async () => {
    const { up, upstream, events, load } = await rig(2)
    await load(1)
    for (let round = 0; round < 40; round++) {
      const asking = ask(upstream, { origin: up.origin, connectTimeoutMs: 5000 })
      const again = ask(upstream, { origin: up.origin, connectTimeoutMs: 5000 })
      // Connecting has begun by then, and nothing has come of it.
      await new Promise((resolve) => {
        process.nextTick(resolve)
      })
      asking.call.abort()
      again.call.abort()
      await Promise.all([asking.done, again.done])
      await settled()
    }
    expect(events).toEqual([])
    expect((await load(40)).failed).toBe(0)
    expect(upstream.stats()[0]).toMatchObject({ running: 0, queued: 0 })
  })

  it('counts a refused connection once', async () => {
    const { up, upstream, events } = await rig(2)
    for (const each of up.all) await each.stop()
    for (let count = 1; count <= 4; count++) await ask(upstream, { origin: up.origin }).done
    expect(events).toEqual([])
    await ask(upstream, { origin: up.origin }).done
    expect(events).toMatchObject([{ fault: 'refused', change: { why: 'in a row' } }])
  })

  it.each([
    [1000, [{ address: '127.0.0.1', fault: 'connect_timeout' }]],
    [999, []],
  ])('counts a handshake that does not end within %d ms: %j', async (connectTimeoutMs, told) => {
    const mute = await listenRaw(() => undefined)
    closers.push(() => mute.close())
    const { up, upstream, events } = await rig(2)
    const origin = `https://up.test:${mute.port}`
    for (let count = 0; count < 5; count++) {
      const asking = ask(upstream, { origin, connectTimeoutMs })
      await until(() => mute.opened() > count, 'it connects')
      jest.advanceTimersByTime(1100)
      expect((await asking.done).error?.code).toBe('connect_timeout')
    }
    expect(events).toMatchObject(told)
    expect(up.lookups()).toBeGreaterThan(0)
  })

  it('says nothing of bodies that clients break off', async () => {
    const { up, upstream, events } = await rig(2)
    for (const each of up.all) each.behave = (request) => request.resume()
    for (let round = 0; round < 20; round++) {
      const body = new PassThrough()
      const before = up.all.reduce((sum, { served }) => sum + served, 0)
      const asking = ask(upstream, { origin: up.origin, realm: 'a', method: 'POST', body })
      body.write('x')
      await until(
        () => up.all.reduce((sum, { served }) => sum + served, 0) > before,
        'the head is there',
      )
      body.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }))
      expect((await asking.done).error?.code).toBe('reset')
    }
    expect(events).toEqual([])
  })

  it('says nothing of what clients gave up', async () => {
    const { up, upstream, events } = await rig(2)
    const held: ServerResponse[] = []
    for (const each of up.all) each.behave = (_, response) => held.push(response)
    for (let round = 1; round <= 20; round++) {
      const asking = ask(upstream, { origin: up.origin, realm: 'a' })
      await until(() => held.length === round, 'it is asked')
      asking.call.abort()
      await asking.done
    }
    expect(events).toEqual([])
  })
})

describe('the whole upstream', () => {
  it('is used as soon as it is back', async () => {
    const { up, load } = await rig(2)
    await load(20)
    for (const each of up.all) await each.stop()
    expect((await load(50)).failed).toBe(50)
    for (const each of up.all) await each.start()
    expect((await load(20)).failed).toBe(0)
  })

  it('that answers 503 everywhere is tried everywhere', async () => {
    const { up, load } = await rig(2)
    for (const each of up.all) each.behave = answers(503)
    await load(50, { realm: 'a' })
    for (const each of up.all) each.behave = undefined
    expect((await load(50, { realm: 'a' })).failed).toBe(0)
  })
})

describe('names', () => {
  it('that stop resolving serve on with what is known, for a minute', async () => {
    const { up, upstream, pass, load } = await rig(2)
    await load(20)
    up.response = 'ENOTFOUND'
    for (let round = 0; round < 5; round++) {
      pass(11 * SECOND)
      expect((await load(20)).failed).toBe(0)
    }
    pass(11 * SECOND)
    await load(1)
    const heard = await ask(upstream, { origin: up.origin }).done
    expect(heard.error).toMatchObject({ code: 'refused' })
    up.response = first(up, 2)
    pass(SECOND)
    expect((await load(20)).failed).toBe(0)
  })

  it('that are looked up slowly delay no request that has an address', async () => {
    const { up, pass, load } = await rig(2)
    await load(20)
    up.response = undefined
    pass(11 * SECOND)
    expect((await load(40)).failed).toBe(0)
    // All connections are too old, and so is the response: the lookup has its chance, no more.
    pass(100 * SECOND)
    const loading = load(8)
    await settled()
    jest.advanceTimersByTime(250)
    expect((await loading).failed).toBe(0)
  })

  it('that are never answered blame no address', async () => {
    const { up, upstream, events, load, pass } = await rig(2)
    up.response = undefined
    const asked = Array.from({ length: 10 }, () =>
      ask(upstream, { origin: up.origin, connectTimeoutMs: 1000 }),
    )
    await settled()
    jest.advanceTimersByTime(1100)
    for (const { done } of asked) expect((await done).error?.code).toBe('connect_timeout')
    expect(events).toEqual([])
    up.response = first(up, 2)
    // A lookup that is lost is not waited for for ever.
    pass(31 * SECOND)
    expect((await load(8)).failed).toBe(0)
  })

  it('that lead to what is denied are not followed, at a refresh neither', async () => {
    const guard = createGuard({ deny: readRules(['127.0.0.2', '127.0.0.3']).rules })
    const { up, upstream, load, pass } = await rig(3, { guard })
    expect((await load(60)).shares).toEqual([60, 0, 0])
    up.response = ['127.0.0.2', '127.0.0.3']
    pass(11 * SECOND)
    await load(1)
    await settled()
    const heard = await ask(upstream, { origin: up.origin }).done
    expect(heard.error?.code).toBe('denied')
    expect(up.all.slice(1).map(({ opened }) => opened)).toEqual([0, 0])
  })

  it('with thousands of addresses count with 64', async () => {
    const { up, upstream, load } = await rig(1)
    up.response = [
      '127.0.0.1',
      ...Array.from({ length: 5000 }, (_, at) => `127.1.${at >> 8}.${at & 255}`),
    ]
    await load(1)
    expect(sizeOf(upstream)).toBe(64)
  })

  it('are looked up once in ten seconds, literals never', async () => {
    const { up, load, pass, upstream } = await rig(1)
    await load(100)
    pass(9 * SECOND)
    await load(100)
    expect(up.lookups()).toBe(1)
    pass(2 * SECOND)
    await load(100)
    expect(up.lookups()).toBe(2)
    const literal = await ask(upstream, { origin: `http://127.0.0.1:${up.port}` }).done
    expect([literal.status, up.lookups()]).toEqual([200, 2])
  })
})

describe('an attempt after another', () => {
  it('goes to another address', async () => {
    const { up, upstream, load } = await rig(2)
    await load(20)
    for (let round = 0; round < 20; round++) {
      const before = ask(upstream, { origin: up.origin })
      const { body } = await before.done
      const after = await ask(upstream, { origin: up.origin, after: before.call }).done
      expect(after.body).not.toBe(body)
    }
  })

  it('to the only address goes over a new connection', async () => {
    const { up, upstream } = await rig(1)
    const before = ask(upstream, { origin: up.origin })
    await before.done
    await ask(upstream, { origin: up.origin, after: before.call }).done
    expect(up.all[0]?.opened).toBe(2)
  })

  it('does not try the address that it avoids as it is due', async () => {
    const { up, upstream, load, pass } = await rig(2)
    const sick = up.all[1]
    const held = ask(upstream, { origin: up.origin, realm: 'a' })
    await held.done
    if (sick !== undefined) sick.behave = answers(503)
    await load(60, { realm: 'a' })
    pass(10 * SECOND)
    let last = ask(upstream, { origin: up.origin, realm: 'a' })
    expect((await last.done).status).toBe(503)
    pass(20 * SECOND)
    for (let round = 0; round < 5; round++) {
      const next = ask(upstream, { origin: up.origin, realm: 'a', after: last.call })
      expect((await next.done).status).toBe(200)
      if (round === 0) last = ask(upstream, { origin: up.origin, realm: 'a' })
      await last.done
    }
  })
})

describe('what is reported of an origin', () => {
  const reasonsOf = (upstream: BalancingUpstream): unknown[] =>
    upstream
      .counts()
      .readFailures()
      .map(({ cause, count }) => [cause, count])

  it.each<[what: string, breakIt: (up: Instances) => unknown, cause: string]>([
    ['that refuses connections', ({ all: [one] }) => one?.stop(), 'refused'],
    ['whose name stands for nothing', (up) => (up.response = 'ENOTFOUND'), 'dns'],
    ['that answers 503', ({ all: [one] }) => one && (one.behave = answers(503)), 'status_503'],
  ])('%s is the failure, %s', async (_, breakIt, cause) => {
    const { up, upstream } = await rig(1)
    await breakIt(up)
    for (let count = 0; count < 3; count++) await ask(upstream, { origin: up.origin }).done
    expect(reasonsOf(upstream)).toEqual([[cause, 3]])
    expect(upstream.counts().read()).toMatchObject([{ label: up.origin, requests: 3 }])
  })

  const statesOf = (upstream: BalancingUpstream): Record<string, string> =>
    Object.fromEntries(
      upstream
        .view(true)
        .origins.flatMap(({ addresses }) => addresses)
        .map(({ address, state }) => [address, state]),
    )

  it('shows an address that is ejected, until when and why, and how it comes back', async () => {
    const { up, upstream, load, pass } = await rig(2)
    const [one] = up.all
    await load(2)
    expect(statesOf(upstream)).toEqual({ '127.0.0.1': 'healthy', '127.0.0.2': 'healthy' })
    await one?.stop()
    await load(40, { realm: 'shop' })
    expect(statesOf(upstream)).toEqual({ '127.0.0.1': 'ejected', '127.0.0.2': 'healthy' })
    const before = Date.now()
    const [view] = upstream.view(true).origins
    const after = Date.now()
    const [ejected] = view?.addresses.flatMap(({ ejections }) => ejections) ?? []
    expect(ejected).toMatchObject({ realm: undefined, why: 'in a row', fault: 'refused' })
    expect(ejected?.untilMs).toBeGreaterThanOrEqual(before + 10 * SECOND)
    expect(ejected?.untilMs).toBeLessThanOrEqual(after + 10 * SECOND)
    await one?.start()
    pass(10 * SECOND)
    await load(20)
    expect(statesOf(upstream)).toEqual({ '127.0.0.1': 'starting_slowly', '127.0.0.2': 'healthy' })
  })

  it('shows for which realm an address is ejected', async () => {
    const { up, upstream, load } = await rig(2)
    const [one] = up.all
    if (one !== undefined) one.behave = answers(503)
    await load(40, { realm: 'shop' })
    const [ejected] = upstream.view(true).origins[0]?.addresses ?? []
    expect(ejected).toMatchObject({
      state: 'ejected_for_realms',
      ejections: [{ realm: 'shop', fault: 'status' }],
    })
  })

  it('reports an upstream that answers no request, also without addresses and after its connections', async () => {
    const { up, upstream, pass } = await rig(1)
    up.response = 'ENOTFOUND'
    for (let count = 0; count < 5; count++) {
      await ask(upstream, { origin: up.origin }).done
      pass(8 * SECOND)
    }
    const [trouble] = upstream.view(false).origins
    expect(trouble).toMatchObject({
      origin: up.origin,
      addresses: [],
      troubles: [{ realm: undefined, cause: 'dns', isFailing: true }],
    })
    up.response = first(up, 1)
    expect((await ask(upstream, { origin: up.origin }).done).status).toBe(200)
    expect(upstream.view(false).origins).toMatchObject([{ troubles: [{ isFailing: false }] }])
  })

  it('says nothing of what a request wanted', async () => {
    const { up, upstream } = await rig(1)
    const headers = ['authorization', 'Bearer secret']
    await ask(upstream, { origin: up.origin, path: '/secret?key=secret', headers }).done
    expect(JSON.stringify(upstream.view(true))).not.toContain('secret')
  })
})
