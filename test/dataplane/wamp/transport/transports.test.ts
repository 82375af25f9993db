// What both transports promise, on either.

import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { MemoryBudget } from '../../../../dataplane/memory/memory-budget.ts'
import { createTransportOpener } from '../../../../dataplane/wamp/transport/open-transport.ts'
import { createRouterDial } from '../../../../dataplane/wamp/transport/router-dial.ts'
import type { Transport } from '../../../../dataplane/wamp/protocol/transport.ts'
import type { SerializerName, WampMessage } from '../../../../dataplane/wamp/protocol/messages.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { eventually } from '../../../support/eventually.ts'
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts'
import { settled } from '../../../support/settled.ts'
import { withSocket } from '../client-socket.ts'
import { everyOf } from '../every-of.ts'
import { type FakeRouter, startRawSocketRouter, startWebSocketRouter } from '../fake-routers.ts'
import { openProbe, type Probe } from './transport-probe.ts'

const NAMES: readonly SerializerName[] = ['json', 'msgpack', 'cbor']

const BROKEN_CA = '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n'

const MESSAGE: WampMessage = [
  48,
  9_007_199_254_740_992,
  { a: [null, true, 1.5] },
  'com.example.é€😀',
  [Uint8Array.of(0, 1, 255)],
  { deep: { list: [[[]]] } },
]

const KEEPALIVE_MS = 1600

/** For three times the keepalive. */
const talk = async (router: FakeRouter, probe: Probe, clock: ManualClock): Promise<void> => {
  for (let words = 0; words < 6; words++) {
    const count = probe.messages.length + 1
    router.send([36, words])
    await probe.untilMessages(count)
    await clock.run(KEEPALIVE_MS / 2)
  }
}

/** Nothing more can come of its connections. */
const untilGone = async (router: FakeRouter): Promise<void> => {
  await router[Symbol.asyncDispose]()
  await settled()
}

/** Of a megabyte each, in a turn of its own, as requests come; some of them the system takes itself. */
const sendWhile = async (transport: Transport, isToGoOn: () => boolean): Promise<void> => {
  for (let id = 0; id < 100 && isToGoOn(); id++) {
    transport.send([48, id, 'x'.repeat(1_000_000)])
    await settled()
  }
}

describe.each([
  ['WebSocket', startWebSocketRouter],
  ['RawSocket', startRawSocketRouter],
] as const)('%s', (carrier, start) => {
  describe.each(NAMES)('%s', (name) => {
    it('carries messages both ways, in order', async () => {
      await using router = await start({ isEcho: true })
      const probe = openProbe(router.url, { serializers: [name] })
      expect(await probe.untilOpen()).toBe(name)
      probe.transport.send(MESSAGE)
      for (let id = 0; id < 100; id++) probe.transport.send([48, id])
      const messages = await probe.untilMessages(101)
      expect(messages[0]).toEqual(MESSAGE)
      expect(messages.slice(1).map(([, id]) => id)).toEqual(
        Array.from({ length: 100 }, (_, id) => id),
      )
      probe.transport.close()
      expect(await probe.untilEnd()).toMatchObject({ kind: 'closed' })
    })

    it('carries 5 MB', async () => {
      await using router = await start({ isEcho: true })
      const probe = openProbe(router.url, { serializers: [name] })
      await probe.untilOpen()
      const message = [48, 1, {}, 'é'.repeat(2_500_000)]
      probe.transport.send(message)
      await probe.untilMessages(1)
      expect(probe.messages).toEqual([message])
      probe.transport.close()
      await probe.untilEnd()
    })
  })

  it('offers the best serializer first and takes what the router takes', async () => {
    await using router = await start({ serializers: ['json'] })
    const probe = openProbe(router.url, { serializers: ['cbor', 'msgpack', 'json'] })
    expect(await probe.untilOpen()).toBe('json')
    expect(router.offers.flat()).toEqual(['cbor', 'msgpack', 'json'])
    await eventually(() => {
      expect(router.connections).toBe(1)
    })
    probe.transport.close()
    await probe.untilEnd()
    expect(probe.opened).toEqual(['json'])
  })

  it('a router that takes none of them is unreachable', async () => {
    await using router = await start({ serializers: ['json'] })
    const probe = openProbe(router.url, { serializers: ['cbor', 'msgpack'] })
    expect(await probe.untilEnd()).toMatchObject({ kind: 'unreachable' })
    expect(probe.opened).toEqual([])
    await eventually(() => {
      expect(router.connections).toBe(0)
    })
  })

  it('what one turn sends goes out in one write', async () => {
    await using router = await start()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    const before = router.reads
    for (let id = 0; id < 50; id++) probe.transport.send([48, id])
    expect(probe.transport.bufferedBytes).toBeGreaterThan(50 * 7)
    await eventually(() => {
      expect(router.received).toHaveLength(50)
    })
    expect(router.reads - before).toBeLessThanOrEqual(2)
    expect(probe.transport.bufferedBytes).toBe(0)
    probe.transport.close()
    await probe.untilEnd()
  })

  it('what was sent before a close arrives, what is sent after it does not', async () => {
    await using router = await start()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    probe.transport.send([6, {}, 'x'.repeat(1_000_000)])
    probe.transport.close()
    probe.transport.send([48, 1])
    probe.transport.close()
    expect(await probe.untilEnd()).toEqual({ kind: 'closed', reason: 'we closed the connection' })
    expect(router.received).toHaveLength(1)
    probe.transport.send([48, 2])
    probe.transport.close()
    expect(probe.ends).toHaveLength(1)
  })

  it('a peer that reads nothing cannot hold up a close', async () => {
    await using router = await start()
    const open = createTransportOpener({ dial: createRouterDial([]), closeGraceMs: 50 })
    const probe = openProbe(router.url, { open })
    await probe.untilOpen()
    router.socket.pause()
    for (let count = 0; count < 20; count++)
      probe.transport.send([48, count, 'x'.repeat(1_000_000)])
    await settled()
    expect(probe.transport.bufferedBytes).toBeGreaterThan(1_000_000)
    probe.transport.close()
    expect(await probe.untilEnd()).toMatchObject({ kind: 'closed' })
  })

  it('what waits for a router that reads nothing counts in the memory budget until it is read', async () => {
    await using router = await start()
    const memory = new MemoryBudget({ size: 40_000_000 })
    const open = createTransportOpener({ dial: createRouterDial([]), memory })
    const probe = openProbe(router.url, { open })
    await probe.untilOpen()
    router.socket.pause()
    await sendWhile(probe.transport, () => probe.transport.hasRoom)
    expect(memory.isTight).toBe(true)
    expect([probe.transport.hasRoom, probe.ends]).toEqual([false, []])
    router.socket.resume()
    await eventually(() => {
      expect([memory.held, probe.transport.hasRoom]).toEqual([0, true])
    })
    probe.transport.close()
    await probe.untilEnd()
  })

  it('a router that reads nothing is left when memory runs out, and nothing stays counted', async () => {
    await using router = await start()
    const memory = new MemoryBudget({ size: 10_000_000 })
    const open = createTransportOpener({ dial: createRouterDial([]), memory })
    const probe = openProbe(router.url, { open })
    await probe.untilOpen()
    router.socket.pause()
    await sendWhile(probe.transport, () => probe.ends.length === 0)
    expect(await probe.untilEnd()).toEqual({
      kind: 'lost',
      reason: 'the router does not read what it is sent, and memory has run out',
    })
    expect(memory.held).toBe(0)
  })

  it('messages after a close are not passed on', async () => {
    await using router = await start()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    router.send([50, 1])
    await probe.untilMessages(1)
    router.send([50, 2])
    probe.transport.close()
    await probe.untilEnd()
    expect(probe.messages).toEqual([[50, 1]])
  })

  it('closes while it connects', async () => {
    await using router = await start()
    const probe = openProbe(router.url)
    probe.transport.send([1])
    probe.transport.close()
    expect(probe.ends).toEqual([])
    expect(await probe.untilEnd()).toMatchObject({ kind: 'closed' })
    expect(probe.opened).toEqual([])
  })

  it.each<[string, (router: Awaited<ReturnType<typeof start>>) => void]>([
    ['a FIN', (router) => router.socket.end()],
    ['an RST', (router) => router.socket.resetAndDestroy()],
  ])('%s is noticed', async (_, end) => {
    await using router = await start()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    end(router)
    expect(await probe.untilEnd()).toMatchObject({
      kind: 'lost',
      reason: expect.stringMatching(/.+/),
    })
    await untilGone(router)
    expect(probe.ends).toHaveLength(1)
  })

  it('an RST in the middle of much to write is one end', async () => {
    await using router = await start()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    router.socket.pause()
    for (let count = 0; count < 20; count++)
      probe.transport.send([48, count, 'x'.repeat(1_000_000)])
    await settled()
    router.socket.resetAndDestroy()
    expect(await probe.untilEnd()).toMatchObject({ kind: 'lost' })
    probe.transport.send([48, 1])
    await untilGone(router)
    expect(probe.ends).toHaveLength(1)
  })

  it('a message whose payload cannot be read is reported with its head, and the next one is read', async () => {
    await using router = await start()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    router.sendPayload(Buffer.from('[50,7,{},[NaN]]'))
    router.send([50, 8])
    await probe.untilMessages(1)
    expect(probe.unreadable).toEqual([{ head: [50, 7, {}], why: 'a message is no JSON' }])
    expect(probe.ends).toEqual([])
    probe.transport.close()
    await probe.untilEnd()
  })

  it.each<[string, string | Buffer]>([
    ['no JSON', 'garbage'],
    ['no list', '{"a":1}'],
    ['a list without type', '["x"]'],
    ['no UTF-8', Buffer.of(0x5b, 0x35, 0x2c, 0x22, 0xff, 0x22, 0x5d)],
    ['nothing', ''],
  ])('%s ends the connection as malformed', async (_, payload) => {
    await using router = await start()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    router.sendPayload(Buffer.from(payload as string))
    router.send([50, 8])
    expect(await probe.untilEnd()).toMatchObject({ kind: 'malformed' })
    await eventually(() => {
      expect(router.connections).toBe(0)
    })
    expect(probe.messages).toEqual([])
    expect(probe.ends).toHaveLength(1)
  })

  it('a message over the limit is not sent, and ends nothing', async () => {
    await using router = await start({ isEcho: true })
    const probe = openProbe(router.url, { maxMessageBytes: 1024 })
    await probe.untilOpen()
    for (const text of ['x'.repeat(1100), 'é'.repeat(510)]) {
      expect(() => {
        probe.transport.send([48, 1, text])
      }).toThrow(expect.objectContaining({ name: 'MessageError', code: 'unencodable' }))
    }
    expect(() => {
      probe.transport.send([48, undefined as unknown as null])
    }).toThrow(expect.objectContaining({ name: 'MessageError', code: 'unencodable' }))
    probe.transport.send([48, 1, 'x'.repeat(1000)])
    expect(await probe.untilMessages(1)).toEqual([[48, 1, 'x'.repeat(1000)]])
    expect(router.received).toHaveLength(1)
    probe.transport.close()
    await probe.untilEnd()
  })

  it('a message over the limit that comes ends the connection', async () => {
    await using router = await start()
    const probe = openProbe(router.url, { maxMessageBytes: 1024 })
    await probe.untilOpen()
    router.send([50, 1, 'x'.repeat(carrier === 'RawSocket' ? 1100 : 4200)])
    expect(await probe.untilEnd()).toMatchObject({ kind: 'malformed' })
    expect([probe.messages, probe.unreadable]).toEqual([[], []])
    await eventually(() => {
      expect(router.connections).toBe(0)
    })
  })

  it('a peer that falls silent is noticed', async () => {
    await using router = await start()
    const clock = createManualClock()
    let asked = 0
    const probe = openProbe(router.url, {
      keepaliveMs: KEEPALIVE_MS,
      every: everyOf(clock),
      handlers: { onQuiet: () => asked++ },
    })
    await probe.untilOpen()
    router.socket.pause()
    await clock.run((KEEPALIVE_MS * 14) / 16)
    expect(probe.ends).toEqual([])
    expect(asked).toBe(carrier === 'RawSocket' ? 1 : 0)
    await clock.run(KEEPALIVE_MS / 16)
    expect(probe.ends).toEqual([{ kind: 'silent', reason: 'nothing came for 1600 ms' }])
    await clock.run(KEEPALIVE_MS)
    await untilGone(router)
    expect(probe.ends).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  it('a peer that answers is kept, though nothing is to be said', async () => {
    await using router = await start({ isEcho: true })
    const clock = createManualClock()
    const [probe, socket] = await withSocket(async () => {
      const opened = openProbe(router.url, {
        keepaliveMs: KEEPALIVE_MS,
        every: everyOf(clock),
        handlers: {
          onQuiet: () => {
            opened.transport.send([48, 1])
          },
        },
      })
      await opened.untilOpen()
      return opened
    })
    for (let responses = 0; responses < 6; responses++) {
      const { bytesRead } = socket
      await clock.run(KEEPALIVE_MS / 2)
      await eventually(
        () => {
          expect(socket.bytesRead).toBeGreaterThan(bytesRead)
        },
        { everyMs: 2 },
      )
    }
    expect(probe.ends).toEqual([])
    probe.transport.close()
    expect(await probe.untilEnd()).toMatchObject({ kind: 'closed' })
  })

  it('a peer that only talks is kept', async () => {
    await using router = await start()
    const clock = createManualClock()
    const probe = openProbe(router.url, {
      keepaliveMs: KEEPALIVE_MS,
      every: everyOf(clock),
      handlers: { onQuiet: () => undefined },
    })
    await probe.untilOpen()
    await talk(router, probe, clock)
    expect(probe.ends).toEqual([])
    probe.transport.close()
    await probe.untilEnd()
  })

  it('a response that comes in single bytes is whole in the end', async () => {
    await using router = await start()
    const probe = openProbe(router.url, { serializers: ['msgpack'] })
    await probe.untilOpen()
    const write = router.socket.write.bind(router.socket)
    router.socket.write = (chunk: Uint8Array | string) => {
      for (const byte of Buffer.from(chunk as string)) write(Buffer.of(byte))
      return true
    }
    router.send(MESSAGE)
    router.send([50, 1])
    expect(await probe.untilMessages(2)).toEqual([MESSAGE, [50, 1]])
    probe.transport.close()
    await probe.untilEnd()
  })

  const failing = () => {
    throw new TypeError('secret')
  }

  const faulty: readonly (readonly [handler: string, payload: string])[] = [
    ['onOpen', ''],
    ['onMessage', '[50,1]'],
    ['onUnreadable', '[50,1,NaN]'],
    // By WebSocket the transport pings of its own.
    ...(carrier === 'RawSocket' ? [['onQuiet', ''] as const] : []),
  ]

  it.each(faulty)(
    'a fault of %s ends the connection, and nothing else',
    async (handler, payload) => {
      await using router = await start()
      const clock = createManualClock()
      const probe = openProbe(router.url, {
        keepaliveMs: KEEPALIVE_MS,
        every: everyOf(clock),
        handlers: { [handler]: failing },
      })
      if (handler !== 'onOpen') await probe.untilOpen()
      if (payload !== '') router.sendPayload(Buffer.from(payload))
      if (handler === 'onQuiet') await clock.run(KEEPALIVE_MS)
      expect(await probe.untilEnd()).toEqual({
        kind: 'malformed',
        reason: 'the session failed (TypeError)',
      })
    },
  )

  it('an error of onClose does no harm', async () => {
    await using router = await start()
    let ends = 0
    const probe = openProbe(router.url, {
      handlers: {
        onClose: () => {
          ends++
          throw new Error('x')
        },
      },
    })
    await probe.untilOpen()
    router.socket.destroy()
    await eventually(() => {
      expect(ends).toBe(1)
    })
  })

  it('closing within a handler is fine', async () => {
    await using router = await start()
    const probe = openProbe(router.url, {
      handlers: {
        onMessage: () => {
          probe.transport.close()
        },
      },
    })
    await probe.untilOpen()
    router.send([50, 1])
    router.send([50, 2])
    expect(await probe.untilEnd()).toMatchObject({ kind: 'closed' })
  })

  it('whatever bytes come, in whatever pieces: what was whole before them is passed on, and one end', async () => {
    await using router = await start()
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      // The head of a frame, right or nearly so, and something of what it announces.
      fc
        .tuple(
          fc.constantFrom(...[0, 1, 2, 3, 0x81, 0x82, 0x01, 0x80, 0x88, 0x89, 0x8a, 0xc1, 0x91]),
          fc.constantFrom(0, 1, 2, 9, 125, 126, 127, 128, 255),
          fc.uint8Array({ maxLength: 20 }),
        )
        .map(([first, second, rest]) => Uint8Array.of(first, second, ...rest)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { maxLength: 8 }), async (pieces) => {
        const probe = openProbe(router.url, { serializers: ['json'] })
        await probe.untilOpen()
        router.send([50, 7])
        for (const piece of pieces) {
          router.socket.write(piece)
          await settled()
        }
        router.socket.end()
        await probe.untilEnd()
        await settled()
        expect(probe.messages[0]).toEqual([50, 7])
        expect(probe.ends).toHaveLength(1)
      }),
      { numRuns: 150 },
    )
  }, 60_000)

  it('TLS: is trusted by an extra CA only', async () => {
    const authority = createCertificateAuthority('router CA')
    await using router = await start({ tls: authority.issue('router.test'), isEcho: true })
    const stranger = openProbe(router.url)
    expect(await stranger.untilEnd()).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('certificate'),
    })
    const other = createCertificateAuthority('another CA').cert
    const clock = createManualClock()
    const probe = openProbe(router.url, {
      extraCa: [other, authority.cert],
      keepaliveMs: KEEPALIVE_MS,
      every: everyOf(clock),
      handlers: { onQuiet: () => undefined },
    })
    await probe.untilOpen()
    probe.transport.send(MESSAGE)
    await probe.untilMessages(1)
    expect(probe.messages[0]).toEqual(MESSAGE)
    await talk(router, probe, clock)
    expect(probe.ends).toEqual([])
    probe.transport.close()
    expect(await probe.untilEnd()).toMatchObject({ kind: 'closed' })
  })

  it('TLS: a CA that is none is unreachable', async () => {
    await using router = await start()
    const url = router.url.replace(/^(ws|rs):/, '$1s:')
    const probe = openProbe(url, { extraCa: [BROKEN_CA] })
    expect(await probe.untilEnd()).toMatchObject({ kind: 'unreachable' })
    expect(probe.ends).toHaveLength(1)
  })

  it('a peer that says nothing while we connect runs into the time-out', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined).resume())
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const url = `${carrier === 'WebSocket' ? 'ws' : 'rs'}://127.0.0.1:${port}`
    const probe = openProbe(url, { connectTimeoutMs: 50 })
    expect(await probe.untilEnd()).toEqual({
      kind: 'unreachable',
      reason: 'no connection within 50 ms',
    })
    await new Promise((resolve) => silent.close(resolve))
  })

  it('an address where nothing listens is unreachable, and no secret is shown', async () => {
    await using router = await start()
    const { url } = router
    await router[Symbol.asyncDispose]()
    const probe = openProbe(carrier === 'WebSocket' ? url.replace('//', '//me:secret@') : url)
    const end = await probe.untilEnd()
    expect(end).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('ECONNREFUSED'),
    })
    expect(JSON.stringify(end)).not.toContain('secret')
  })

  it.each([
    ['speaks something else', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'],
    ['hangs up', ''],
    ['hangs up in the middle', '\x7f'],
  ])('a peer that %s is unreachable', async (_, response) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(response, 'latin1'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const probe = openProbe(`${carrier === 'WebSocket' ? 'ws' : 'rs'}://127.0.0.1:${port}`)
    expect(await probe.untilEnd()).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringMatching(/.+/),
    })
    await new Promise((resolve) => server.close(resolve))
  })
})
