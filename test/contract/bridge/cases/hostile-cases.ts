// Callees that answer what others stumble over. Routers pass it on, mend it, drop the callee, or never answer; the
// bridge reads it or fails that one call. The session and all other calls of it stay, always.

import { encode } from '@msgpack/msgpack'
import type { Value } from '../../../../language/expression/value.ts'
import { MESSAGE, type SerializerName } from '../../../../dataplane/wamp/protocol/messages.ts'
import type { RouterName } from '../../../support/routers/router-under-test.ts'
import { idOf, register } from '../../../support/wamp-peer.ts'
import type { BridgeCase, BridgeContext } from '../bridge-case.ts'
import { callBy, type Settled, within } from '../bridge-rig.ts'
import { keepsSession } from './call-cases.ts'

const GONE = 'wamp.error.canceled'
const UNREADABLE = 'svc.error.bad_gateway'
/** The router's doing: the deadline of the call ends it. */
const NEVER = 'pending'

/** The error, or the arguments as JSON: one for all serializers of the bridge, or each. */
type Outcome = string | Readonly<Record<SerializerName, string>>

interface HostileResponse {
  readonly name: string
  /** One argument, as msgpack. */
  readonly argument: Uint8Array
  readonly outcomes: Readonly<Record<RouterName, Outcome>>
}

const inAll = (outcome: string): HostileResponse['outcomes'] => ({
  embedded: outcome,
  nexus: outcome,
  crossbar: outcome,
})

const RESPONSES: readonly HostileResponse[] = [
  {
    name: 'an extension type',
    argument: Buffer.of(0xd4, 5, 7),
    outcomes: {
      embedded: GONE,
      nexus: { json: '[null]', msgpack: UNREADABLE, cbor: UNREADABLE },
      // The type, and the bytes.
      crossbar: { json: '[[5,{"0":7}]]', msgpack: UNREADABLE, cbor: '[[5,{"0":7}]]' },
    },
  },
  {
    name: 'a timestamp',
    argument: Buffer.of(0xd6, 0xff, 0, 0, 0, 1),
    outcomes: {
      embedded: GONE,
      nexus: { json: '["1970-01-01T00:00:01Z"]', msgpack: UNREADABLE, cbor: UNREADABLE },
      crossbar: { json: NEVER, msgpack: UNREADABLE, cbor: NEVER },
    },
  },
  {
    name: 'a map with a number as key',
    argument: Buffer.of(0x81, 7, 1),
    outcomes: { embedded: GONE, nexus: NEVER, crossbar: GONE },
  },
  {
    name: 'a map with equal keys',
    argument: Buffer.of(0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2),
    outcomes: inAll('[{"a":2}]'),
  },
  {
    name: 'a map with the key __proto__',
    argument: Buffer.from([0x81, 0xa9, ...Buffer.from('__proto__'), 0x81, 0xa1, 0x61, 1]),
    outcomes: inAll('[{"__proto__":{"a":1}}]'),
  },
  {
    name: 'text that is no UTF-8',
    argument: Buffer.of(0xa2, 0xc3, 0x28),
    outcomes: {
      embedded: GONE,
      nexus: { json: '["\ufffd("]', msgpack: UNREADABLE, cbor: UNREADABLE },
      crossbar: GONE,
    },
  },
  ...[NaN, Infinity].map((number) => ({
    name: String(number),
    argument: encode(number),
    outcomes: {
      embedded: GONE,
      nexus: { json: '[null]', msgpack: UNREADABLE, cbor: UNREADABLE },
      // Python writes it into JSON as it is.
      crossbar: UNREADABLE,
    },
  })),
  {
    name: '2^64 - 1',
    argument: Buffer.from(`cf${'ff'.repeat(8)}`, 'hex'),
    outcomes: inAll('[18446744073709552000]'),
  },
  {
    name: 'nesting of 600',
    argument: Buffer.from([...Array<number>(600).fill(0x91), 0xa4, ...Buffer.from('deep')]),
    outcomes: { embedded: GONE, nexus: UNREADABLE, crossbar: UNREADABLE },
  },
]

export const hostileCases = (serializer: SerializerName): readonly BridgeCase[] =>
  RESPONSES.map(({ name, argument, outcomes }): BridgeCase => {
    const kept = (outcome: Outcome): unknown => ({
      outcome: typeof outcome === 'string' ? outcome : outcome[serializer],
      isKept: true,
      others: '["other"]',
    })
    return {
      name: `a response with ${name}`,
      each: {
        embedded: kept(outcomes.embedded),
        nexus: kept(outcomes.nexus),
        crossbar: kept(outcomes.crossbar),
      },
      run: (context) => answeredWith(context, argument),
    }
  })

/** What a router sends in one go may be read in two. */
const GRACE_MS = 100

const answeredWith = async (context: BridgeContext, argument: Uint8Array): Promise<unknown> => {
  const { rig, open, peer, uri } = context
  await register(peer, `${uri}.other`, ({ args }) => ({ args }))
  const callee = await open({ serializer: 'msgpack' })
  const id = idOf(await register(callee, uri, () => undefined))
  await register(callee, `${uri}.behind`, () => ({}))
  // Before the handlers of `register`, the first of which answers nothing.
  callee.listen(([type, request, registration]) => {
    if (type !== MESSAGE.invocation || registration !== id) return false
    callee.sendBytes(yieldOf(request ?? 0, argument))
    return true
  })
  let outcome = ''
  let others = ''
  const isKept = await keepsSession(context, async () => {
    const call = callBy(rig.client, uri)
    const other = callBy(rig.client, `${uri}.other`, { args: ['other'] })
    // By the same callee, behind the first: when this one is settled and that one is not, it never will be.
    await callBy(rig.client, `${uri}.behind`)
    outcome = textOf(await within(GRACE_MS, call))
    others = textOf(await other)
  })
  return { outcome, isKept, others }
}

const yieldOf = (request: Value, argument: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(0x94, MESSAGE.yield), encode(request), Buffer.of(0x80, 0x91), argument])

const textOf = (settled: Settled | 'pending'): string => {
  if (settled === 'pending') return settled
  return 'error' in settled ? settled.error : JSON.stringify(settled.args)
}
