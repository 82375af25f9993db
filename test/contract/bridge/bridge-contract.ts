// The whole contract of the bridge as one table of groups: those for every transport and serializer, and those
// for which one will do.

import { absenceRow, type RouterSuite } from '../../support/routers/router-under-test.ts'
import {
  type BridgeCase,
  type BridgeRow,
  bridgeRows,
  type BridgeWire,
  SharedParts,
} from './bridge-case.ts'
import { CALL_CASES } from './cases/call-cases.ts'
import { FAULT_CASES } from './cases/fault-cases.ts'
import { hostileCases } from './cases/hostile-cases.ts'
import { LOAD_CASES } from './cases/load-cases.ts'
import { REGISTRATION_CASES } from './cases/registration-cases.ts'
import { SESSION_CASES } from './cases/session-cases.ts'
import { TOPIC_CASES } from './cases/topic-cases.ts'

const WIRES: readonly BridgeWire[] = (['ws', 'rawsocket'] as const).flatMap((transport) =>
  (['json', 'msgpack', 'cbor'] as const).map((serializer) => ({ transport, serializer })),
)

const byWire = ({ serializer }: BridgeWire): Readonly<Record<string, readonly BridgeCase[]>> => ({
  calls: CALL_CASES,
  topics: TOPIC_CASES,
  registrations: REGISTRATION_CASES,
  'hostile callees': hostileCases(serializer),
})

const ONCE: Readonly<Record<string, readonly BridgeCase[]>> = {
  sessions: SESSION_CASES,
  load: LOAD_CASES,
  faults: FAULT_CASES,
}

export interface BridgeSuite extends AsyncDisposable {
  readonly rows: readonly BridgeRow[]
}

/** Rows for `it.each`: what is observed must equal what is expected. */
export const bridgeSuite = (suite: RouterSuite): BridgeSuite => {
  const parts = new SharedParts(suite)
  const { availability, name } = suite
  return {
    rows: availability.available ? allRows(parts) : [absenceRow(name, availability.why)],
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
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
