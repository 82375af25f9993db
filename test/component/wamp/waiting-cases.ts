// A router that takes connections and says nothing: requests wait for the session, each in a place of its version, let go
// of it when their client leaves or their time is up, and are then never performed.

import { eventually } from '../../support/eventually.ts'
import { addressOf, openRawClient } from '../../support/raw-client.ts'
import { register } from '../../support/wamp-peer.ts'
import type { ReceivedResponse, FaultCase, FaultContext } from './fault-case.ts'
import { calls } from './wamp-operations.ts'

const FULL: ReceivedResponse = { status: 503, body: 'svc.error.overloaded' }
const PATIENT_MS = 60_000

export const WAITING_CASES: readonly FaultCase[] = [
  {
    name: 'a router that hangs: places are bounded and given back, and no callee is called late',
    on: ['embedded', 'nexus'],
    same: {
      inTime: { status: 504, body: 'svc.error.timeout' },
      full: FULL,
      responses: [
        { status: 200, body: ['stays'] },
        { status: 200, body: ['comes later'] },
      ],
      invoked: ['comes later', 'stays'],
      sessions: 1,
    },
    run: async (context) => {
      const invoked: unknown[] = []
      const callee = await context.open()
      await register(callee, `${context.uri}.echo`, ({ args }) => {
        invoked.push(args[0])
        return { args }
      })
      const relay = await serveBehindRelay(context)
      relay.freeze()
      relay.cut()
      await context.become('waiting')
      const inTime = await context.call('/short', ['too short'])
      const leave = await openCall(context, 'leaves')
      const stays = context.call('/echo', ['stays'])
      const full = await eventually(async () => {
        const response = await context.call('/short', ['one too many'])
        if (response.status !== FULL.status) throw new Error('there is a place')
        return response
      })
      leave()
      await eventually(async () => {
        const response = await context.call('/short', ['too short'])
        if (response.status === FULL.status) throw new Error('there is no place')
      })
      const comesLater = context.call('/echo', ['comes later'])
      relay.thaw()
      const responses = await Promise.all([stays, comesLater])
      const sessions = await context.untilSessions(1)
      return { inTime, full, responses, invoked: invoked.sort(), sessions }
    },
  },
]

const serveBehindRelay = async (
  context: FaultContext,
): Promise<Awaited<ReturnType<FaultContext['relayTo']>>['relay']> => {
  const { relay, url } = await context.relayTo('rawsocket')
  const procedure = `${context.uri}.echo`
  await context.realm({ url })
  await context.serve(
    {
      '/echo': { post: calls(procedure, { timeout: PATIENT_MS, connect_timeout: PATIENT_MS }) },
      '/short': { post: calls(procedure, { timeout: 200, connect_timeout: PATIENT_MS }) },
    },
    { version: { pool_size: 2 } },
  )
  await context.become('open')
  return relay
}

/** By a client that does not wait for its response: the function it returns leaves. */
const openCall = async (context: FaultContext, arg: string): Promise<() => void> => {
  const url = context.url('/echo')
  const body = JSON.stringify({ args: [arg] })
  const head = [
    `POST ${new URL(url).pathname} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const client = context.use(await openRawClient(addressOf(url), PATIENT_MS))
  client.send([Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)])
  return () => {
    client.close()
  }
}
