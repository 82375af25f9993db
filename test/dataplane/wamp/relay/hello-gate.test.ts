import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { RELAYED, type RelayedProtocol } from '../../../../dataplane/wamp/relay/handshake.ts'
import { Relays } from '../../../../dataplane/wamp/relay/relays.ts'
import { SERIALIZERS } from '../../../../dataplane/wamp/transport/serializers/by-name.ts'
import type { WampMessage } from '../../../../dataplane/wamp/protocol/messages.ts'
import { createRouterDial } from '../../../../dataplane/wamp/transport/router-dial.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { eventually } from '../../../support/eventually.ts'
import { close, frame } from '../frames.ts'
import {
  HANDSHAKE,
  openClient,
  REALM,
  responseText,
  startFront,
  startRawRouter,
} from './relay-rig.ts'

const soon = <T>(check: () => T | Promise<T>): Promise<T> => eventually(check, { everyMs: 2 })

const opened: Relays[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((relays) => relays.closeAll()))
})

const HELLO: WampMessage = [1, REALM, { roles: { caller: {} } }]
const STRANGE: WampMessage = [1, 'com.bank', { roles: { caller: {} } }]
const GOODBYE: WampMessage = [6, {}, 'wamp.close.normal']
const CALL: WampMessage = [48, 1, {}, 'com.proc']

type Parts = Omit<Parameters<typeof frame>[1] & object, 'isMasked'>

/** What a client of that protocol writes. */
const writer = (protocol: RelayedProtocol) => {
  const serializer = SERIALIZERS[RELAYED[protocol]]
  const opcode = serializer.isText ? 1 : 2
  const payload = (message: WampMessage): Buffer =>
    Buffer.from(serializer.encode(message) as string)
  const raw = (bytes: Uint8Array | string, parts: Parts = {}): Buffer =>
    frame(bytes, { opcode, ...parts, isMasked: true })
  return {
    opcode,
    payload,
    raw,
    message: (message: WampMessage, parts: Parts = {}): Buffer => raw(payload(message), parts),
    /** In fragments of `size` bytes, with `between` between them. */
    fragments: (message: WampMessage, size: number, between: Buffer = Buffer.alloc(0)): Buffer => {
      const bytes = payload(message)
      const frames: Buffer[] = []
      for (let at = 0; at < bytes.length; at += size)
        frames.push(
          raw(bytes.subarray(at, at + size), {
            opcode: at === 0 ? opcode : 0,
            isFinal: at + size >= bytes.length,
          }),
          between,
        )
      return Buffer.concat(frames)
    },
  }
}

type Writer = ReturnType<typeof writer>

const ping = frame('p', { opcode: 9, isMasked: true })

/** A client of `protocol` that is connected to a router which says nothing unless a test makes it. */
const relayed = async (protocol: RelayedProtocol) => {
  const received: Buffer[] = []
  const sockets: Socket[] = []
  const router = await startRawRouter(
    responseText({ 'Sec-WebSocket-Protocol': protocol }),
    (socket) => {
      sockets.push(socket)
      socket.on('data', (chunk) => received.push(chunk))
    },
  )
  const relays = new Relays({
    routerOf: () => ({ url: router.url.replace('//', '//gateway:secret@') }),
    dial: createRouterDial([]),
    log: createSilentLog(),
    limits: { checkMs: 20, lingerMs: 5000 },
  })
  opened.push(relays)
  const front = await startFront(relays, undefined, { ...HANDSHAKE, protocols: [protocol] })
  const client = await openClient(front.port)
  await soon(() => {
    expect(front.outcomes).toEqual(['open'])
  })
  return {
    client,
    router: sockets[0],
    received: () => Buffer.concat(received),
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]()
      await front[Symbol.asyncDispose]()
      await router[Symbol.asyncDispose]()
    },
  }
}

/** Without the Close frame at the end, of 1001, which tells the router that its client goes. */
const withoutClose = (bytes: Buffer): Buffer => {
  expect(bytes.at(-8)).toBe(0x88)
  return bytes.subarray(0, -8)
}

/** The last message and the Close code that a client was sent. */
const farewell = (bytes: Buffer, protocol: RelayedProtocol): readonly unknown[] => {
  const length = bytes[1] ?? 0
  const serializer = SERIALIZERS[RELAYED[protocol]]
  expect(bytes[0]).toBe(serializer.isText ? 0x81 : 0x82)
  const rest = bytes.subarray(2 + length)
  expect(rest[0]).toBe(0x88)
  return [...serializer.decode(bytes.subarray(2, 2 + length)), rest.readUInt16BE(2)]
}

const PROTOCOLS = Object.keys(RELAYED) as readonly RelayedProtocol[]

const noSuchRealm = [3, { message: expect.any(String) }, 'wamp.error.no_such_realm', 1008]
const violation = [3, { message: expect.any(String) }, 'wamp.error.protocol_violation', 1002]

describe.each(PROTOCOLS)('%s', (protocol) => {
  const w = writer(protocol)

  it.each<readonly [string, (w: Writer) => Buffer]>([
    ['HELLO', () => w.message(HELLO)],
    ['HELLO in fragments of one byte with pings between', () => w.fragments(HELLO, 1, ping)],
    ['a ping before HELLO', () => Buffer.concat([ping, w.message(HELLO)])],
    [
      'another session after GOODBYE',
      () => Buffer.concat([HELLO, CALL, GOODBYE, HELLO, CALL].map((each) => w.message(each))),
    ],
    [
      'a large message in fragments',
      () =>
        Buffer.concat([
          w.message(HELLO),
          w.fragments([48, 1, {}, 'com.proc', ['x'.repeat(200_000)]], 9_000, ping),
          w.message(CALL),
        ]),
    ],
  ])('%s passes byte for byte', async (_title, write) => {
    const bytes = write(w)
    await using pair = await relayed(protocol)
    for (const byte of bytes.subarray(0, 50)) pair.client.socket.write(Buffer.of(byte))
    pair.client.socket.write(bytes.subarray(50))
    await soon(() => {
      expect(pair.received().equals(bytes)).toBe(true)
    })
  })

  it.each<readonly [string, Buffer, Buffer, readonly unknown[]]>([
    ['HELLO to another realm', Buffer.alloc(0), w.message(STRANGE), noSuchRealm],
    ['it in fragments', Buffer.alloc(0), w.fragments(STRANGE, 2, ping), noSuchRealm],
    ['it after a ping', ping, w.message(STRANGE), noSuchRealm],
    [
      'it after GOODBYE',
      Buffer.concat([HELLO, GOODBYE].map((each) => w.message(each))),
      w.message(STRANGE),
      noSuchRealm,
    ],
    ['it within a session', w.message(HELLO), w.fragments(STRANGE, 7), noSuchRealm],
    [
      'a realm that begins like ours',
      Buffer.alloc(0),
      w.message([1, `${REALM}.a`, {}]),
      noSuchRealm,
    ],
    ['an empty realm', Buffer.alloc(0), w.message([1, '', {}]), noSuchRealm],
    ['our realm in capitals', Buffer.alloc(0), w.message([1, 'COM.ACME', {}]), noSuchRealm],
    ['HELLO without a realm', Buffer.alloc(0), w.message([1, null, {}]), violation],
    ['a CALL before HELLO', Buffer.alloc(0), w.message(CALL), violation],
    ['GOODBYE before HELLO', Buffer.alloc(0), w.message(GOODBYE), violation],
    ['an empty message', Buffer.alloc(0), w.raw(''), violation],
    ['an empty message within a session', w.message(HELLO), w.raw(''), violation],
    ['what is no message', w.message(HELLO), w.raw('{"a":1}'), violation],
    [
      'a message of the other kind',
      Buffer.alloc(0),
      w.message(HELLO, { opcode: 3 - w.opcode }),
      violation,
    ],
    [
      'it within a session',
      w.message(HELLO),
      w.message(STRANGE, { opcode: 3 - w.opcode }),
      violation,
    ],
    [
      'a realm without end',
      Buffer.alloc(0),
      w.message([1, 'x'.repeat(10_000), {}]).subarray(0, 9_000),
      violation,
    ],
    [
      'a type without end',
      Buffer.alloc(0),
      Buffer.concat([w.raw('', { isFinal: false }), ...Array<Buffer>(3_000).fill(ping)]),
      violation,
    ],
    [
      'empty fragments without end',
      Buffer.alloc(0),
      Buffer.concat([
        w.raw('', { isFinal: false }),
        ...Array<Buffer>(3_000).fill(w.raw('', { opcode: 0, isFinal: false })),
      ]),
      violation,
    ],
    [
      'Close in a message',
      Buffer.alloc(0),
      Buffer.concat([w.raw('', { isFinal: false }), close(1000, { isMasked: true })]),
      violation,
    ],
  ])(
    '%s is answered by ABORT and Close, and nothing of it reaches the router',
    async (_title, before, bytes, expected) => {
      await using pair = await relayed(protocol)
      pair.client.socket.write(Buffer.concat([before, bytes, w.message(HELLO)]))
      await soon(() => {
        expect(pair.client.hasEnded()).toBe(true)
        expect(farewell(pair.client.received(), protocol)).toEqual(expected)
        expect(withoutClose(pair.received())).toEqual(before)
      })
    },
  )

  it('a message that is held when the gateway stops does not pass', async () => {
    await using pair = await relayed(protocol)
    const [first, rest] = [
      w.fragments(STRANGE, 1).subarray(0, 14),
      w.fragments(STRANGE, 1).subarray(14),
    ]
    pair.client.socket.write(Buffer.concat([ping, first]))
    await soon(() => {
      expect(pair.received()).toEqual(ping)
    })
    const closed = Promise.all(opened.map((relays) => relays.closeAll()))
    await soon(() => {
      expect(withoutClose(pair.received())).toEqual(ping)
    })
    pair.client.socket.end(rest)
    await closed
    expect(withoutClose(pair.received())).toEqual(ping)
  })
})

it('within a message of the router the connection ends without ABORT, whose frame would be a fragment of it', async () => {
  await using pair = await relayed('wamp.2.json')
  const begun = frame('[2,1', { opcode: 1, isFinal: false })
  pair.router?.write(begun)
  await soon(() => {
    expect(pair.client.received()).toEqual(begun)
  })
  pair.client.socket.write(writer('wamp.2.json').message(STRANGE))
  await soon(() => {
    const rest = pair.client.received().subarray(begun.length)
    expect([rest[0], rest.readUInt16BE(2)]).toEqual([0x88, 1008])
  })
})
