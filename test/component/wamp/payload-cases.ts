// Binary arguments from an HTTP body to a callee and back, by every transport and serializer, and large ones by two of
// them: the contract of the bridge has all six.

import { buffer } from 'node:stream/consumers'
import { decode, encode } from '@msgpack/msgpack'
import type { SerializerName } from '../../../dataplane/wamp/protocol/messages.ts'
import { openRequest, request } from '../../support/http-request.ts'
import { register } from '../../support/wamp-peer.ts'
import type { FaultCase, FaultContext, Transport } from './fault-case.ts'
import { measured } from './measured.ts'
import { calls } from './wamp-operations.ts'

const MB = 1_000_000

interface Wire {
  readonly transport: Transport
  readonly serializer: SerializerName
}

const WIRES: readonly Wire[] = (['ws', 'rawsocket'] as const).flatMap((transport) =>
  (['json', 'msgpack', 'cbor'] as const).map((serializer) => ({ transport, serializer })),
)

/** All bytes there are, and none. */
const BYTES = [Uint8Array.from({ length: 256 }, (_, n) => n), Uint8Array.of()]
const AS_JSON = BYTES.map((bytes) => Buffer.from(bytes).toString('base64'))

const LARGE: readonly Wire[] = [
  { transport: 'ws', serializer: 'json' },
  { transport: 'rawsocket', serializer: 'msgpack' },
]

const LARGE_CASES = LARGE.map((wire): FaultCase => ({
  name: `5 MB of arguments there and back, ${wire.transport} ${wire.serializer}`,
  same: { status: 200, isSame: true, next: { status: 200, body: [1] } },
  run: async (context) => {
    await serveEcho(context, wire)
    // Text of three-byte characters too, which JSON does not write shorter.
    const args = ['x'.repeat(4 * MB), { text: '€'.repeat(MB / 3) }]
    const sinceMs = performance.now()
    const response = await request(context.url('/echo'), {
      method: 'POST',
      json: { args },
      timeoutMs: 30_000,
    })
    const what = `5 MB there and back (${wire.transport} ${wire.serializer})`
    measured(context.router.name, what, performance.now() - sinceMs)
    const isSame = response.text === JSON.stringify(args)
    return { status: response.status, isSame, next: await context.call('/echo', [1]) }
  },
}))

const BINARY_CASES = WIRES.map((wire): FaultCase => ({
  name: `bytes from msgpack to a callee and back, ${wire.transport} ${wire.serializer}`,
  same: { status: 200, args: BYTES, asJson: AS_JSON },
  run: async (context) => {
    await serveEcho(context, wire)
    const headers = { 'content-type': 'application/msgpack', accept: 'application/msgpack' }
    const body = Buffer.from(encode({ args: BYTES }))
    const response = await openRequest(context.url('/echo'), { method: 'POST', headers, body })
    const args = decode(await buffer(response)) as readonly unknown[]
    const asJson = await request(context.url('/echo'), {
      method: 'POST',
      headers: { ...headers, accept: 'application/json' },
      body,
    })
    return { status: response.statusCode, args: args.map(plain), asJson: asJson.json() }
  },
}))

export const PAYLOAD_CASES: readonly FaultCase[] = [...LARGE_CASES, ...BINARY_CASES]

const serveEcho = async (context: FaultContext, { transport, serializer }: Wire): Promise<void> => {
  const { router, uri } = context
  const callee = await context.open({ serializer })
  await register(callee, `${uri}.echo`, ({ args }) => ({ args }))
  await context.realm({ url: router[transport], serializers: [serializer] })
  await context.serve({ '/echo': { post: calls(`${uri}.echo`, { timeout: 30_000 }) } })
  await context.become('open')
}

/** Not a Buffer, and of this realm: jest compares classes. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array ? Uint8Array.from(value) : value
