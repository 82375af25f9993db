// All faults that a router of that name can be part of, as rows for `it.each`: one router, one gateway and one
// neighbour for all of them.

import { startGateway } from '../../support/gateway-process.ts'
import { openRawPeer } from '../../support/raw-wamp-peer.ts'
import { OPEN_REALM } from '../../support/routers/router-config.ts'
import type { RowsOfRouter } from '../../support/routers/describe-with-router.ts'
import type { RouterSuite, RouterUnderTest } from '../../support/routers/router-under-test.ts'
import { FaultContext, type FaultWorld, rowsOf, sessionCount } from './fault-case.ts'
import { startNeighbour } from './neighbour.ts'
import { CALL_CASES } from './call-cases.ts'
import { DOCUMENT_CASES } from './document-cases.ts'
import { JOINING_CASES } from './joining-cases.ts'
import { PAYLOAD_CASES } from './payload-cases.ts'
import { ROUTER_CASES } from './router-cases.ts'
import { STREAM_CASES } from './stream-cases.ts'
import { WAITING_CASES } from './waiting-cases.ts'
import { WEBHOOK_CASES } from './webhook-cases.ts'

const GROUPS = {
  router: ROUTER_CASES,
  joining: JOINING_CASES,
  waiting: WAITING_CASES,
  call: CALL_CASES,
  payload: PAYLOAD_CASES,
  document: DOCUMENT_CASES,
  stream: STREAM_CASES,
  webhook: WEBHOOK_CASES,
}

/** Its `stop` throws when the gateway has had a fault of its own. */
export const faultSuite = (suite: RouterSuite): RowsOfRouter => {
  let world: FaultWorld | undefined
  const open = (id: string): FaultContext => {
    if (world === undefined) throw new Error('the suite was not started')
    return new FaultContext(world, id)
  }
  return {
    rows: Object.entries(GROUPS).flatMap(([group, cases]) => rowsOf(group, cases, suite, open)),
    start: async () => {
      await suite.start()
      const router = suite.running()
      const routerSessions = await countRouterSessions(router)
      const [gateway, neighbour] = await Promise.all([
        startGateway({ flags: ['--log-level', 'debug'] }),
        startNeighbour(),
      ])
      world = { router, gateway, neighbour, routerSessions }
    },
    stop: async () => {
      await world?.gateway.stop()
      await world?.neighbour[Symbol.asyncDispose]()
      await suite.stop()
      const faults = (world?.gateway.logs() ?? []).filter((line) => FAULT.test(line))
      if (faults.length > 0) throw new Error(`the gateway had faults:\n${faults.join('\n')}`)
    },
  }
}

/** Crossbar's HTTP bridge has some. */
const countRouterSessions = async ({ rawsocket }: RouterUnderTest): Promise<number> => {
  await using peer = await openRawPeer({ url: rawsocket, realm: OPEN_REALM })
  return (await sessionCount(peer)) - 1
}

const FAULT = /"level":"?(?:error|fatal|50|60)|uncaught|unhandled|TypeError/i
