import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import { createTransportOpener } from '../../../../dataplane/wamp/transport/open-transport.ts'
import { createRouterDial } from '../../../../dataplane/wamp/transport/router-dial.ts'
import { startWebSocketRouter } from '../fake-routers.ts'
import { openProbe } from './transport-probe.ts'

describe('WebSocket', () => {
  it('offers all sub-protocols at once, and no compression', async () => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url, { serializers: ['cbor', 'json'] })
    expect(await probe.untilOpen()).toBe('cbor')
    expect(router.offers).toEqual([['cbor', 'json']])
    expect(router.webSocket.extensions).toBe('')
    probe.transport.close()
    await probe.untilEnd()
  })

  it.each([
    ['json', true],
    ['msgpack', false],
    ['cbor', false],
  ] as const)('%s: a frame of the other kind is malformed', async (name, isBinary) => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url, { serializers: [name] })
    await probe.untilOpen()
    const closed = new Promise((resolve) => router.webSocket.on('close', resolve))
    router.webSocket.send('[50,1]', { binary: isBinary })
    expect(await probe.untilEnd()).toMatchObject({
      kind: 'malformed',
      reason: expect.stringContaining('frame'),
    })
    expect(await closed).toBe(1002)
  })

  it.each(
    (['json', 'msgpack', 'cbor'] as const).flatMap((name) =>
      [0, 1, 2, 3].map((shift) => [name, shift] as const),
    ),
  )('%s: a message somewhat over the limit costs one request (%d)', async (name, shift) => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url, { serializers: [name], maxMessageBytes: 5000 })
    await probe.untilOpen()
    // Four bytes each: wherever it is cut, that is within one or between two.
    router.send([50, 7, {}, ['x'.repeat(shift) + '😀'.repeat(4000)]])
    router.send([8, 48, 8, {}, 'com.error', ['x'.repeat(5000)]])
    router.send([50, 9, {}])
    expect(await probe.untilMessages(1)).toEqual([[50, 9, {}]])
    expect(probe.unreadable.map(({ head }) => head)).toEqual([
      [50, 7, {}],
      [8, 48, 8, {}, 'com.error'],
    ])
    expect(probe.unreadable[0]?.why).toBe('a message has more than 5000 bytes')
    probe.transport.close()
    await probe.untilEnd()
  })

  it.each<[string, number | undefined, string, string]>([
    ['going away', 1001, 'restart', 'the router closed the connection (1001, restart)'],
    ['done', 1000, '', 'the router closed the connection (1000)'],
    ['without a code', undefined, '', 'the router closed the connection (1005)'],
    ['with odd words', 4000, 'a\n\u202Eb', 'the router closed the connection (4000, a??b)'],
  ])('a close of the router, %s', async (_, code, words, reason) => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    router.webSocket.close(code, words)
    expect(await probe.untilEnd()).toEqual({ kind: 'lost', reason })
  })

  it('a router that says it closes, and does not, is lost soon', async () => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url, {
      open: createTransportOpener({ dial: createRouterDial([]), closeGraceMs: 50 }),
    })
    await probe.untilOpen()
    router.socket.removeAllListeners('data').resume()
    router.socket.write(Buffer.of(0x88, 0x02, 0x03, 0xe9))
    // Its own Close.
    await once(router.socket, 'data')
    probe.transport.send([48, 1])
    expect(await probe.untilEnd()).toMatchObject({
      kind: 'lost',
      reason: expect.stringContaining('1001'),
    })
  })

  it('a serializer may be named twice', async () => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url, { serializers: ['json', 'json'] })
    expect(await probe.untilOpen()).toBe('json')
    probe.transport.close()
    await probe.untilEnd()
  })

  it('what breaks the protocol is malformed', async () => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    router.socket.write(Buffer.of(0xf1, 0x00))
    expect(await probe.untilEnd()).toMatchObject({ kind: 'malformed' })
  })

  it('messages may come in fragments', async () => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    const bytes = Buffer.from('[50,1,"é"]')
    for (const [at, byte] of bytes.entries())
      router.webSocket.send(Buffer.of(byte), { binary: false, fin: at === bytes.length - 1 })
    expect(await probe.untilMessages(1)).toEqual([[50, 1, 'é']])
    probe.transport.close()
    await probe.untilEnd()
  })

  it('pings are answered', async () => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url)
    await probe.untilOpen()
    const pong = new Promise((resolve) => router.webSocket.once('pong', resolve))
    router.webSocket.ping('abc')
    expect(await pong).toEqual(Buffer.from('abc'))
    probe.transport.close()
    await probe.untilEnd()
  })

  it('user info of the URL goes out as Basic authentication', async () => {
    await using router = await startWebSocketRouter()
    const probe = openProbe(router.url.replace('//', '//me:secret@'))
    await probe.untilOpen()
    expect(router.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`)
    probe.transport.close()
    await probe.untilEnd()
  })
})
