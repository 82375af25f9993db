// What a hostile router sends for a call: frames that are no message, messages out of place and values that break
// rules, each with what becomes of the call and of the session.

import type { SerializerName, WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import type { Codec, Frame, Script } from './scripted-router.ts'

const text = (body: string): Frame => ({ bytes: Buffer.from(body), isText: true })
const binary = (...parts: (number | string | Uint8Array)[]): Frame => ({
  bytes: Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))),
  ),
  isText: false,
})

export const NET_FAILURE = { status: 502, code: 'wamp.error.net_failure' }
const BAD_RESPONSE = { status: 504, code: 'svc.error.bad_gateway' }
export const RIGHT = { status: 200, code: undefined }

export interface Garbage {
  readonly name: string
  readonly serializer?: SerializerName
  readonly script: Script
  /** Of the call that it came for. */
  readonly response: { readonly status: number; readonly code: string | undefined }
  /** Whether another session has taken the place of the one that it came by. */
  readonly isReplaced: boolean
}

const REPLACED = { response: NET_FAILURE, isReplaced: true }
/** The call is known that it belongs to: no other call fails for it. */
const UNREADABLE = { response: BAD_RESPONSE, isReplaced: false }

/** Something that is no message, for the session. */
const sends =
  (...messages: readonly WampMessage[]): Script =>
  (_request, codec: Codec) =>
    messages.map((message) => codec.frame(message))

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

const JSON_GARBAGE: readonly Garbage[] = [
  { name: 'truncated JSON', script: () => [text('[50,')], ...REPLACED },
  { name: 'a truncated request id', script: (id) => [text(`[50,${id}`)], ...REPLACED },
  { name: 'truncated arguments', script: (id) => [text(`[50,${id},{},[`)], ...UNREADABLE },
  { name: 'no JSON', script: () => [text('hello')], ...REPLACED },
  { name: 'nothing', script: () => [text('')], ...REPLACED },
  { name: 'a map', script: () => [text('{"a":1}')], ...REPLACED },
  { name: 'an empty list', script: () => [text('[]')], ...REPLACED },
  { name: 'a text for a type', script: () => [text('["50",1,{}]')], ...REPLACED },
  { name: 'null for a type', script: () => [text('[null]')], ...REPLACED },
  { name: 'an unknown type', script: sends([99, 1, {}]), ...REPLACED },
  { name: 'a message for a router', script: sends([48, 1, {}, 'a.b']), ...REPLACED },
  { name: 'a second WELCOME', script: sends([2, 77, { roles: {} }]), ...REPLACED },
  { name: 'a late CHALLENGE', script: sends([4, 'ticket', {}]), ...REPLACED },
  { name: 'a text for a request id', script: sends([50, 'x', {}]), ...REPLACED },
  { name: 'a list for details', script: sends([50, 1, []]), ...REPLACED },
  { name: 'a RESULT without details', script: sends([50, 1]), ...REPLACED },
  { name: 'an ERROR without a URI', script: sends([8, 48, 1, {}]), ...REPLACED },
  { name: 'an ERROR with a number for a URI', script: sends([8, 48, 1, {}, 7]), ...REPLACED },
  { name: 'a response to a call never made', script: sends([50, 999, {}]), ...REPLACED },
  { name: 'an error of a call never made', script: sends([8, 48, 999, {}, 'a.b']), ...REPLACED },
  { name: 'an error of no request', script: sends([8, 7, 1, {}, 'a.b']), ...REPLACED },
  { name: 'a subscription never asked for', script: sends([33, 1, 5]), ...REPLACED },
  { name: 'ABORT', script: sends([3, {}, 'wamp.error.protocol_violation']), ...REPLACED },
  {
    name: 'GOODBYE of a realm that is closed',
    script: sends([6, { message: 'closed' }, 'wamp.close.close_realm']),
    ...REPLACED,
  },
  { name: 'binary on a session of text', script: () => [binary(0x93, 50, 1, 0x80)], ...REPLACED },
  {
    name: '17 MiB',
    script: (id) => [text(`[50,${id},{},["${'x'.repeat(17 << 20)}"]]`)],
    ...UNREADABLE,
  },
  {
    name: 'nesting of 2000 in the arguments',
    script: (id) => [text(`[50,${id},{},[${deep(2000)}]]`)],
    ...UNREADABLE,
  },
  {
    name: 'nesting of 100,000, in the details',
    script: (id) => [text(`[50,${id},{"a":${deep(100_000)}},[]]`)],
    ...UNREADABLE,
  },
  {
    name: 'arguments that are no list',
    script: (id, codec) => [codec.frame([50, id, {}, { a: 1 }])],
    ...UNREADABLE,
  },
  {
    name: 'an EVENT of a subscription never made, and an INVOCATION of no registration',
    script: (id, codec) => [
      codec.frame([36, 999, 1, {}]),
      codec.frame([68, 5, 999, {}]),
      codec.frame([50, id, {}, ['right']]),
    ],
    response: RIGHT,
    isReplaced: false,
  },
  {
    name: 'a key __proto__ in the details',
    script: (id) => [text(`[50,${id},{"__proto__":{"progress":true}},["right"]]`)],
    response: RIGHT,
    isReplaced: false,
  },
  {
    name: 'the same RESULT twice',
    script: (id, codec) => [
      codec.frame([50, id, {}, ['right']]),
      codec.frame([50, id, {}, ['wrong']]),
    ],
    response: RIGHT,
    isReplaced: false,
  },
]

const PROTO = Buffer.from([0x81, 0xa9, ...Buffer.from('__proto__'), 0x81, 0xa1, 0x61, 1])

const writtenBy = (serializer: SerializerName, all: readonly Garbage[]): readonly Garbage[] =>
  all.map((garbage) => ({ ...garbage, serializer }))

const MSGPACK_GARBAGE = writtenBy('msgpack', [
  { name: 'truncated', script: () => [binary(0x94, 50)], ...REPLACED },
  { name: 'a byte that means nothing', script: () => [binary(0xc1)], ...REPLACED },
  { name: 'a length that does not come', script: () => [binary(0xdd, 'zzzz')], ...REPLACED },
  { name: 'text on a session of bytes', script: () => [text('[50,1,{}]')], ...REPLACED },
  {
    name: 'bytes behind the message',
    script: (id) => [binary(0x93, 50, id, 0x80, 1)],
    ...UNREADABLE,
  },
  {
    name: 'a key __proto__ in the arguments',
    script: (id) => [binary(0x94, 50, id, 0x80, 0x91, PROTO)],
    response: RIGHT,
    isReplaced: false,
  },
  {
    name: 'nesting of 2000 in the arguments',
    script: (id) => [binary(0x94, 50, id, 0x80, Buffer.alloc(2000, 0x91), 0x90)],
    ...UNREADABLE,
  },
  {
    name: 'an extension type in the arguments',
    script: (id) => [binary(0x94, 50, id, 0x80, 0x91, 0xd4, 5, 7)],
    ...UNREADABLE,
  },
])

const CBOR_GARBAGE = writtenBy('cbor', [
  { name: 'truncated', script: () => [binary(0x84, 0x18, 50)], ...REPLACED },
  { name: 'a break without a beginning', script: () => [binary(0xff)], ...REPLACED },
  { name: 'text on a session of bytes', script: () => [text('[50,1,{}]')], ...REPLACED },
  {
    name: 'nesting of 2000 in the arguments',
    script: (id) => [binary(0x84, 0x18, 50, id, 0xa0, Buffer.alloc(2000, 0x81), 0x80)],
    ...UNREADABLE,
  },
  {
    name: 'a key __proto__ in the arguments',
    script: (id) => [binary(0x84, 0x18, 50, id, 0xa0, 0x81, 0xa1, 0x69, '__proto__', 0xa0)],
    response: RIGHT,
    isReplaced: false,
  },
])

export const GARBAGE: readonly Garbage[] = [...JSON_GARBAGE, ...MSGPACK_GARBAGE, ...CBOR_GARBAGE]
