// The embedded router over real sockets: by autobahn, an independent client, and by peers that may misbehave.
// What it says is held to tables elsewhere; here it is who can talk to it, its limits, and its end.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { WebSocket } from 'ws'
import { connectAutobahn } from '../../../dev/router/autobahn-client.ts'
import { type Router, startRouter } from '../../../dev/router/router.ts'
import type { RouterOptions } from '../../../dev/router/router-options.ts'
import { MESSAGE, type SerializerName } from '../../../dataplane/wamp/protocol/messages.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { connectRawPeer, openRawPeer, type RawPeer } from '../../support/raw-wamp-peer.ts'
import { call, idOf, publish, register, subscribe } from '../../support/wamp-peer.ts'

const REALM = 'com.example.realm'

let router: Router | undefined
const start = async (options: Partial<RouterOptions> = {}): Promise<Router> => {
  router = await startRouter({ realms: [{ uri: REALM, anonymous: true }], ...options })
  return router
}

afterEach(async () => {
  await router?.close({ hard: true })
})

const urlOf = ({ wsUrl, rawSocketUrl }: Router, transport: 'ws' | 'rawsocket'): string =>
  transport === 'ws' ? wsUrl : rawSocketUrl

const join = (url: string, serializer: SerializerName = 'json'): Promise<RawPeer> =>
  openRawPeer({ url, realm: REALM, serializer })

describe('autobahn', () => {
  it('calls, publishes and leaves over WebSocket', async () => {
    const { wsUrl } = await start()
    const [caller, callee] = [
      await connectAutobahn(wsUrl, REALM),
      await connectAutobahn(wsUrl, REALM),
    ]
    const told = Promise.withResolvers<unknown>()
    await callee.session.register('com.example.add', ([a, b]) => Number(a) + Number(b))
    await callee.session.subscribe('com.example.topic', (args, kwargs) => {
      told.resolve([args, kwargs])
    })
    expect(await caller.session.call('com.example.add', [2, 3])).toBe(5)
    await caller.session.publish('com.example.topic', [1], { a: null }, { acknowledge: true })
    expect(await told.promise).toEqual([[1], { a: null }])
    expect(await caller.close()).toMatchObject({ reason: 'wamp.close.goodbye_and_out' })
    await callee.close()
  })

  it('calls over RawSocket', async () => {
    const { rawSocketUrl } = await start()
    const { hostname: host, port } = new URL(rawSocketUrl)
    const transports = [{ type: 'rawsocket', host, port: Number(port) }]
    const client = await connectAutobahn('', REALM, { transports })
    await client.session.register('com.example.add', ([a, b]) => Number(a) + Number(b))
    expect(await client.session.call('com.example.add', [2, 3])).toBe(5)
    await client.close()
  })

  it('learns why it may not join', async () => {
    const { wsUrl } = await start()
    await expect(connectAutobahn(wsUrl, 'com.example.other')).rejects.toThrow(
      'wamp.error.no_such_realm',
    )
  })
})

describe.each(['ws', 'rawsocket'] as const)('peers over %s', (transport) => {
  it.each(['json', 'msgpack', 'cbor'] as const)('speak %s', async (serializer) => {
    const url = urlOf(await start(), transport)
    const [caller, callee] = [await join(url, serializer), await join(url)]
    idOf(await register(callee, 'com.example.echo', ({ args, kwargs }) => ({ args, kwargs })))
    const payload = { args: [1, 'é', null], kwargs: { constructor: [true] } }
    expect(await call(caller, 'com.example.echo', payload)).toEqual(payload)
  })

  it('get an error for what cannot be read, and no other client is affected', async () => {
    const url = urlOf(await start(), transport)
    const [good, bad] = [await join(url), await join(url)]
    bad.sendBytes(Buffer.from('{nonsense'))
    const [, , reason] = await bad.next(([type]) => type === MESSAGE.abort)
    expect(reason).toBe('wamp.error.protocol_violation')
    expect(await bad.endsWithin(15_000)).toBe(true)
    expect(await call(good, 'wamp.session.count')).toEqual({ args: [1] })
  })

  it('may go away in the middle of anything', async () => {
    const url = urlOf(await start(), transport)
    const [caller, callee] = [await join(url), await join(url)]
    idOf(
      await register(callee, 'com.example.leave', () => {
        callee.close()
        return undefined
      }),
    )
    expect(await call(caller, 'com.example.leave')).toEqual({
      error: 'wamp.error.canceled',
      args: ['callee gone'],
    })
  })

  it('lose their session with messages that are too large', async () => {
    const url = urlOf(await start({ maxMessageBytes: 4096 }), transport)
    const peer = await join(url)
    peer.send([MESSAGE.publish, 1, {}, 'com.example.topic', ['x'.repeat(5000)]])
    expect(await peer.endsWithin(15_000)).toBe(true)
  })

  it('are not sent what is too large for them', async () => {
    const url = urlOf(await start({ maxMessageBytes: 4096 }), transport)
    const [caller, callee] = [await join(url, 'msgpack'), await join(url)]
    idOf(await register(callee, 'com.example.echo', () => undefined))
    // More bytes in JSON than in msgpack.
    const args = [Buffer.alloc(3500)]
    expect(await call(caller, 'com.example.echo', { args })).toEqual({
      error: 'wamp.error.invalid_payload',
      args: ['the callee cannot be sent these arguments'],
    })
  })

  it('are dropped when they do not read', async () => {
    const running = await start({ maxQueuedBytes: 256 * 1024 })
    const url = urlOf(running, transport)
    const [slow, publisher] = [await join(url), await join(url)]
    idOf(await subscribe(slow, 'com.example.topic', () => undefined))
    slow.pause()
    const args = ['x'.repeat(64 * 1024)]
    await eventually(
      async () => {
        idOf(await publish(publisher, 'com.example.topic', { args }))
        expect(running.sessionIds(REALM)).toHaveLength(1)
      },
      { everyMs: 0 },
    )
    slow.close()
  })

  it('get a reason when their session is killed', async () => {
    const running = await start()
    const peer = await join(urlOf(running, transport))
    expect(running.sessionIds(REALM)).toEqual([peer.sessionId])
    expect(running.killSession(REALM, peer.sessionId)).toBe(true)
    const goodbye = await peer.next(([type]) => type === MESSAGE.goodbye)
    expect(goodbye).toEqual([MESSAGE.goodbye, {}, 'wamp.close.killed'])
    expect(await peer.endsWithin(15_000)).toBe(true)
    expect(running.killSession(REALM, peer.sessionId)).toBe(false)
  })

  it('hear GOODBYE when the router closes', async () => {
    const running = await start()
    const peer = await join(urlOf(running, transport))
    await running.close()
    const goodbye = await peer.next(([type]) => type === MESSAGE.goodbye)
    expect(goodbye).toEqual([MESSAGE.goodbye, {}, 'wamp.close.system_shutdown'])
    expect(await peer.endsWithin(15_000)).toBe(true)
  })

  it('hear nothing when it closes hard', async () => {
    const running = await start()
    const peer = await join(urlOf(running, transport))
    await running.close({ hard: true })
    expect(await peer.endsWithin(15_000)).toBe(true)
    expect(peer.unread).toEqual([])
  })
})

describe('a WebSocket', () => {
  it.each([[['chat']], [['wamp.2.json.batched']], [['wamp.2.constructor']], [[]]])(
    'of the sub-protocols %j is refused',
    async (protocols) => {
      const { wsUrl } = await start()
      const socket = new WebSocket(wsUrl, protocols)
      const [error] = (await once(socket, 'error')) as [Error]
      expect(error.message).toContain('400')
    },
  )

  it('speaks the first sub-protocol that we have', async () => {
    const { wsUrl } = await start()
    const socket = new WebSocket(wsUrl, ['chat', 'wamp.2.cbor', 'wamp.2.json'])
    await once(socket, 'open')
    expect(socket.protocol).toBe('wamp.2.cbor')
  })

  it('with frames of the wrong kind is no WAMP', async () => {
    const { wsUrl } = await start()
    const socket = new WebSocket(wsUrl, ['wamp.2.json'])
    await once(socket, 'open')
    socket.send(Buffer.from('[1,"com.example.realm",{"roles":{"caller":{}}}]'))
    const [data] = (await once(socket, 'message')) as [Buffer]
    expect(JSON.parse(data.toString())).toMatchObject([
      MESSAGE.abort,
      {},
      'wamp.error.protocol_violation',
    ])
  })

  it('is what plain HTTP is to upgrade to', async () => {
    const { wsUrl } = await start()
    expect((await fetch(wsUrl.replace('ws:', 'http:'))).status).toBe(426)
  })
})

describe('a RawSocket', () => {
  /** All that the router says to these bytes, up to its end. */
  const responseTo = async (...said: number[]): Promise<readonly number[]> => {
    const { rawSocketUrl } = await start()
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(rawSocketUrl).port) })
    socket.write(Buffer.from(said))
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    return [...Buffer.concat(chunks)]
  }

  it.each([
    ['another protocol', [0x47, 0x45, 0x54, 0x20], []],
    ['an unknown serializer', [0x7f, 0xf7, 0, 0], [0x7f, 0x10, 0, 0]],
    ['no serializer', [0x7f, 0xf0, 0, 0], [0x7f, 0x10, 0, 0]],
    ['reserved bits', [0x7f, 0xf1, 0, 1], [0x7f, 0x30, 0, 0]],
  ])('with %s is refused', async (_name, said, response) => {
    expect(await responseTo(...said)).toEqual(response)
  })

  it('answers pings, however the bytes come', async () => {
    const { rawSocketUrl } = await start()
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(rawSocketUrl).port) })
    socket.setNoDelay(true)
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
    })
    for (const byte of [0x7f, 0xf1, 0, 0, 1, 0, 0, 2, 7, 9]) {
      socket.write(Buffer.of(byte))
      await new Promise(setImmediate)
    }
    await eventually(() => {
      expect([...received]).toEqual([0x7f, 0xf1, 0, 0, 2, 0, 0, 2, 7, 9])
    })
    socket.destroy()
  })

  it('with a frame of an unknown type is no WAMP', async () => {
    const response = Buffer.from(await responseTo(0x7f, 0xf1, 0, 0, 3, 0, 0, 0))
    expect(response.subarray(8).toString()).toContain('wamp.error.protocol_violation')
  })

  it('takes messages as long as it says, in powers of two', async () => {
    const { rawSocketUrl } = await start({ maxMessageBytes: 5000 })
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(rawSocketUrl).port) })
    socket.write(Buffer.of(0x7f, 0xf1, 0, 0))
    const [response] = (await once(socket, 'data')) as [Buffer]
    expect([...response]).toEqual([0x7f, 0x31, 0, 0])
    socket.destroy()
  })
})

describe('the ports', () => {
  it('are taken again at once after a close', async () => {
    const ports = { webSocketPort: await freePort(), rawSocketPort: await freePort() }
    const first = await start(ports)
    const peer = await join(first.wsUrl)
    await first.close({ hard: true })
    const second = await start(ports)
    expect([second.wsUrl, second.rawSocketUrl]).toEqual([first.wsUrl, first.rawSocketUrl])
    expect(await peer.endsWithin(15_000)).toBe(true)
    expect((await join(second.wsUrl)).sessionId).toBeGreaterThan(0)
  })

  it('that are taken are reported, and nothing is left behind', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    await expect(start({ webSocketPort: port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await expect(start({ rawSocketPort: port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    taken.close()
    await once(taken, 'close')
  })

  it('may be closed twice, and with clients that never say a word', async () => {
    const running = await start()
    const silent = await connectRawPeer({ url: running.rawSocketUrl })
    await Promise.all([running.close(), running.close({ hard: true })])
    await running.close()
    expect(await silent.endsWithin(15_000)).toBe(true)
  })
})
