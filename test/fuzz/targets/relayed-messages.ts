// The first bytes of a relayed client's message are read: what is taken for its type and its realm is what a reader of
// the whole message finds, however much of it has come.

import { decodeMulti } from '@msgpack/msgpack'
import { decodeFirst } from 'cborg'
import type { SerializerName, WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import { type MessageHead, readMessageHead } from '../../../dataplane/wamp/relay/message-head.ts'
import { SERIALIZERS } from '../../../dataplane/wamp/transport/serializers/by-name.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'

const MESSAGES: readonly WampMessage[] = [
  [1, 'com.acme', { roles: { caller: {} } }],
  [1, 'com."\\é', {}],
  [5, 'signature', {}],
  [48, 2 ** 40, {}, 'com.proc', [1]],
  [300, null],
]

/** More than a message head has. */
const MOST_BYTES = 200

const checkWith =
  (format: SerializerName) =>
  (input: Buffer): string => {
    const bytes = input.subarray(0, MOST_BYTES)
    const head = readMessageHead(format, bytes)
    checkPrefixes(format, bytes, head)
    const message = decoded(format, bytes)
    if (message !== undefined) checkAgainst(message, head)
    return `${head.kind} ${message === undefined ? '' : 'decoded'}`
  }

/** Once it is decided, more bytes change nothing. */
const checkPrefixes = (format: SerializerName, bytes: Buffer, head: MessageHead): void => {
  for (let length = 0; length < bytes.length; length++) {
    const early = readMessageHead(format, bytes.subarray(0, length))
    if (early.kind !== 'partial' && JSON.stringify(early) !== JSON.stringify(head))
      throw new Error(
        `after ${length} bytes ${JSON.stringify(early)}, then ${JSON.stringify(head)}`,
      )
  }
}

const checkAgainst = ([type, realm]: readonly unknown[], head: MessageHead): void => {
  if (head.kind === 'unreadable') return
  if (head.kind === 'partial') throw new Error('a whole message is partial')
  if (head.kind === 'message' && head.type !== Number(type))
    throw new Error(`type ${head.type} of ${String(type)}`)
  if (head.kind === 'hello' && !(Number(type) === 1 && head.realmUri === realm))
    throw new Error(`realm ${head.realmUri} of ${String(realm)}`)
}

/** The first list in the bytes, as a lenient reader has it. */
const decoded = (format: SerializerName, bytes: Buffer): readonly unknown[] | undefined => {
  try {
    const value = READERS[format](bytes)
    return Array.isArray(value) ? (value as readonly unknown[]) : undefined
  } catch {
    return undefined
  }
}

const READERS: Readonly<Record<SerializerName, (bytes: Buffer) => unknown>> = {
  json: (bytes) => JSON.parse(bytes.toString()) as unknown,
  msgpack: (bytes) => decodeMulti(bytes).next().value,
  cbor: (bytes) => (decodeFirst(bytes, { tags: {} }) as readonly unknown[])[0],
}

const TOKENS: Readonly<Record<SerializerName, readonly string[]>> = {
  json: [
    '[',
    ' ',
    '1',
    ',',
    '"',
    '\\',
    '\\u0063',
    '0',
    '.',
    'e',
    '\ufeff',
    '\x18',
    '\x1e',
    'com.acme',
  ],
  msgpack: [
    '\x93',
    '\xdc\0\x02',
    '\xcc\x01',
    '\xd0\x01',
    '\xcf\0\0\0\0\0\0\0\x01',
    '\xa8',
    '\xd9\x08',
    '\xc4\x08',
  ],
  cbor: [
    '\x83',
    '\x9f',
    '\xff',
    '\x18\x01',
    '\x1b\0\0\0\0\0\0\0\x01',
    '\x68',
    '\x78\x08',
    '\x7f',
    '\xd9\xd9\xf7',
  ],
}

export const relayedMessages: readonly FuzzTarget[] = (['json', 'msgpack', 'cbor'] as const).map(
  (format) => ({
    name: `relayed-messages-${format}`,
    seeds: MESSAGES.map((message) => Buffer.from(SERIALIZERS[format].encode(message) as string)),
    mutate: (input, random, pool) => mutateBytes(input, { random, pool, tokens: TOKENS[format] }),
    open: () => ({ check: checkWith(format) }),
  }),
)
