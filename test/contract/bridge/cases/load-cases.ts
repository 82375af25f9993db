// Many calls at once: each is settled exactly once, whatever comes of it.

import { register } from '../../../support/wamp-peer.ts'
import { errorOf } from '../../router/contract-case.ts'
import type { BridgeCase, BridgeContext } from '../bridge-case.ts'
import { roundTrip, startCall } from '../bridge-rig.ts'

const MANY = 10_000

export const LOAD_CASES: readonly BridgeCase[] = [
  {
    name: `${MANY} calls in flight are each answered once, with their own response`,
    same: { right: MANY, once: MANY },
    run: async ({ rig, open, uri }) => {
      const callee = await open()
      await register(callee, uri, ({ args }) => ({ args }))
      const calls = Array.from({ length: MANY }, (_, n) =>
        startCall(rig.client, uri, { args: [n] }),
      )
      const responses = await Promise.all(calls.map(({ settled }) => settled))
      const right = responses.filter(({ args }, n) => Array.isArray(args) && args[0] === n).length
      return { right, once: calls.filter(({ times }) => times() === 1).length }
    },
  },
  {
    name: `${MANY} calls in flight when the callee goes: each fails once`,
    same: { errors: ['wamp.error.canceled'], once: MANY },
    run: async (context) =>
      inFlight(context, (callee) => {
        callee.close()
      }),
  },
]

/** Calls that stay unanswered until their callee is dealt with. */
const inFlight = async (
  { bridge, open, uri }: BridgeContext,
  deal: (callee: Awaited<ReturnType<BridgeContext['open']>>) => void,
): Promise<unknown> => {
  const rig = await bridge()
  const callee = await open()
  const asked = Promise.withResolvers<undefined>()
  let count = 0
  await register(callee, uri, () => {
    count += 1
    if (count === MANY) asked.resolve(undefined)
    return undefined
  })
  const calls = Array.from({ length: MANY }, () => startCall(rig.client, uri))
  await asked.promise
  deal(callee)
  const settled = await Promise.all(calls.map((call) => call.settled))
  // Nothing more may come.
  await roundTrip(rig)
  return {
    errors: [...new Set(settled.map(errorOf))],
    once: calls.filter(({ times }) => times() === 1).length,
  }
}
