// Calls that end as they should: results, errors, details, progress, and callees that go.

import { MESSAGE } from '../../../../dataplane/wamp/protocol/messages.ts'
import {
  call,
  callMessage,
  outcomeOf,
  type PeerInvocation,
  register,
} from '../../../support/wamp-peer.ts'
import { ABLE_CALLEE, type ContractCase, errorOf } from '../contract-case.ts'

export const CALL_CASES: readonly ContractCase[] = [
  {
    name: 'args and kwargs arrive whole, both ways',
    same: { args: [1, 'é😀', null, [true, 1.5]], kwargs: { a: { b: [] }, constructor: 1, '': 2 } },
    run: async ({ caller, callee, uri }) => {
      await register(callee, uri, ({ args, kwargs }) => ({ args, kwargs }))
      const kwargs = { a: { b: [] }, constructor: 1, '': 2 }
      return call(caller, uri, { args: [1, 'é😀', null, [true, 1.5]], kwargs })
    },
  },
  {
    name: 'a result may be empty',
    same: {},
    run: async ({ caller, callee, uri }) => {
      await register(callee, uri, () => ({}))
      return call(caller, uri)
    },
  },
  {
    name: 'RESULT.Details',
    each: { embedded: [], nexus: [], crossbar: ['callee', 'callee_authid', 'callee_authrole'] },
    run: async ({ caller, callee, uri }) => {
      await register(callee, uri, () => ({}))
      const [, , details] = await caller.ask(callMessage(caller, uri))
      return Object.keys(details as object).sort()
    },
  },
  {
    name: "the callee's error arrives whole",
    same: { error: 'com.example.error.out_of_stock', args: ['ZPK1972', 3], kwargs: { left: 0 } },
    run: async ({ caller, callee, uri }) => {
      const error = 'com.example.error.out_of_stock'
      await register(callee, uri, () => ({ error, args: ['ZPK1972', 3], kwargs: { left: 0 } }))
      return call(caller, uri)
    },
  },
  {
    name: 'unknown procedure',
    same: 'wamp.error.no_such_procedure',
    run: async ({ caller, uri }) => errorOf(await call(caller, uri)),
  },
  {
    name: 'forbidden procedure',
    same: 'wamp.error.not_authorized',
    run: async ({ caller }) => errorOf(await call(caller, 'com.example.forbidden.x')),
  },
  {
    name: 'a session calls its own procedure',
    same: { args: ['own'] },
    run: async ({ callee, uri }) => {
      await register(callee, uri, () => ({ args: ['own'] }))
      return call(callee, uri)
    },
  },
  {
    name: 'the callee learns of the caller with disclose_me',
    same: { known: true, isCaller: true },
    run: async ({ caller, callee, uri }) => {
      const { details } = await invocationOf({ caller, callee, uri }, { disclose_me: true })
      return {
        known: 'caller_authid' in details && 'caller_authrole' in details,
        isCaller: details['caller'] === caller.sessionId,
      }
    },
  },
  {
    name: 'the callee learns of the caller without disclose_me',
    each: { embedded: false, nexus: false, crossbar: true },
    run: async (context) => 'caller' in (await invocationOf(context, {})).details,
  },
  {
    name: 'unknown options are ignored',
    same: { args: ['ok'] },
    run: async ({ caller, callee, uri }) => {
      await register(callee, uri, () => ({ args: ['ok'] }))
      return call(caller, uri, { options: { nonsense: 1, disclose_me: false } })
    },
  },
  {
    name: 'the callee goes during a call: the call fails, so does the next',
    each: {
      embedded: [
        { error: 'wamp.error.canceled', args: ['callee gone'] },
        'wamp.error.no_such_procedure',
      ],
      nexus: [
        { error: 'wamp.error.canceled', args: ['callee gone'] },
        'wamp.error.no_such_procedure',
      ],
      crossbar: [
        { error: 'wamp.error.canceled', args: ['callee disconnected from in-flight request'] },
        'wamp.error.no_such_procedure',
      ],
    },
    run: async ({ caller, open, uri }) => {
      const dying = await open()
      await register(dying, uri, () => {
        dying.close()
        return undefined
      })
      return [await call(caller, uri), errorOf(await call(caller, uri))]
    },
  },
  {
    name: 'progressive results come in order before the result, from a callee with call_canceling',
    same: { asked: true, progress: [[1], [2]], end: { args: [3] } },
    run: async (context) => {
      const callee = await context.open({ roles: ABLE_CALLEE })
      return progressOf({ ...context, callee })
    },
  },
  {
    name: 'progressive results from a callee without call_canceling',
    each: {
      embedded: { asked: true, progress: [[1], [2]], end: { args: [3] } },
      nexus: { asked: false, progress: [], end: { args: [3] } },
      crossbar: { asked: true, progress: [[1], [2]], end: { args: [3] } },
    },
    run: async (context) => {
      const features = { progressive_call_results: true }
      const callee = await context.open({ roles: { callee: { features } } })
      return progressOf({ ...context, callee })
    },
  },
]

type Peers = Pick<Parameters<ContractCase['run']>[0], 'caller' | 'callee' | 'uri'>

const invocationOf = async (
  { caller, callee, uri }: Peers,
  options: Readonly<Record<string, boolean>>,
): Promise<PeerInvocation> => {
  const seen: PeerInvocation[] = []
  await register(callee, uri, (invocation) => {
    seen.push(invocation)
    return {}
  })
  await call(caller, uri, { options })
  const [invocation] = seen
  if (invocation === undefined) throw new Error('the callee was not asked')
  return invocation
}

const progressOf = async ({ caller, callee, uri }: Peers): Promise<unknown> => {
  let asked = false
  await register(callee, uri, (invocation) => {
    asked = invocation.details['receive_progress'] === true
    if (asked) for (const n of [1, 2]) invocation.progress([n])
    return { args: [3] }
  })
  const message = callMessage(caller, uri, { options: { receive_progress: true } })
  const end = outcomeOf(await caller.ask(message))
  const progress = caller.unread.filter(
    ([type, id]) => type === MESSAGE.result && id === message[1],
  )
  return { asked, progress: progress.map(([, , , args]) => args), end }
}
