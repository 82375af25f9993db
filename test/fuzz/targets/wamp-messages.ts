// Messages of a WAMP router go through each serializer: it refuses by its own fault or gives a message that stands for
// no more than its bytes, that a second reader agrees with, and that comes back from what is written of it.

import { decode as decodeMsgpackByReference } from '@msgpack/msgpack'
import { decode as decodeCborByReference, type TagDecodeControl } from 'cborg'
import { SERIALIZERS } from '../../../dataplane/wamp/transport/serializers/by-name.ts'
import type { SerializerName, WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'
import { expectBounded, expectSame } from '../values.ts'
import { VALUES } from './sample-values.ts'
import { MessageError } from '../../../dataplane/wamp/protocol/message-error.ts'

const MESSAGES: readonly WampMessage[] = [
  [2, 9_007_199_254_740_991, { roles: { broker: {}, dealer: { features: { x: true } } } }],
  [8, 48, 7, {}, 'com.acme.error.x', [1, 'é'], { a: null }],
  [36, 1, 2, { topic: 'com.t' }, [Uint8Array.of(0, 255)], {}],
  ...VALUES.map((value): WampMessage => [50, 7, {}, [value]]),
]

const encoded = (name: SerializerName, message: WampMessage): Buffer =>
  Buffer.from(SERIALIZERS[name].encode(message))

const checkWith =
  (name: SerializerName) =>
  (input: Buffer): string => {
    const serializer = SERIALIZERS[name]
    let message: WampMessage
    try {
      message = serializer.decode(Buffer.from(input))
    } catch (error) {
      if (!(error instanceof MessageError && error.code === 'undecodable')) throw error
      checkHead(error, input)
      return `${error.message} ${error.head === undefined ? '' : 'with a head'}`
    }
    expectBounded(message, input.length)
    REFERENCES[name](input, message)
    return `${typeof message[1]} ${checkRoundTrip(name, message)}`
  }

/** What of a broken message is believed: a type and at least one element more. */
const checkHead = ({ head }: MessageError, input: Buffer): void => {
  if (head === undefined) return
  if (head.length < 2 || !Number.isInteger(head[0])) throw new Error('a head without a type')
  expectBounded(head, input.length + 1)
}

const checkRoundTrip = (name: SerializerName, message: WampMessage): string => {
  let written: Buffer
  try {
    written = encoded(name, message)
  } catch (error) {
    // Such as a lone surrogate, which JSON can bring, and no router is sent.
    if (error instanceof MessageError && error.code === 'unencodable') return error.message
    throw error
  }
  const again = SERIALIZERS[name].decode(Buffer.from(written))
  expectSame(again, message, 'what is written')
  if (!encoded(name, again).equals(written))
    throw new Error('what is read is written in other bytes')
  return 'written'
}

type Reference = (input: Buffer, message: WampMessage) => void

/** @throws what the reader by reference throws, but for what it does not know */
const agree = (read: () => unknown, unknownToIt: RegExp, message: WampMessage): void => {
  let reference: unknown
  try {
    reference = read()
  } catch (error) {
    if (unknownToIt.test(String(error))) return
    throw error
  }
  expectSame(reference, message, 'what the reference reads')
}

const bignum =
  (sign: 1 | -1) =>
  (decode: TagDecodeControl): number => {
    const digits = decode() as Uint8Array
    let number = 0
    for (const digit of digits) number = number * 256 + digit
    return sign === 1 ? number : -1 - number
  }

const REFERENCES: Readonly<Record<SerializerName, Reference>> = {
  msgpack: (input, message) => {
    agree(() => decodeMsgpackByReference(input), /__proto__/, message)
  },
  cbor: (input, message) => {
    const options = { coerceUndefinedToNull: true, tags: { 2: bignum(1), 3: bignum(-1) } }
    agree(() => decodeCborByReference(input, options), /indefinite length bytes/, message)
  },
  // The platform's parser is the reader itself; base64 is what differs.
  json: (input, message) => {
    if (!input.includes('\\u0000'))
      expectSame(JSON.parse(input.toString()), message, 'what JSON.parse reads')
  },
}

const TOKENS: Readonly<Record<SerializerName, readonly string[]>> = {
  json: [
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '\\',
    '"\\u0000"',
    '"\\u0000AQID"',
    '"\\u0000AQ=="',
    '\\ud800',
    'NaN',
    'Infinity',
    '1e400',
    '-0',
    '50',
    '9007199254740993',
    '\xef\xbf\xbd',
    '\xff',
    'null',
    '\0',
    '['.repeat(600),
    '{"a":'.repeat(600),
    '"__proto__":',
  ],
  msgpack: [
    '\x93',
    '\x9f',
    '\x80',
    '\x8f',
    '\xa1a',
    '\xc0',
    '\xc1',
    '\xc4\x01x',
    '\xc7\x01\x01x',
    '\xcf\xff\xff\xff\xff',
    '\xd3\x80\0\0\0\0\0\0\0',
    '\xdc\xff\xff',
    '\xdd\xff\xff\xff\xff',
    '\xde\0\x01',
    '\xdf\0\0\0\x01',
    '\xd9\xff',
    '\xa9__proto__',
    '\xa2\xc0\xaf',
    '\xcb\x7f\xf8\0\0\0\0\0\0',
    '\x91'.repeat(600),
    '\x32',
  ],
  cbor: [
    '\x80',
    '\x9f',
    '\xff',
    '\xa0',
    '\xbf',
    '\x60',
    '\x7f',
    '\x5f',
    '\x40',
    '\xc2\x41\x01',
    '\xc3\x41\x01',
    '\xc2\x49\x01\0\0\0\0\0\0\0\0',
    '\xc0',
    '\xd9\xd9\xf7',
    '\xf7',
    '\xf8\xff',
    '\xf9\x7c\0',
    '\xf9\xfe\0',
    '\xfa\x7f\x80\0\0',
    '\xfb\x7f\xf8\0\0\0\0\0\0',
    '\x1b\xff\xff\xff\xff\xff\xff\xff\xff',
    '\x3b\xff\xff\xff',
    '\x9b\xff\xff\xff\xff\xff\xff\xff\xff',
    '\xba\xff\xff\xff\xff',
    '\x5b\0\0\0\0\0\0\0\x01',
    '\x1c',
    '\x3f',
    '\x69__proto__',
    '\x62\xc0\xaf',
    '\x81'.repeat(600),
    '\x9f'.repeat(600),
    '\x18\x32',
    '\x7f\x61a\xff',
  ],
}

const targetOf = (name: SerializerName): FuzzTarget => ({
  name: `wamp-${name}`,
  seeds: MESSAGES.map((message) => encoded(name, message)),
  mutate: (input, random, pool) => mutateBytes(input, { random, pool, tokens: TOKENS[name] }),
  open: () => ({ check: checkWith(name) }),
})

export const wampMessages: readonly FuzzTarget[] = [
  targetOf('json'),
  targetOf('msgpack'),
  targetOf('cbor'),
]
