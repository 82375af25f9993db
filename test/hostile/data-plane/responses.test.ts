// A data plane that floods or stalls, or says what makes no sense: it harms itself. Each test ends with another data
// plane served, and another tenant's document and Realm validated.

import { once } from 'node:events'
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { rootDigest } from '../../../language/wire/digest.ts'
import { closeAll, closeLater } from '../../operator/fleet/rig.ts'
import { eventually } from '../../support/eventually.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { hostileWith, LEFT_ALONE, PATIENCE, SIDECAR, startCluster } from './cluster.ts'
import {
  allItems,
  type Respond,
  endless,
  type HostileDataPlane,
  json,
  sendText,
  stateOf,
} from './hostile-data-plane.ts'

afterEach(closeAll)

describe('a response that is larger than it can be', () => {
  const MAPS = { start: '{"specs":{"a":[', bytes: 60_000_000 }
  const NESTED = `${'['.repeat(100_000)}${']'.repeat(100_000)}`

  it.each<[string, HostileDataPlane['responses']]>([
    ['a state of empty maps', { state: endless('{},', MAPS) }],
    ['a state of nothing but blanks', { state: endless(' ') }],
    ['a state of one text', { state: endless('x', { start: '{"bootId":"' }) }],
    ['a state that is nested', { state: sendText(NESTED) }],
    ['a refusal', { state: endless(' ', { status: 403 }) }],
    ['a failure', { state: endless(' ', { status: 500 }) }],
    ['a status that means nothing', { state: endless(' ', { status: 299 }) }],
    ['the response to a sync call', { sync: endless('{},', { start: '{"items":[' }) }],
    ['the refusal of a sync call', { sync: endless(' ', { status: 409 }) }],
  ])('%s', async (_name, responses) => {
    const hostile = await hostileWith(responses)
    const { report, othersAreServed } = await startCluster(hostile, SIDECAR)
    await eventually(() => {
      expect([report().phase, report().message]).toEqual([
        'unreachable',
        expect.stringMatching(LEFT_ALONE),
      ])
    }, PATIENCE)
    await othersAreServed()
  })

  it('is not requested again for ten minutes, and then once', async () => {
    const clock = createManualClock()
    const hostile = await hostileWith({ state: endless(' ') })
    const { fleet, report, othersAreServed } = await startCluster(hostile, { ...SIDECAR, clock })
    const isLeftAlone = (): void => {
      expect(report().message).toMatch(LEFT_ALONE)
    }
    await eventually(isLeftAlone, PATIENCE)
    await pass(clock, 10 * 60_000 - 5_000)
    expect(hostile.asked).toEqual(['state'])
    isLeftAlone()
    await othersAreServed()
    expect(fleet.counters().excessiveResponses).toBe(1)
    hostile.responses = {}
    await eventually(async () => {
      await pass(clock, 1_000)
      expect(hostile.asked.slice(0, 2)).toEqual(['state', 'state'])
      expect(report().message).not.toMatch(LEFT_ALONE)
    }, PATIENCE)
  })
})

/** In steps that are shorter than what anybody waits for. */
const pass = async (clock: ManualClock, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 1_000) await clock.run(1_000)
}

const ODD_ITEMS = ['rejected', 'deleted', 'loaded'].flatMap((result) =>
  ['bank', 'com.bank', '__proto__', 'x'.repeat(1000)].flatMap((id) =>
    ['spec', 'realm'].map((kind) => ({ id, kind, result, errors: [{ code: 1 }], warnings: 'all' })),
  ),
)

const redirect: Respond = (response) => {
  response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
}

const longHead: Respond = (response) => {
  const { socket } = response
  socket?.write('HTTP/1.1 200 OK\r\n')
  const pour = (): void => {
    if (socket?.destroyed === false && socket.write('x-more: abc\r\n'.repeat(1000)))
      setImmediate(pour)
    else socket?.once('drain', pour)
  }
  pour()
}

const wrongLength: Respond = (response) => {
  response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 5000000000\r\n\r\n{}')
}

const trailers: Respond = (response) => {
  const { socket } = response
  socket?.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n')
  socket?.write('x-more: abc\r\n'.repeat(10_000))
}

describe('a response that makes no sense', () => {
  const ODD_SPECS = { a: { digest: 7, managedBy: [], warnings: { length: 1e9 } } }
  const text = (body: string): HostileDataPlane['responses'] => ({ state: sendText(body) })
  const state = (more: object): HostileDataPlane['responses'] => ({ state: json(stateOf(more)) })
  const state_ = (body: string): string => JSON.stringify(stateOf()).replace('"specs":{}', body)

  it.each<[string, HostileDataPlane['responses']]>([
    ['nothing', text('')],
    ['null', text('null')],
    ['a number', text('1e999')],
    ['a list', text('[[],{}]')],
    ['a page', text('<html><body>It works!</body></html>')],
    ['half of a state', text('{"bootId":"b","specs":{')],
    ['bytes that are no text', text('\u0000\ufffd\u0007')],
    ['entries of other types', state({ specs: ODD_SPECS })],
    ['documents as a list', state({ specs: [1, 2, 3] })],
    ['realms as a text', state({ realms: 'all of them' })],
    ['a boot id of 100 kB', state({ bootId: 'b'.repeat(100_000) })],
    ['a digest of 100 kB', state({ rootDigest: 'b'.repeat(100_000) })],
    ['a prototype', text('{"__proto__":{"bootId":"b","rootDigest":"r","specs":{},"realms":{}}}')],
    [
      'a document called __proto__',
      text(state_('"specs":{"__proto__":{"digest":"d","managedBy":"svc-operator"}}')),
    ],
    [
      'a document twice',
      text(state_('"specs":{"a":{"digest":"d","managedBy":"svc-operator"},"a":5}')),
    ],
    ['numbers beyond all', text(state_('"version":1e999,"epoch":-1e999,"specs":{}'))],
    ['an epoch that can not be exceeded', state({ epoch: Number.MAX_SAFE_INTEGER })],
    ['another manager', state({ manager: 'x'.repeat(100_000) })],
    ['items that were not asked for', { sync: json({ rootDigest: 'r', items: ODD_ITEMS }) }],
    [
      'items that are none',
      { sync: json({ rootDigest: rootDigest([]), items: [null, 5, [], {}] }) },
    ],
    ['304 to a sync call', { sync: json(null, 304) }],
    ['a redirect', { state: redirect }],
    ['a connection that breaks', { state: (response) => response.destroy() }],
    ['a head without end', { state: longHead }],
    ['another length than it says', { state: wrongLength }],
    ['trailers without end', { state: trailers }],
  ])('%s', async (_name, responses) => {
    const hostile = await hostileWith(responses)
    const { othersAreServed } = await startCluster(hostile, SIDECAR)
    await eventually(() => {
      expect(hostile.asked.length).toBeGreaterThan(3)
    }, PATIENCE)
    await othersAreServed()
  })
})

it('a response about what was not requested counts for nothing', async () => {
  const sync: Respond = (response, asked) => {
    const items = [...allItems(asked.sync, 'loaded'), ...ODD_ITEMS.toReversed()]
    json({ rootDigest: rootDigest([]), items })(response, asked)
  }
  const hostile = await hostileWith({ sync })
  const { fleet, othersAreServed } = await startCluster(hostile, SIDECAR)
  const items = () => fleet.counters().dataPlanes.get('shop/hostile')?.items
  await eventually(() => {
    expect(items()?.loaded).toBeGreaterThan(0)
  }, PATIENCE)
  expect(items()).toMatchObject({ rejected: 0, deleted: 0 })
  await othersAreServed()
})

describe('a response that does not end', () => {
  const begun: Respond = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"bootId":"')
  }
  const early: Respond = (response) => {
    const timer = setInterval(() => response.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5)
    response.on('close', () => {
      clearInterval(timer)
    })
  }
  const dripping: Respond = (response) => {
    response.writeHead(200).write('{"bootId":"')
    const timer = setInterval(() => response.write('x'), 5)
    response.on('close', () => {
      clearInterval(timer)
    })
  }

  it.each<[string, HostileDataPlane['responses']]>([
    ['no head', { state: () => undefined }],
    ['no end of the body', { state: begun }],
    ['a byte now and then', { state: dripping }],
    ['early hints', { state: early }],
    ['no response to a sync call', { sync: () => undefined }],
  ])('%s: others are served meanwhile, and it is broken off', async (_name, responses) => {
    const hostile = await hostileWith(responses)
    const { report, othersAreServed } = await startCluster(hostile, { ...SIDECAR, timeoutMs: 400 })
    await othersAreServed()
    await eventually(() => {
      expect([report().phase, report().message]).toEqual([
        'unreachable',
        expect.stringMatching(/in time$/),
      ])
    }, PATIENCE)
    await othersAreServed()
  })

  it('no handshake', async () => {
    const sockets: Socket[] = []
    const server = createRawServer((socket) => sockets.push(socket.on('error', () => undefined)))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    closeLater(async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    })
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { othersAreServed } = await startCluster({ url }, SIDECAR)
    await eventually(() => {
      expect(sockets.length).toBeGreaterThan(0)
    }, PATIENCE)
    await othersAreServed()
  })
})
