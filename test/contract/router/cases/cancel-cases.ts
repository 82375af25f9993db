// Calls that somebody gives up: the caller by CANCEL or by leaving, the router by time. What the callee says
// afterwards must do no harm.

import type { ValueMap } from '../../../../language/expression/value.ts'
import { MESSAGE, type WampMessage } from '../../../../dataplane/wamp/protocol/messages.ts'
import { eventually } from '../../../support/eventually.ts'
import {
  call,
  callMessage,
  idOf,
  outcomeOf,
  type ReplyPlan,
  type PeerInvocation,
  register,
  unregister,
} from '../../../support/wamp-peer.ts'
import {
  ABLE_CALLEE,
  responseSoFar,
  type CaseContext,
  type ContractCase,
} from '../contract-case.ts'

/** Announces nothing, as autobahn-js. */
const PLAIN_CALLEE: ValueMap = { callee: { features: {} } }
const CANCELED: ReplyPlan = { error: 'wamp.error.canceled' }

export const CANCEL_CASES: readonly ContractCase[] = [
  ...['skip', 'kill', 'killnowait'].map((mode): ContractCase => {
    const answered = { interrupt: undefined, response: CANCELED, late: 'dropped', calleeKept: true }
    return {
      name: `${mode}, callee without call_canceling`,
      each: {
        embedded: answered,
        nexus: answered,
        // No response, ever: the canceller must settle the call itself.
        crossbar: { ...answered, response: 'not answered' },
      },
      run: (context) => cancelled(context, mode, PLAIN_CALLEE),
    }
  }),
  {
    name: 'killnowait, callee with call_canceling: INTERRUPT, ERROR at once',
    same: { interrupt: 'killnowait', response: CANCELED, late: 'dropped', calleeKept: true },
    run: (context) => cancelled(context, 'killnowait', ABLE_CALLEE),
  },
  {
    name: 'killnowait, and the callee answers late with an ERROR',
    same: { interrupt: 'killnowait', response: CANCELED, late: 'dropped', calleeKept: true },
    run: (context) =>
      cancelled(context, 'killnowait', ABLE_CALLEE, (requestId) => [
        MESSAGE.error,
        MESSAGE.invocation,
        requestId,
        {},
        'com.example.error.late',
      ]),
  },
  {
    name: 'kill, callee with call_canceling: INTERRUPT, ERROR when the callee answers',
    same: { interrupt: 'kill', before: 'not answered', after: CANCELED },
    run: async ({ caller, open, uri }) => {
      const callee = await open({ roles: ABLE_CALLEE })
      const [request, invocation] = await callInFlight({ caller, callee, uri })
      caller.send([MESSAGE.cancel, Number(request[1]), { mode: 'kill' }])
      const [, , options] = await callee.next(([type]) => type === MESSAGE.interrupt)
      const before = await responseSoFar(caller, request)
      callee.send([MESSAGE.error, MESSAGE.invocation, invocation.requestId, {}, CANCELED_URI])
      const after = outcomeOf(await caller.responseTo(request))
      return { interrupt: (options as ValueMap)['mode'], before, after }
    },
  },
  {
    name: 'CANCEL of a call that has been answered is ignored',
    same: { args: ['next'] },
    run: async ({ caller, callee, uri }) => {
      await register(callee, uri, ({ args }) => ({ args }))
      const request = callMessage(caller, uri)
      await caller.ask(request)
      caller.send([MESSAGE.cancel, Number(request[1]), { mode: 'killnowait' }])
      return call(caller, uri, { args: ['next'] })
    },
  },
  {
    name: 'the caller leaves during a call: the callee is kept, its response dropped',
    same: { args: ['next'] },
    run: async ({ caller, callee, open, uri }) => {
      const leaving = await open()
      const [, invocation] = await callInFlight({ caller: leaving, callee, uri })
      leaving.close()
      await leaving.endsWithin(2000)
      callee.send([MESSAGE.yield, invocation.requestId, {}, ['late']])
      await register(callee, `${uri}.next`, () => ({ args: ['next'] }))
      return call(caller, `${uri}.next`)
    },
  },
  {
    name: 'the unit of options.timeout, and what it ends with',
    each: {
      embedded: { unit: 'ms', end: { error: 'wamp.error.timeout', args: ['call timeout'] } },
      nexus: { unit: 'ms', end: { error: 'wamp.error.timeout', args: ['call timeout'] } },
      crossbar: { unit: 's', end: { error: 'wamp.error.canceled', args: ['timeout reached'] } },
    },
    run: async ({ caller, open, uri }) => {
      const callee = await open({ roles: PLAIN_CALLEE })
      await register(callee, uri, () => undefined)
      const twenty = callMessage(caller, uri, { options: { timeout: 20 } })
      caller.send(twenty)
      const end = await call(caller, uri, { options: { timeout: 2 } })
      // 20 s, of which Crossbar rounds off up to one, are far beyond it. 20 ms are over, however slow the machine is:
      // the router has looked at its clock before it answers something else.
      const isOver = async (): Promise<WampMessage> => {
        await call(caller, `${uri}.nobody`)
        return await caller.responseTo(twenty, 0)
      }
      const unit = await eventually(isOver, { looks: 20 }).then(
        () => 'ms',
        () => 's',
      )
      return { unit, end }
    },
  },
]

const CANCELED_URI = 'wamp.error.canceled'

/** A call that its callee has been asked for and has not answered. */
const callInFlight = async ({
  caller,
  callee,
  uri,
}: Pick<CaseContext, 'caller' | 'callee' | 'uri'>): Promise<[WampMessage, PeerInvocation]> => {
  const asked = Promise.withResolvers<PeerInvocation>()
  const id = idOf(
    await register(callee, uri, (invocation) => {
      asked.resolve(invocation)
      return undefined
    }),
  )
  const request = callMessage(caller, uri)
  caller.send(request)
  const invocation = await asked.promise
  await unregister(callee, id)
  return [request, invocation]
}

const cancelled = async (
  { caller, open, uri }: CaseContext,
  mode: string,
  roles: ValueMap,
  lateResponse = (requestId: number): WampMessage => [MESSAGE.yield, requestId, {}, ['late']],
): Promise<unknown> => {
  const callee = await open({ roles })
  const [request, invocation] = await callInFlight({ caller, callee, uri })
  caller.send([MESSAGE.cancel, Number(request[1]), { mode }])
  const response = await responseSoFar(caller, request)
  callee.send(lateResponse(invocation.requestId))
  // Once it can be called again, the router has dealt with its response.
  await register(callee, `${uri}.next`, () => ({ args: ['next'] }))
  const late = await responseSoFar(caller, request, `${uri}.next`)
  const interrupt = callee.unread.find(([type]) => type === MESSAGE.interrupt)?.[2] as
    ValueMap | undefined
  return {
    interrupt: interrupt?.['mode'],
    response,
    late: late === 'not answered' ? 'dropped' : late,
    calleeKept: !callee.hasEnded,
  }
}
