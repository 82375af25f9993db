// How much a router carries: the size of one message, and many messages at once.

import {
  call,
  callMessage,
  type ReplyPlan,
  outcomeOf,
  register,
} from '../../../support/wamp-peer.ts'
import { ABLE_CALLER, type CaseContext, type ContractCase, reactionTo } from '../contract-case.ts'

const MIB = 1 << 20
const DROPPED = 'session dropped'

export const SIZE_CASES: readonly ContractCase[] = [
  {
    name: '5 MiB there and back by WebSocket',
    same: { args: [5 * MIB] },
    run: (context) => sized(context, 'ws', 5),
  },
  {
    name: '5 MiB there and back by RawSocket',
    same: { args: [5 * MIB] },
    run: (context) => sized(context, 'rawsocket', 5),
  },
  {
    name: '17 MiB by WebSocket',
    each: { embedded: DROPPED, nexus: { args: [17 * MIB] }, crossbar: DROPPED },
    run: async ({ router, open, uri }) => {
      const peer = await open({ url: router.ws, roles: ABLE_CALLER })
      await register(peer, uri, ({ args: [text = ''] }) => ({ args: [lengthOf(text)] }))
      return reactionTo(peer, callMessage(peer, uri, { args: ['x'.repeat(17 * MIB)] }), {
        behind: uri,
      })
    },
  },
  {
    name: '64 calls at once are all answered',
    same: 64,
    run: async ({ open, callee, uri }) => {
      const caller = await open()
      await register(callee, uri, ({ args }) => ({ args }))
      const calls = Array.from({ length: 64 }, (_, n) => callMessage(caller, uri, { args: [n] }))
      for (const message of calls) caller.send(message)
      const responses = await Promise.all(calls.map((message) => caller.responseTo(message)))
      return responses.filter((response, n) => isSame(outcomeOf(response), n)).length
    },
  },
]

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : -1)

const isSame = ({ args }: ReplyPlan, n: number): boolean => JSON.stringify(args) === `[${n}]`

const sized = async (
  { router, open, uri }: CaseContext,
  transport: 'ws' | 'rawsocket',
  mebibytes: number,
): Promise<ReplyPlan> => {
  const url = router[transport]
  const callee = await open({ url })
  const caller = await open({ url })
  await register(callee, uri, ({ args }) => ({ args }))
  const { args } = await call(caller, uri, { args: ['x'.repeat(mebibytes * MIB)] })
  return { args: Array.isArray(args) ? args.map(lengthOf) : [] }
}
