// Bodies of requests and responses go through the codec: it refuses by its own error or gives a value that stands for no
// more than its bytes, that a second reader agrees with, and that comes back from what is written of it.

import { decode as decodeByReference } from '@msgpack/msgpack'
import { decodeBody } from '../../../dataplane/codec/codec.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import { createUnboundedMemory } from '../../../dataplane/memory/memory-budget.ts'
import { writeMsgpack } from '../../../dataplane/codec/write-msgpack.ts'
import { toJson } from '../../../language/expression/json.ts'
import type { Value } from '../../../language/expression/value.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes, mutateJsonText } from '../mutate.ts'
import { expectBounded, expectSame } from '../values.ts'
import { VALUES } from './sample-values.ts'

const readBody = (type: string, bytes: Buffer): Value =>
  decodeBody(type, bytes, createUnboundedMemory().open())

const decoded = (
  type: string,
  input: Buffer,
): { readonly value: Value } | { readonly reason: string } => {
  try {
    return { value: readBody(type, input) }
  } catch (error) {
    if (error instanceof GatewayError) return { reason: error.message }
    throw error
  }
}

const MSGPACK = 'application/msgpack'

/** First bytes, lengths, and both of nothing: 0xc1 is never used. */
const MSGPACK_TOKENS = [
  '\x80',
  '\x8f',
  '\x90',
  '\x9f',
  '\xa0',
  '\xbf',
  '\xc0',
  '\xc1',
  '\xc2',
  '\xc4\x01',
  '\xc5\xff\xff',
  '\xc6\xff\xff\xff\xff',
  '\xc7\x01\x01x',
  '\xca\x7f\xc0\0\0',
  '\xcb\x7f\xf8\0\0\0\0\0\0',
  '\xcc\xff',
  '\xcf\xff\xff\xff\xff\xff\xff\xff\xff',
  '\xd3\x80\0\0\0\0\0\0\0',
  '\xd4\x01x',
  '\xd9\xff',
  '\xda\0\x01',
  '\xdb\0\0\0\x01x',
  '\xdc\xff\xff',
  '\xdd\0\0\0\x01',
  '\xde\0\x01',
  '\xdf\xff\xff\xff\xff',
  '\xe0',
  '\xa9__proto__',
  '\xa3\xef\xbf\xbd',
  '\xa2\xc0\xaf',
  '\x91'.repeat(600),
  '\x81\xa1a'.repeat(600),
]

const checkMsgpack = (input: Buffer): string => {
  const read = decoded(MSGPACK, input)
  if ('reason' in read) return read.reason
  const { value } = read
  expectBounded(value, input.length)
  agreeWithReference(input, value)
  const written = writeMsgpack(value)
  expectSame(readBody(MSGPACK, written), value, 'what is written')
  if (!writeMsgpack(readBody(MSGPACK, written)).equals(written))
    throw new Error('what is read is written in other bytes')
  return kindOf(value)
}

/** The reference takes no `__proto__` as a key, and no other way of it is wanted here. */
const agreeWithReference = (input: Buffer, value: Value): void => {
  let reference: unknown
  try {
    reference = decodeByReference(input)
  } catch (error) {
    if (String(error).includes('__proto__')) return
    throw error
  }
  expectSame(reference, value, 'what @msgpack/msgpack reads')
}

const kindOf = (value: Value): string =>
  value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value

export const msgpackBodies: FuzzTarget = {
  name: 'msgpack-bodies',
  seeds: VALUES.map(writeMsgpack),
  mutate: (input, random, pool) => mutateBytes(input, { random, pool, tokens: MSGPACK_TOKENS }),
  open: () => ({ check: checkMsgpack }),
}

const JSON_TOKENS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '\\uDFFF',
  '-',
  '1e400',
  '0x1',
  '01',
  '-0',
  '1e-400',
  'null',
  'tru',
  'NaN',
  '"__proto__":',
  '"a":1,"a":2',
  '\xef\xbb\xbf',
  '\xff',
  '\xc3\xa9',
  '\u2028',
  ' \t\r\n',
  '//',
  '/*',
  '['.repeat(600),
  '{"a":'.repeat(600),
  ']'.repeat(600),
]

const checkJson = (input: Buffer): string => {
  const read = decoded('application/json', input)
  if ('reason' in read) return read.reason
  const { value } = read
  expectBounded(value, input.length)
  const text = toJson(value)
  if (text !== JSON.stringify(value)) throw new Error('what is read is written as other text')
  expectSame(readBody('application/json', Buffer.from(text)), JSON.parse(text), 'what is written')
  return kindOf(value)
}

export const jsonBodies: FuzzTarget = {
  name: 'json-bodies',
  seeds: VALUES.map((value) => Buffer.from(JSON.stringify(value))),
  mutate: (input, random, pool) =>
    mutateJsonText(input, { random, pool, tokens: JSON_TOKENS, keys: ['a', 'b'], leaves: [] }),
  open: () => ({ check: checkJson }),
}

const FORM_TOKENS = [
  '&',
  '=',
  '+',
  '%',
  '%00',
  '%zz',
  '%c3%28',
  '__proto__',
  '[]',
  ';',
  '\xff',
  '&&',
]

const checkForm = (input: Buffer): string => {
  const read = decoded('application/x-www-form-urlencoded', input)
  if ('reason' in read) return read.reason
  // A name of one letter alone is a name and a value, and there is the map.
  expectBounded(read.value, 3 * input.length + 1)
  const pairs = Object.entries(read.value as Record<string, string>)
  const written = Buffer.from(new URLSearchParams(pairs).toString())
  expectSame(readBody('application/x-www-form-urlencoded', written), read.value, 'what is written')
  return `form ${Math.min(3, pairs.length)}`
}

export const formBodies: FuzzTarget = {
  name: 'form-bodies',
  seeds: ['a=1&b=2', 'a=%C3%A9&a=+x+&empty=&alone', ''].map((text) => Buffer.from(text)),
  mutate: (input, random, pool) => mutateBytes(input, { random, pool, tokens: FORM_TOKENS }),
  open: () => ({ check: checkForm }),
}
