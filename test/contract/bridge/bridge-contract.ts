// The whole contract of the bridge as one table of groups: those for every transport and serializer, and those
// for which one will do.

import type { RowsOfRouter } from '../../support/routers/describe-with-router.ts'
import type { RouterSuite } from '../../support/routers/router-under-test.ts'
import {
  type BridgeCase,
  type BridgeRow,
  bridgeRows,
  type BridgeWire,
  SharedParts,
} from './bridge-case.ts'
import { callCases } from './cases/call-cases.ts'
import { FAULT_CASES } from './cases/fault-cases.ts'
import { hostileCases } from './cases/hostile-cases.ts'
import { LOAD_CASES } from './cases/load-cases.ts'
import { REGISTRATION_CASES } from './cases/registration-cases.ts'
import { RESTART_CASES } from './cases/restart-cases.ts'
import { SESSION_CASES } from './cases/session-cases.ts'
import { TOPIC_CASES } from './cases/topic-cases.ts'

const WIRES: readonly BridgeWire[] = (['ws', 'rawsocket'] as const).flatMap((transport) =>
  (['json', 'msgpack', 'cbor'] as const).map((serializer) => ({ transport, serializer })),
)

const byWire = (wire: BridgeWire): Readonly<Record<string, readonly BridgeCase[]>> => ({
  calls: callCases(wire),
  topics: TOPIC_CASES,
  registrations: REGISTRATION_CASES,
  'hostile callees': hostileCases(wire.serializer),
})

const ONCE: Readonly<Record<string, readonly BridgeCase[]>> = {
  sessions: SESSION_CASES,
  load: LOAD_CASES,
  faults: FAULT_CASES,
  restarts: RESTART_CASES,
}

export const bridgeContract = (suite: RouterSuite): RowsOfRouter => {
  const parts = new SharedParts(suite)
  return {
    rows: allRows(parts),
    start: suite.start,
    stop: async () => {
      await parts[Symbol.asyncDispose]()
      await suite.stop()
    },
  }
}

const allRows = (parts: SharedParts): readonly BridgeRow[] => [
  ...WIRES.flatMap((wire) =>
    Object.entries(byWire(wire)).flatMap(([group, cases]) =>
      bridgeRows(`${wire.transport} ${wire.serializer}: ${group}`, cases, parts, wire),
    ),
  ),
  ...Object.entries(ONCE).flatMap(([group, cases]) => bridgeRows(group, cases, parts)),
]
