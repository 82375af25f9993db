// What a client may get wrong, and what it costs: an ERROR, no response at all, or the session. The gateway
// checks before it sends because of this table.

import type { Value } from '../../../../language/expression/value.ts'
import { MESSAGE } from '../../../../dataplane/wamp/protocol/messages.ts'
import { register } from '../../../support/wamp-peer.ts'
import { type CaseContext, type ContractCase, errorOf, reactionTo } from '../contract-case.ts'

const DROPPED = 'session dropped'
const SILENT = 'not answered'
const INVALID_URI = 'wamp.error.invalid_uri'
const NO_SUCH_PROCEDURE = 'wamp.error.no_such_procedure'
const VIOLATION = { abort: 'wamp.error.protocol_violation' }
const OK = { args: ['ok'] }
const NEVER_SENT = [MESSAGE.call, 0]

export const HOSTILE_CASES: readonly ContractCase[] = [
  ...['', 'a..b', 'a b', 'a#b'].map((uri): ContractCase => ({
    name: `CALL of ${JSON.stringify(uri)}`,
    each: { embedded: NO_SUCH_PROCEDURE, nexus: NO_SUCH_PROCEDURE, crossbar: DROPPED },
    run: (context) => reaction(context, [MESSAGE.call, 1, {}, uri]),
  })),
  {
    name: 'PUBLISH to "a b"',
    each: { embedded: INVALID_URI, nexus: INVALID_URI, crossbar: DROPPED },
    run: (context) => reaction(context, [MESSAGE.publish, 1, { acknowledge: true }, 'a b']),
  },
  {
    name: 'SUBSCRIBE to "a b"',
    each: { embedded: INVALID_URI, nexus: INVALID_URI, crossbar: DROPPED },
    run: (context) => reaction(context, [MESSAGE.subscribe, 1, {}, 'a b']),
  },
  {
    name: 'REGISTER of "a b"',
    each: { embedded: INVALID_URI, nexus: INVALID_URI, crossbar: DROPPED },
    run: (context) => reaction(context, [MESSAGE.register, 1, {}, 'a b']),
  },
  {
    name: 'REGISTER of "wamp.x"',
    same: INVALID_URI,
    run: (context) => reaction(context, [MESSAGE.register, 1, {}, 'wamp.x']),
  },
  ...(
    [
      ['timeout', 'x'],
      // nexus takes what is before the point, as milliseconds: a call of 1.5 may be over before its response.
      ['timeout', 60_000.5],
      ['timeout', -1],
      ['receive_progress', 'x'],
    ] satisfies [string, Value][]
  ).map(([option, value]): ContractCase => ({
    name: `CALL with ${option} ${JSON.stringify(value)}`,
    each: { embedded: OK, nexus: OK, crossbar: DROPPED },
    run: (context) => callWith(context, { [option]: value }),
  })),
  {
    name: 'CALL with disclose_me "x"',
    same: OK,
    run: (context) => callWith(context, { disclose_me: 'x' }),
  },
  ...(
    [
      ['args a text', (uri) => [MESSAGE.call, 1, {}, uri, 'args']],
      ['kwargs a list', (uri) => [MESSAGE.call, 1, {}, uri, [], []]],
      ['options a list', (uri) => [MESSAGE.call, 1, [], uri]],
    ] satisfies [string, (uri: string) => Value[]][]
  ).map(([name, message]): ContractCase => ({
    name: `CALL with ${name}`,
    each: { embedded: VIOLATION, nexus: SILENT, crossbar: DROPPED },
    run: (context) => reaction(context, message(context.uri)),
  })),
  {
    name: 'CALL with a URI that is a number',
    each: { embedded: VIOLATION, nexus: NO_SUCH_PROCEDURE, crossbar: DROPPED },
    run: (context) => reaction(context, [MESSAGE.call, 1, {}, 7]),
  },
  {
    name: 'a message of a type that does not exist',
    each: { embedded: VIOLATION, nexus: SILENT, crossbar: DROPPED },
    run: (context) => reaction(context, [99, 1, {}]),
  },
  {
    name: 'a message that is no JSON',
    each: { embedded: VIOLATION, nexus: SILENT, crossbar: DROPPED },
    run: async ({ open }) => {
      const peer = await open()
      const sendIt = (): void => {
        peer.sendBytes(Buffer.from('{nonsense'))
      }
      return reactionTo(peer, NEVER_SENT, { sendIt })
    },
  },
  {
    name: 'a response to an invocation that never was',
    same: NO_SUCH_PROCEDURE,
    run: async ({ open, uri }) => {
      const peer = await open()
      peer.send([MESSAGE.yield, 4711, {}, ['nobody asked']])
      peer.send([MESSAGE.error, MESSAGE.invocation, 4712, {}, 'com.example.error.x'])
      return errorOf(await reactionTo(peer, [MESSAGE.call, peer.nextId(), {}, uri]))
    },
  },
]

const reaction = async (
  { open }: CaseContext,
  message: readonly Value[],
  behind?: string,
): Promise<unknown> => {
  const peer = await open()
  peer.nextId()
  return errorOf(await reactionTo(peer, message, { ...(behind !== undefined && { behind }) }))
}

const callWith = async (
  context: CaseContext,
  options: Readonly<Record<string, Value>>,
): Promise<unknown> => {
  await register(context.callee, context.uri, () => OK)
  return reaction(context, [MESSAGE.call, 1, options, context.uri], context.uri)
}
