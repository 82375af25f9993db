// The whole contract as one table of groups: what every router test file holds its router to.

import type { RowsOfRouter } from '../../support/routers/describe-with-router.ts'
import type { RouterSuite } from '../../support/routers/router-under-test.ts'
import { AUTOBAHN_CASES } from './cases/autobahn-cases.ts'
import { CALL_CASES } from './cases/call-cases.ts'
import { CANCEL_CASES } from './cases/cancel-cases.ts'
import { HOSTILE_CASES } from './cases/hostile-cases.ts'
import { PUBLICATION_CASES } from './cases/publication-cases.ts'
import { REGISTRATION_CASES } from './cases/registration-cases.ts'
import { SESSION_CASES } from './cases/session-cases.ts'
import { SIZE_CASES } from './cases/size-cases.ts'
import { VALUE_CASES } from './cases/value-cases.ts'
import { type ContractCase, rowsOf } from './contract-case.ts'

/** How a router ends and comes back stands in the contract of the bridge: a start takes some of them seconds. */
const GROUPS: Readonly<Record<string, readonly ContractCase[]>> = {
  sessions: SESSION_CASES,
  calls: CALL_CASES,
  cancelling: CANCEL_CASES,
  registrations: REGISTRATION_CASES,
  publications: PUBLICATION_CASES,
  values: VALUE_CASES,
  sizes: SIZE_CASES,
  autobahn: AUTOBAHN_CASES,
  'what clients get wrong': HOSTILE_CASES,
}

export const routerContract = (suite: RouterSuite): RowsOfRouter => ({
  rows: Object.entries(GROUPS).flatMap(([group, cases]) => rowsOf(group, cases, suite)),
  start: suite.start,
  stop: suite.stop,
})
