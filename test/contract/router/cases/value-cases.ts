// Which values a router carries unharmed from a caller to a callee and back, by serializer and transport, and
// what the others cost.

import { isDeepStrictEqual } from 'node:util'
import type { Value } from '../../../../language/expression/value.ts'
import type { SerializerName } from '../../../../dataplane/wamp/protocol/messages.ts'
import type { RawPeer } from '../../../support/raw-wamp-peer.ts'
import { call, callMessage, idOf, register } from '../../../support/wamp-peer.ts'
import { ABLE_CALLER, type CaseContext, type ContractCase, reactionTo } from '../contract-case.ts'

const deep = (levels: number): Value => (levels === 0 ? 1 : [deep(levels - 1)])

const VALUES: Readonly<Record<string, Value>> = {
  'whole numbers': [0, -3, 255, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER],
  fractions: [1.5, -0.25, 1e-7],
  'text beyond the BMP': 'é😀',
  'U+0000 first': '\u0000abc',
  'U+0000 inside': 'a\u0000b',
  'empty key': { '': 1 },
  'reserved key': { constructor: 1 },
  'null in lists': [null, [null]],
  'nesting of 60': deep(60),
  'nesting of 900': deep(900),
}

const TEXT_ONLY: Readonly<Record<string, Value>> = { 'lone surrogate': '\ud800' }

const BINARY_ONLY: Readonly<Record<string, Value>> = {
  bytes: Buffer.of(0, 255, 128),
  'no bytes': Buffer.alloc(0),
}

type Expected = Readonly<Record<string, unknown>>

const VIOLATION = { abort: 'wamp.error.protocol_violation' }
const REFUSED = {
  error: 'wamp.error.invalid_payload',
  args: ['the callee cannot be sent these arguments'],
}

/** What is not listed comes back the same. */
const EXPECTED: Readonly<
  Record<SerializerName, Readonly<Record<'embedded' | 'nexus' | 'crossbar', Expected>>>
> = {
  json: {
    embedded: { 'U+0000 first': REFUSED, 'lone surrogate': REFUSED, 'nesting of 900': VIOLATION },
    nexus: { 'lone surrogate': 'not answered' },
    crossbar: { 'U+0000 first': 'session dropped', 'lone surrogate': 'not answered' },
  },
  msgpack: { embedded: { 'nesting of 900': VIOLATION }, nexus: {}, crossbar: {} },
  cbor: {
    embedded: { 'nesting of 900': VIOLATION },
    nexus: {},
    crossbar: { 'nesting of 900': 'session dropped' },
  },
}

export const VALUE_CASES: readonly ContractCase[] = [
  ...(['ws', 'rawsocket'] as const).flatMap((transport) =>
    (['json', 'msgpack', 'cbor'] as const).map((serializer): ContractCase => ({
      name: `${serializer} over ${transport}`,
      each: EXPECTED[serializer],
      run: (context) => changed(context, transport, serializer),
    })),
  ),
  {
    name: 'bytes from msgpack to JSON are base64, behind U+0000 as WAMP has it, or bare',
    each: {
      embedded: { args: ['\u0000AP+A'] },
      nexus: { args: ['AP+A'] },
      crossbar: { args: ['\u0000AP+A'] },
    },
    run: async ({ caller, open, uri }) => {
      const callee = await open({ serializer: 'msgpack', roles: { callee: {} } })
      idOf(await register(callee, uri, () => ({ args: [Buffer.of(0, 255, 128)] })))
      return call(caller, uri)
    },
  },
]

const changed = async (
  { router, open, uri }: CaseContext,
  transport: 'ws' | 'rawsocket',
  serializer: SerializerName,
): Promise<Expected> => {
  const join = () => open({ url: router[transport], serializer, roles: ABLE_CALLER })
  let pair: readonly [caller: RawPeer, callee: RawPeer] | undefined
  const differing: Record<string, unknown> = {}
  const values = { ...VALUES, ...(serializer === 'json' ? TEXT_ONLY : BINARY_ONLY) }
  for (const [index, [name, value]] of Object.entries(values).entries()) {
    const procedure = `${uri}.p${index}`
    pair = pair?.some((peer) => peer.hasEnded) === false ? pair : [await join(), await join()]
    const observed = await echoed(pair, procedure, value)
    if (!isEcho(observed, value)) differing[name] = observed
  }
  return differing
}

/** Without recursion in lists: 900 levels of it take all of the stack in code that is not optimised yet. */
const isEcho = (observed: unknown, value: Value): boolean => {
  if (!isDeepStrictEqual(Object.keys(observed ?? {}), ['args'])) return false
  const pairs: (readonly [unknown, unknown])[] = [[(observed as { args: unknown }).args, [value]]]
  for (const [left, right] of pairs) {
    if (Array.isArray(left) && Array.isArray(right) && left.length === right.length) {
      for (const [index, item] of left.entries()) pairs.push([item, right[index]])
    } else if (!isDeepStrictEqual(left, right)) return false
  }
  return true
}

const echoed = async (
  [caller, callee]: readonly [RawPeer, RawPeer],
  procedure: string,
  value: Value,
): Promise<unknown> => {
  idOf(await register(callee, procedure, ({ args }) => ({ args })))
  const observed = await reactionTo(caller, callMessage(caller, procedure, { args: [value] }), {
    behind: procedure,
  })
  return callee.hasEnded ? { callee: 'session dropped', caller: observed } : observed
}
