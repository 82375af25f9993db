// Requests to addresses that accept nothing and refuse nothing. The black hole is a server of TLS that leaves handshakes
// where they are, until it is opened: to a client that is the same as an address that does not respond.

import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createServer } from 'node:https'
import { createServer as createTcp, type Server, type Socket } from 'node:net'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import type { HealthEvent } from '../../../dataplane/upstream/endpoints/origin-health.ts'
import { causeOfError } from '../../../dataplane/upstream/failure-cause.ts'
import {
  type BalancingUpstream,
  createUpstream,
} from '../../../dataplane/upstream/pooled-upstream.ts'
import { freePort } from '../../support/free-port.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { settled } from '../../support/settled.ts'
import { stopTimers } from '../stop-timers.ts'
import { CERT, KEY } from './self-signed.ts'
import { type Ask, ask, type Asking, until } from './servers.ts'

stopTimers()

const SECOND = 1000
const TIMEOUT_MS = 8 * SECOND

interface Hole {
  /** While it is false, connections are accepted and left alone. */
  isOpen: boolean
  /** Connections that were opened, all in all. */
  opened: number
}

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const dig = async (address: string, port: number): Promise<Hole> => {
  const sockets = new Set<Socket>()
  const hole: Hole = { isOpen: false, opened: 0 }
  const secure = createServer({ key: KEY, cert: CERT, keepAliveTimeout: 60_000 }, (_, response) =>
    response.end(address),
  )
  const server: Server = createTcp((socket) => {
    hole.opened++
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (hole.isOpen) secure.emit('connection', socket)
  })
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  closers.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return hole
}

interface Rig {
  readonly holes: readonly Hole[]
  readonly upstream: BalancingUpstream
  readonly events: HealthEvent[]
  /** What the name resolves to. */
  addresses: readonly string[]
  readonly pass: (ms: number) => void
  readonly ask: (request?: Partial<Ask>) => Asking
  /** Requests that wait for their connections in vain. @returns their errors */
  readonly fail: (count: number, request?: Partial<Ask>) => Promise<(string | undefined)[]>
  readonly opened: () => number
  /** @returns the addresses that respond, or the failures */
  readonly get: (count: number, request?: Partial<Ask>) => Promise<string[]>
}

const rig = async (count: number, host = 'upstream.test'): Promise<Rig> => {
  const addresses = Array.from({ length: count }, (_, at) => `127.0.0.${at + 1}`)
  const port = await freePort(addresses)
  const holes: Hole[] = []
  for (const each of addresses) holes.push(await dig(each, port))
  let nowMs = 1_000_000
  const events: HealthEvent[] = []
  const upstream = createUpstream({
    guard: createGuard(),
    extraCa: [CERT],
    clock: { now: () => nowMs, random: seededRandom(3) },
    onHealth: (event) => events.push(event),
    resolve: (_name, _options, callback) => {
      setImmediate(
        callback,
        null,
        made.addresses.map((address) => ({ address, family: 4 })),
      )
    },
  })
  closers.push(() => upstream.close())
  const origin = `https://${host}:${port}`
  const opened = (): number => holes.reduce((sum, each) => sum + each.opened, 0)
  const made: Rig = {
    holes,
    upstream,
    events,
    addresses,
    opened,
    pass: (ms) => {
      nowMs += ms
    },
    ask: (request = {}) => ask(upstream, { origin, connectTimeoutMs: TIMEOUT_MS, ...request }),
    fail: async (failures, request = {}) => {
      const { connectTimeoutMs = TIMEOUT_MS } = request
      const before = opened()
      const asked = Array.from({ length: failures }, () => made.ask(request))
      await until(() => opened() === before + failures, 'all connect')
      jest.advanceTimersByTime(connectTimeoutMs + 100)
      return Promise.all(asked.map(async ({ done }) => (await done).error?.code))
    },
    get: async (requests, request = {}) => {
      const asked = Array.from({ length: requests }, () => made.ask(request))
      return Promise.all(
        asked.map(async ({ done }) => {
          const { body, error } = await done
          return error === undefined ? body : `${error.code} ${causeOfError(error)}`
        }),
      )
    },
  }
  return made
}

const REFUSED = 'refused connect_timeout'

describe.each(['upstream.test', '127.0.0.1'])('the only address of %s', (host) => {
  it('is not tried any more after five time-outs: requests fail at once', async () => {
    const { fail, get, opened, events } = await rig(1, host)
    expect(await fail(4)).toEqual(Array.from({ length: 4 }, () => 'connect_timeout'))
    expect(events).toEqual([])
    expect(await fail(1)).toEqual(['connect_timeout'])
    expect(events).toMatchObject([
      { fault: 'connect_timeout', change: { kind: 'ejected', forMs: SECOND } },
    ])
    expect(await get(160)).toEqual(Array.from({ length: 160 }, () => REFUSED))
    expect(opened()).toBe(5)
  })

  it('is tried by one request at a time: after 1 s, 2 s, 4 s, 8 s, and then every 10 s', async () => {
    const { fail, get, ask, opened, pass, events } = await rig(1, host)
    await fail(5)
    for (const seconds of [1, 2, 4, 8, 10, 10, 10]) {
      pass(seconds * SECOND - 1)
      expect(await get(2)).toEqual([REFUSED, REFUSED])
      pass(1)
      const before = opened()
      const probe = ask({ method: 'POST' })
      await until(() => opened() > before, 'it is tried')
      expect(await get(2)).toEqual([REFUSED, REFUSED])
      jest.advanceTimersByTime(TIMEOUT_MS + 100)
      expect((await probe.done).error?.code).toBe('connect_timeout')
    }
    expect(opened()).toBe(12)
    // What stays away is not logged for ever.
    expect(events.length).toBeLessThan(7)
  })

  it('serves all requests once one has got through', async () => {
    const { fail, get, pass, holes, events } = await rig(1, host)
    await fail(5)
    for (const each of holes) each.isOpen = true
    expect(await get(1)).toEqual([REFUSED])
    pass(SECOND)
    expect(await get(1)).toEqual(['127.0.0.1'])
    expect(events.at(-1)).toMatchObject({ change: { kind: 'readmitted' } })
    expect(await get(20)).toEqual(Array.from({ length: 20 }, () => '127.0.0.1'))
    // It must fail five times again.
    for (const each of holes) each.isOpen = false
    pass(120 * SECOND)
    expect(await fail(4)).toEqual(Array.from({ length: 4 }, () => 'connect_timeout'))
  })

  it('is tried by the next request where the client of the one before gives up', async () => {
    const { fail, ask, opened, pass } = await rig(1, host)
    await fail(5)
    pass(SECOND)
    for (const expected of [6, 7, 8]) {
      const probe = ask()
      await until(() => opened() === expected, 'it is tried')
      probe.call.abort()
      expect((await probe.done).error?.code).toBe('aborted')
      await settled()
    }
  })

  it('is tried by another one after 10 s where the one before goes on waiting', async () => {
    const { fail, get, ask, opened, pass, holes } = await rig(1, host)
    const patient = { connectTimeoutMs: 120 * SECOND }
    await fail(5, patient)
    pass(SECOND)
    const probe = ask(patient)
    await until(() => opened() === 6, 'it is tried')
    for (const each of holes) each.isOpen = true
    pass(10 * SECOND - 1)
    expect(await get(1)).toEqual([REFUSED])
    pass(1)
    expect(await get(2)).toEqual(['127.0.0.1', REFUSED])
    expect(await get(2)).toEqual(['127.0.0.1', '127.0.0.1'])
    probe.call.abort()
  })

  it('is left alone for no longer than those that have tried it', async () => {
    const { fail, get, opened } = await rig(1, host)
    await fail(8, { connectTimeoutMs: SECOND })
    expect(await get(1, { connectTimeoutMs: SECOND })).toEqual([REFUSED])
    expect(opened()).toBe(8)
    expect(await fail(4)).toEqual(Array.from({ length: 4 }, () => 'connect_timeout'))
    expect(await fail(1)).toEqual(['connect_timeout'])
    expect(await get(1)).toEqual([REFUSED])
  })

  it('is used where a connection to it is open', async () => {
    const { fail, get, holes, opened } = await rig(1, host)
    for (const each of holes) each.isOpen = true
    await get(1)
    for (const each of holes) each.isOpen = false
    const [first] = await Promise.all([get(1), fail(5)])
    expect(first).toEqual(['127.0.0.1'])
    expect(await get(1)).toEqual(['127.0.0.1'])
    expect([await get(2), opened()]).toEqual([['127.0.0.1', REFUSED], 6])
  })
})

/** One request after the other. @returns how many waited in vain */
const failOneByOne = async ({ ask, holes }: Rig, requests: number): Promise<number> => {
  let waited = 0
  for (let round = 0; round < requests; round++) {
    const deadOnes = holes.filter(({ isOpen }) => !isOpen)
    const tried = (): number => deadOnes.reduce((sum, { opened }) => sum + opened, 0)
    const before = tried()
    const asking = ask()
    const isOver = (): boolean => asking.ended || asking.error !== undefined
    await until(() => isOver() || tried() > before, 'it connects or ends')
    if (isOver()) continue
    waited++
    jest.advanceTimersByTime(TIMEOUT_MS + 100)
    await asking.done
  }
  return waited
}

describe('several addresses', () => {
  it('of which one is dead cost five requests their time', async () => {
    const made = await rig(2)
    const { holes, get } = made
    const [, alive] = holes
    if (alive !== undefined) alive.isOpen = true
    expect(await failOneByOne(made, 40)).toBe(5)
    expect(await get(50)).toEqual(Array.from({ length: 50 }, () => '127.0.0.2'))
  })

  it.each([2, 3])('that are all dead, %d, are all left alone, and tried in turn', async (count) => {
    const made = await rig(count)
    const { holes, get, pass, opened, events } = made
    expect(await failOneByOne(made, 10 * count)).toBe(5 * count)
    expect(await get(20)).toEqual(Array.from({ length: 20 }, () => REFUSED))
    expect(opened()).toBe(5 * count)
    const last = holes.at(-1)
    if (last !== undefined) last.isOpen = true
    for (let round = 0; round < count; round++) {
      pass(SECOND)
      await failOneByOne(made, 1)
    }
    const address = `127.0.0.${count}`
    expect(events.at(-1)).toMatchObject({ address, change: { kind: 'readmitted' } })
    expect(await get(20)).toEqual(Array.from({ length: 20 }, () => address))
  })
})

describe('a name whose address is dead', () => {
  it('serves from another one as soon as it resolves to that', async () => {
    const made = await rig(2)
    const { holes, fail, get, pass } = made
    const [, alive] = holes
    if (alive !== undefined) alive.isOpen = true
    made.addresses = ['127.0.0.1']
    await fail(4)
    pass(0.6 * SECOND)
    await fail(1)
    made.addresses = ['127.0.0.2']
    // What is refused looks the name up again, each second at most.
    pass(0.5 * SECOND)
    expect(await get(1)).toEqual([REFUSED])
    await settled()
    expect(await get(20)).toEqual(Array.from({ length: 20 }, () => '127.0.0.2'))
  })

  it('is not tried by retries', async () => {
    const { fail, ask, opened } = await rig(1)
    const [first] = await fail(5).then(() => [ask()])
    const { error } = await (first?.done ?? Promise.reject(new Error('it is asked')))
    expect(error?.code).toBe('refused')
    const again = await ask({ after: first?.call }).done
    expect([again.error?.code, opened()]).toEqual(['refused', 5])
  })
})
