// What WebSockets cost the memory budget: idle ones nothing, those whose ends do not read what waits for them, and nothing once
// they are closed or read on.

import { Duplex } from 'node:stream'
import { beforeEach, expect, it } from '@jest/globals'
import { MemoryBudget } from '../../../../dataplane/memory/memory-budget.ts'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import { Relays } from '../../../../dataplane/wamp/relay/relays.ts'
import { createRouterDial } from '../../../../dataplane/wamp/transport/router-dial.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { eventually } from '../../../support/eventually.ts'
import { frame } from '../frames.ts'

const COUNT = 200
const MIB = 1 << 20
const NOTHING = Buffer.alloc(0)

/** An end of which a test says whether it reads. */
class End extends Duplex {
  readonly #waiting: (() => void)[] = []
  readsOn = false

  override _read(): void {
    // What it sends is pushed.
  }

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.readsOn) done()
    else this.#waiting.push(done)
  }

  readOn(): void {
    this.readsOn = true
    for (const done of this.#waiting.splice(0)) done()
  }
}

interface Pair {
  readonly client: End
  readonly peer: End
}

let memory: MemoryBudget
let relays: Relays
let closedOwners: number

beforeEach(() => {
  closedOwners = 0
  memory = new MemoryBudget({
    size: 256 * MIB,
    onClosed: (owners) => {
      closedOwners += owners
    },
  })
  relays = new Relays({
    routerOf: () => undefined,
    dial: createRouterDial([]),
    log: createSilentLog(),
    memory,
    limits: { lingerMs: 20 },
  })
})

const openAll = (): readonly Pair[] =>
  Array.from({ length: COUNT }, () => {
    const permit = relays.claim({ realmUri: 'com.acme', from: undefined })
    if (permit instanceof GatewayError) throw permit
    const pair = { client: new End(), peer: new End() }
    const ends = { ...pair, clientHead: NOTHING, peerHead: NOTHING }
    relays.carry(permit, ends, { whyOver: () => undefined })
    return pair
  })

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Both ends send more than the gateway keeps for the other one. */
const sendAll = async (pairs: readonly Pair[], chunk: Buffer): Promise<void> => {
  for (let round = 0; round < 4; round++) {
    for (const { client, peer } of pairs) {
      client.push(chunk)
      peer.push(chunk)
    }
    await turn()
  }
}

it('200 idle WebSockets are charged nothing', async () => {
  openAll()
  await turn()
  expect([relays.size, memory.held]).toEqual([COUNT, 0])
})

it('200 of which no end reads are charged what waits for each, one chunk each way, and nothing once they are closed', async () => {
  const pairs = openAll()
  const chunk = frame(Buffer.alloc(64 * 1024))
  await sendAll(pairs, chunk)
  const waiting = pairs.flatMap(({ client, peer }) => [client.writableLength, peer.writableLength])
  expect(new Set(waiting)).toEqual(new Set([chunk.length]))
  expect(memory.held).toBe(2 * COUNT * chunk.length)
  for (const { client } of pairs) client.destroy()
  await eventually(() => {
    expect([relays.size, memory.held]).toEqual([0, 0])
  })
})

it('200 that read on are charged nothing any more, and get all of it', async () => {
  const pairs = openAll()
  await sendAll(pairs, frame(Buffer.alloc(64 * 1024)))
  expect(memory.held).toBeGreaterThan(0)
  for (const { client, peer } of pairs) {
    client.readOn()
    peer.readOn()
  }
  await eventually(() => {
    expect([memory.held, relays.size]).toEqual([0, COUNT])
  })
})

it('beyond the budget those that hold the most are closed, and the others go on', async () => {
  const pairs = openAll()
  await sendAll(pairs.slice(0, 20), frame(Buffer.alloc(16 * MIB)))
  await eventually(() => {
    expect(relays.size).toBe(COUNT - closedOwners)
  })
  expect([closedOwners > 0, closedOwners <= 20, memory.held <= memory.size]).toEqual([
    true,
    true,
    true,
  ])
  expect(pairs.slice(20).every(({ client }) => !client.destroyed)).toBe(true)
})
