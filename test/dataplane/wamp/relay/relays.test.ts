import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { WebSocketServer } from 'ws'
import { createRouterDial } from '../../../../dataplane/wamp/transport/router-dial.ts'
import { Relays, type RelayLimits } from '../../../../dataplane/wamp/relay/relays.ts'
import type { RouterRecord } from '../../../../language/realm/record.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { eventually } from '../../../support/eventually.ts'
import { freePort } from '../../../support/free-port.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { close, frame } from '../frames.ts'
import {
  responseText,
  type Front,
  HANDSHAKE,
  openClient,
  PLACE,
  REALM,
  echoed,
  hello,
  helloText,
  startFront,
  startRawRouter,
  startTestRouter,
} from './relay-rig.ts'

/** Loopback takes a millisecond, and dozens of tests wait for it. */
const soon = <T>(check: () => T | Promise<T>): Promise<T> => eventually(check, { everyMs: 2 })

const masked = { isMasked: true }
const opened: Relays[] = []

interface Warning {
  readonly message: string
  readonly fields: unknown
}

const relaysTo = (
  router: RouterRecord | (() => RouterRecord | undefined),
  limits: Partial<RelayLimits> = {},
  more: { readonly extraCa?: readonly string[]; readonly now?: () => number } = {},
) => {
  const { extraCa = [], ...times } = more
  const warnings: Warning[] = []
  const relays = new Relays({
    routerOf: (uri) =>
      uri !== REALM ? undefined : typeof router === 'function' ? router() : router,
    dial: createRouterDial(extraCa),
    log: {
      ...createSilentLog(),
      warn: (message, fields) => warnings.push({ message, fields }),
    },
    limits: { checkMs: 20, lingerMs: 20, ...limits },
    ...times,
  })
  opened.push(relays)
  return Object.assign(relays, { warnings })
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((relays) => relays.closeAll()))
})

/** A raw router whose one connection a test can speak on. */
const startSpeaker = async (response?: string) => {
  const sockets: Socket[] = []
  const received: Buffer[] = []
  const router = await startRawRouter(response, (socket) => {
    sockets.push(socket)
    socket.on('data', (chunk) => received.push(chunk))
  })
  return Object.assign(router, {
    speak: async (): Promise<Socket> =>
      soon(() => sockets[0] ?? Promise.reject(new Error('no connection'))),
    received: () => Buffer.concat(received),
  })
}

/** The router has a connection a moment before its client has. */
const untilOpen = (front: Front): Promise<void> =>
  soon(() => {
    expect(front.outcomes).toEqual(['open'])
  })

describe('frames', () => {
  it('go both ways, byte for byte', async () => {
    await using router = await startSpeaker()
    await using front = await startFront(relaysTo({ url: router.url }))
    await using client = await openClient(front.port)
    const up = Buffer.concat([
      hello('x'),
      frame('', { ...masked, opcode: 9 }),
      frame(helloText('').slice(0, -2), { ...masked, opcode: 1, isFinal: false }),
      frame(Buffer.alloc(70_000, 7), { ...masked, opcode: 0 }),
    ])
    const down = Buffer.concat([frame('welcome', { opcode: 1 }), frame(Buffer.alloc(70_000, 9))])
    const socket = await router.speak()
    for (const byte of up.subarray(0, 40)) client.socket.write(Buffer.from([byte]))
    client.socket.write(up.subarray(40))
    socket.write(down)
    await soon(() => {
      expect(router.received().equals(up)).toBe(true)
      expect(client.received().equals(down)).toBe(true)
    })
  })

  it('that came with either handshake are the first', async () => {
    await using router = await startSpeaker(`${responseText()}${frame('early').toString('latin1')}`)
    await using front = await startFront(relaysTo({ url: router.url }), hello('sooner'))
    await using client = await openClient(front.port)
    client.socket.write(hello('later'))
    await soon(() => {
      expect(client.received()).toEqual(frame('early'))
      expect(router.received()).toEqual(Buffer.concat([hello('sooner'), hello('later')]))
    })
  })

  it('to a real WebSocket server and back', async () => {
    await using router = await startTestRouter()
    const relays = relaysTo({ url: router.url })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    client.socket.write(hello('x'))
    await soon(() => {
      expect(client.received()).toEqual(echoed('x'))
    })
    expect([relays.size, router.connections.size]).toEqual([1, 1])
    client.socket.write(close(1000, masked))
    await soon(() => {
      expect(client.received()).toEqual(Buffer.concat([echoed('x'), close(1000)]))
      expect(client.hasEnded()).toBe(true)
    })
    await soon(() => {
      expect([relays.size, router.connections.size]).toEqual([0, 0])
    })
  })
})

describe('the handshake with the router', () => {
  it('carries the key and protocols, nothing else of the client, and no password of the gateway', async () => {
    await using router = await startTestRouter()
    await using front = await startFront(
      relaysTo({ url: router.url.replace('//', '//me:p%40ss@') }),
    )
    await using client = await openClient(front.port)
    await soon(() => {
      expect(router.heads).toHaveLength(1)
    })
    expect(router.heads[0]).toEqual({
      url: '/realm?x=1',
      host: new URL(router.url).host,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': HANDSHAKE.key,
      'sec-websocket-protocol': 'wamp.2.json',
    })
    expect(client.isClosed()).toBe(false)
  })

  it.each([
    ['refuses', 'HTTP/1.1 403 Forbidden\r\n\r\n'],
    ['is no WebSocket', responseText({ Upgrade: 'h2c' })],
    ['does not upgrade the connection', responseText({ Connection: 'keep-alive' })],
    ['computes another key', responseText({ 'Sec-WebSocket-Accept': 'AAAA' })],
    ['gives no key', responseText({ 'Sec-WebSocket-Accept': undefined })],
    [
      'picks a protocol that was not offered',
      responseText({ 'Sec-WebSocket-Protocol': 'wamp.2.cbor' }),
    ],
    ['picks no protocol', responseText({ 'Sec-WebSocket-Protocol': undefined })],
    ['uses extensions', responseText({ 'Sec-WebSocket-Extensions': 'permessage-deflate' })],
    ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['speaks without end', 'HTTP/1.1 101 Switching Protocols\r\n'.padEnd(20_000, 'x')],
    ['says nothing', ''],
  ])('%s: bad gateway, reported once', async (_, response) => {
    await using router = await startRawRouter(response)
    const relays = relaysTo(
      { url: router.url.replace('//', '//me:secret@') },
      response === '' ? { responseTimeoutMs: 20 } : {},
    )
    await using front = await startFront(relays)
    for (let turn = 1; turn <= 2; turn++) {
      await using client = await openClient(front.port)
      await soon(() => {
        expect(front.outcomes).toEqual(Array<string>(turn).fill('svc.error.bad_gateway'))
        expect(client.hasEnded() || client.isClosed()).toBe(true)
      })
    }
    expect(relays.warnings).toEqual([
      {
        message: 'no router accepts a WebSocket connection',
        fields: { realm: REALM, reasons: [expect.stringContaining(`${router.url}: `)] },
      },
    ])
    expect(JSON.stringify(relays.warnings)).not.toContain('secret')
    await soon(() => {
      expect(router.sockets.size).toBe(0)
    })
    expect(relays.size).toBe(0)
  })

  it('is with the first URL that takes it; those of other protocols are passed over', async () => {
    await using refusing = await startRawRouter('HTTP/1.1 503 Later\r\n\r\n')
    await using router = await startTestRouter()
    const relays = relaysTo({
      url: 'rs://127.0.0.1:1',
      urls: [`ws://127.0.0.1:${await freePort()}/`, refusing.url, router.url],
    })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    client.socket.write(hello('x'))
    await soon(() => {
      expect(client.received()).toEqual(echoed('x'))
    })
    expect([front.outcomes, relays.warnings]).toEqual([['open'], []])
  })

  it.each([
    ['nothing listens', async () => `ws://127.0.0.1:${await freePort()}/`],
    ['the host is not known', () => 'ws://nobody.invalid/'],
  ])('%s: bad gateway', async (_, url) => {
    const relays = relaysTo({ url: await url() })
    await expect(relays.open(PLACE, HANDSHAKE, new AbortController().signal)).rejects.toMatchObject(
      {
        code: 'svc.error.bad_gateway',
      },
    )
  })

  it('a router that speaks no TLS: bad gateway', async () => {
    await using router = await startRawRouter()
    const relays = relaysTo({ url: `wss://127.0.0.1:${router.port}/` }, { connectTimeoutMs: 20 })
    await expect(relays.open(PLACE, HANDSHAKE, new AbortController().signal)).rejects.toMatchObject(
      {
        code: 'svc.error.bad_gateway',
      },
    )
  })

  it('of TLS is believed by CAs that were added', async () => {
    const ca = createCertificateAuthority('router CA')
    const server = createServer(ca.issue('router.test'))
    const router = new WebSocketServer({ server, handleProtocols: () => 'wamp.2.json' })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `wss://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { signal } = new AbortController()
    await expect(relaysTo({ url }).open(PLACE, HANDSHAKE, signal)).rejects.toMatchObject({
      code: 'svc.error.bad_gateway',
    })
    const trusting = relaysTo({ url }, {}, { extraCa: [ca.cert] })
    for (let turn = 0; turn < 2; turn++) (await trusting.open(PLACE, HANDSHAKE, signal)).drop()
    for (const socket of router.clients) socket.terminate()
    server.close()
    await once(server, 'close')
  })

  it('is given up when the client goes', async () => {
    await using router = await startRawRouter('')
    const relays = relaysTo({ url: router.url })
    const gone = new AbortController()
    const waiting = relays.open(PLACE, HANDSHAKE, gone.signal)
    await soon(() => {
      expect(router.sockets.size).toBe(1)
    })
    gone.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'svc.error.bad_gateway' })
    await soon(() => {
      expect(router.sockets.size).toBe(0)
    })
    expect(relays.warnings).toEqual([])
  })

  it('may be dropped when it is done', async () => {
    await using router = await startTestRouter()
    const relays = relaysTo({ url: router.url }, { maxRelays: 1 })
    const { signal } = new AbortController()
    const one = await relays.open(PLACE, HANDSHAKE, signal)
    expect([one.protocol, relays.size]).toEqual(['wamp.2.json', 0])
    one.drop()
    await soon(() => {
      expect(router.connections.size).toBe(0)
    })
    const another = await relays.open(PLACE, HANDSHAKE, signal)
    another.drop()
  })
})

describe('hasRouter', () => {
  it.each<readonly [string, RouterRecord | undefined, boolean]>([
    ['no router', undefined, false],
    ['no address', {}, false],
    ['ws', { url: 'ws://a' }, true],
    ['WSS', { url: 'WSS://a' }, true],
    ['RawSocket alone', { url: 'rs://a:1', urls: ['unix:/a'] }, false],
    ['one of several', { urls: ['rs://a:1', 'wss://a'] }, true],
    ['what is no URL', { url: 'ws://a:b' }, false],
    ['ws without an authority', { url: 'ws:' }, false],
  ])('%s', (_, router, expected) => {
    expect(relaysTo(() => router).hasRouter(REALM)).toBe(expected)
    expect(relaysTo(() => router).hasRouter('another')).toBe(false)
  })
})

describe('back-pressure', () => {
  const CHUNK = hello('x'.repeat(60_000))

  it('a router that reads nothing stops its client', async () => {
    await using router = await startRawRouter(undefined, (socket) => socket.pause())
    await using front = await startFront(relaysTo({ url: router.url }))
    await using client = await openClient(front.port)
    await floods(client.socket, CHUNK)
    const [near] = front.sockets
    expect(near?.readableFlowing).toBe(false)
    expect(near?.readableLength).toBeLessThan(300_000)
    for (const socket of router.sockets) socket.resume()
    await once(client.socket, 'drain')
  })

  it('a client that reads nothing stops its router', async () => {
    await using router = await startSpeaker()
    await using front = await startFront(relaysTo({ url: router.url }))
    await using client = await openClient(front.port)
    client.socket.pause()
    const socket = await router.speak()
    await floods(socket, frame(Buffer.alloc(60_000)))
    const [near] = front.sockets
    expect(near?.writableLength).toBeLessThan(300_000)
    client.socket.resume()
    await once(socket, 'drain')
  })
})

/** Writes until the kernels on the way are full and nothing moves. */
const floods = async (socket: Socket, chunk: Buffer): Promise<void> => {
  let before = -1
  await eventually(
    () => {
      for (let turn = 0; turn < 100 && socket.writableLength < 4_000_000; turn++)
        socket.write(chunk)
      const left = socket.bytesWritten - socket.writableLength
      const isStill = left === before && socket.writableLength >= 4_000_000
      before = left
      if (!isStill) throw new Error('it still flows')
    },
    { withinMs: 20_000, everyMs: 100 },
  )
}

describe('limits', () => {
  it.each([
    ['a message too large', hello('x'.repeat(1001)), 1009, 1001],
    ['a frame that is none', frame('x', { ...masked, opcode: 3 }), 1002, 1001],
    ['no mask', frame('x'), 1002, 1001],
  ])('%s of the client', async (_, bytes, code, forRouter) => {
    await using router = await startSpeaker()
    const relays = relaysTo({ url: router.url }, { maxMessageBytes: 1000 })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    await untilOpen(front)
    const fine = hello('fine')
    client.socket.write(Buffer.concat([fine, bytes, fine]))
    await soon(() => {
      expect(codeOf(client.received())).toBe(code)
      expect(client.hasEnded()).toBe(true)
      expect(router.received().subarray(0, fine.length)).toEqual(fine)
      expect(codeOf(router.received().subarray(fine.length))).toBe(forRouter)
      expect(relays.size).toBe(0)
    })
  })

  it.each([
    ['a message too large', frame(Buffer.alloc(1001)), 1009],
    ['a mask', frame('x', masked), 1002],
  ])('%s of the router', async (_, bytes, code) => {
    await using router = await startSpeaker()
    await using front = await startFront(relaysTo({ url: router.url }, { maxMessageBytes: 1000 }))
    await using client = await openClient(front.port)
    const socket = await router.speak()
    socket.write(Buffer.concat([frame('fine'), bytes]))
    await soon(() => {
      expect(client.received().subarray(0, 6)).toEqual(frame('fine'))
      expect(codeOf(client.received().subarray(6))).toBe(code)
      expect(codeOf(router.received())).toBe(code)
    })
  })

  it('so many connections, and no more until one has gone', async () => {
    await using router = await startTestRouter()
    const relays = relaysTo({ url: router.url }, { maxRelays: 1 })
    await using front = await startFront(relays)
    await using one = await openClient(front.port)
    await soon(() => {
      expect(front.outcomes).toEqual(['open'])
    })
    await using another = await openClient(front.port)
    await soon(() => {
      expect(front.outcomes).toEqual(['open', 'svc.error.overloaded'])
    })
    expect([one.isClosed(), relays.size]).toEqual([false, 1])
    one.socket.destroy()
    another.socket.destroy()
    await soon(() => {
      expect(relays.size).toBe(0)
    })
    await using third = await openClient(front.port)
    third.socket.write(hello('x'))
    await soon(() => {
      expect(third.received()).toEqual(echoed('x'))
    })
  })
})

/** Of the Close frame that `bytes` begin with, masked or not. */
const codeOf = (bytes: Buffer): number | undefined => {
  if (bytes[0] !== 0x88) return undefined
  const hasMask = ((bytes[1] ?? 0) & 0x80) !== 0
  if (!hasMask) return bytes.readUInt16BE(2)
  return bytes.readUInt16BE(6) ^ bytes.readUInt16BE(2)
}

describe('time', () => {
  it('idle connections are closed; a ping keeps one', async () => {
    const clock = createManualClock()
    await using router = await startTestRouter()
    const relays = relaysTo({ url: router.url }, { idleMs: 300 }, { now: () => clock.now() })
    await using front = await startFront(relays)
    await using idle = await openClient(front.port)
    await using busy = await openClient(front.port)
    await soon(() => {
      expect(front.outcomes).toEqual(['open', 'open'])
    })
    clock.advance(200)
    busy.socket.write(frame('', { ...masked, opcode: 9 }))
    await soon(() => {
      expect(busy.received()).toEqual(frame('', { opcode: 10 }))
    })
    clock.advance(101)
    await soon(() => {
      expect(codeOf(idle.received())).toBe(1001)
      expect(idle.hasEnded()).toBe(true)
      expect(relays.size).toBe(1)
    })
    expect(busy.hasEnded()).toBe(false)
  })

  it('who takes nothing of what waits for it is cut off', async () => {
    await using router = await startSpeaker()
    const clock = createManualClock()
    const relays = relaysTo({ url: router.url }, { stallMs: 200 }, { now: () => clock.now() })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    client.socket.pause()
    await floods(await router.speak(), frame(Buffer.alloc(60_000)))
    expect(relays.size).toBe(1)
    clock.advance(201)
    await soon(() => {
      expect([relays.size, front.sockets.size]).toEqual([0, 0])
    })
  })
})

describe('the end', () => {
  it.each<readonly [string, (router: Socket) => void]>([
    ['router hangs up', (socket) => socket.end()],
    ['router resets', (socket) => socket.resetAndDestroy()],
    ['router vanishes', (socket) => socket.destroy()],
  ])('%s: the client gets what came before, and the end', async (_, endIt) => {
    await using router = await startSpeaker()
    const relays = relaysTo({ url: router.url })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    const socket = await router.speak()
    socket.write(frame('last words'))
    await soon(() => {
      expect(client.received()).toEqual(frame('last words'))
    })
    endIt(socket)
    await soon(() => {
      expect(client.hasEnded()).toBe(true)
      expect([relays.size, router.sockets.size, front.sockets.size]).toEqual([0, 0, 0])
    })
  })

  it.each<readonly [string, (client: Socket) => void]>([
    ['client hangs up', (socket) => socket.end()],
    ['client resets', (socket) => socket.resetAndDestroy()],
    ['client vanishes', (socket) => socket.destroy()],
  ])('%s: so does the router hear', async (_, endIt) => {
    await using router = await startSpeaker()
    const relays = relaysTo({ url: router.url })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    await untilOpen(front)
    endIt(client.socket)
    await soon(() => {
      expect([relays.size, router.sockets.size, front.sockets.size]).toEqual([0, 0, 0])
    })
  })

  it('both have said Close, and neither hangs up: the gateway does', async () => {
    await using router = await startSpeaker()
    const relays = relaysTo({ url: router.url })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    await untilOpen(front)
    const socket = await router.speak()
    client.socket.write(close(1000, masked))
    socket.write(Buffer.concat([close(1000), frame('after all')]))
    await soon(() => {
      expect(relays.size).toBe(0)
      expect(client.received()).toEqual(close(1000))
      expect(router.received()).toEqual(close(1000, masked))
    })
  })

  it('a large response that is on its way when the router hangs up arrives', async () => {
    const large = frame(Buffer.alloc(5_000_000, 1))
    await using router = await startRawRouter(undefined, (socket) => socket.end(large))
    await using front = await startFront(relaysTo({ url: router.url }, { lingerMs: 5000 }))
    await using client = await openClient(front.port)
    await soon(() => {
      expect(client.received().length).toBe(large.length)
      expect(client.hasEnded()).toBe(true)
    })
  })
})

describe('closeAll', () => {
  it('says 1001 to both, masked to the router, and is done when all have ended', async () => {
    await using router = await startSpeaker()
    const relays = relaysTo({ url: router.url }, { lingerMs: 5000 })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    await untilOpen(front)
    client.socket.on('end', () => client.socket.end(close(1001, masked)))
    await relays.closeAll()
    expect([codeOf(client.received()), codeOf(router.received())]).toEqual([1001, 1001])
    expect((router.received()[1] ?? 0) & 0x80).toBe(0x80)
    expect([relays.size, front.sockets.size]).toEqual([0, 0])
    await using late = await openClient(front.port)
    await soon(() => {
      expect(front.outcomes).toEqual(['open', 'svc.error.overloaded'])
    })
    expect(late.received()).toHaveLength(0)
  })

  it('lets a frame that is on its way end first', async () => {
    await using router = await startSpeaker()
    const relays = relaysTo({ url: router.url }, { lingerMs: 5000 })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    const socket = await router.speak()
    const [whole, next] = [frame('a long message'), frame('another')]
    socket.write(whole.subarray(0, 5))
    await soon(() => {
      expect(client.received()).toHaveLength(5)
    })
    const closed = relays.closeAll()
    socket.write(Buffer.concat([whole.subarray(5), next]))
    await soon(() => {
      expect(client.received().subarray(0, whole.length)).toEqual(whole)
      expect(codeOf(client.received().subarray(whole.length))).toBe(1001)
    })
    client.socket.destroy()
    socket.destroy()
    await closed
  })

  it('does not wait for who will not end', async () => {
    await using router = await startSpeaker()
    const relays = relaysTo({ url: router.url })
    await using front = await startFront(relays)
    await using client = await openClient(front.port)
    const socket = await router.speak()
    socket.write(frame('half').subarray(0, 3))
    await soon(() => {
      expect(client.received()).toHaveLength(3)
    })
    await relays.closeAll()
    expect(relays.size).toBe(0)
  })

  it('refuses what is being opened', async () => {
    await using router = await startRawRouter('')
    const relays = relaysTo({ url: router.url })
    const waiting = relays.open(PLACE, HANDSHAKE, new AbortController().signal)
    await Promise.all([
      expect(waiting).rejects.toMatchObject({ code: 'svc.error.overloaded' }),
      relays.closeAll(),
    ])
  })

  it('with nothing open is done at once, as often as it is called', async () => {
    const relays = relaysTo({ url: 'ws://127.0.0.1:1' })
    await Promise.all([relays.closeAll(), relays.closeAll()])
    expect(relays.size).toBe(0)
  })
})

describe('the realm', () => {
  it.each<readonly [string, RouterRecord | undefined]>([
    ['is deleted', undefined],
    ['has another router', { url: 'ws://127.0.0.1:1/' }],
  ])('%s: its connections are closed', async (_, next) => {
    await using router = await startTestRouter()
    let record: RouterRecord | undefined = { url: router.url }
    await using front = await startFront(relaysTo(() => record))
    await using client = await openClient(front.port)
    client.socket.write(hello('x'))
    await soon(() => {
      expect(client.received()).toEqual(echoed('x'))
    })
    record = { urls: ['ws://127.0.0.1:2/', router.url] }
    client.socket.write(hello('y'))
    await soon(() => {
      expect(client.received()).toHaveLength(2 * echoed('x').length)
    })
    record = next
    await soon(() => {
      expect(codeOf(client.received().subarray(2 * echoed('x').length))).toBe(1001)
      expect(client.hasEnded()).toBe(true)
    })
  })
})
