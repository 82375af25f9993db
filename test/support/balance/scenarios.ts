// Lists the scenarios of load balancing with real processes: the short ones of the suite, and those of `npm run balance`.

import { nameStopsResolving, rollingUpdate, wholeUpstreamDownAndBack } from './changes.ts'
import type { Scenario } from './check.ts'
import {
  connectionsCutAsRequestsCome,
  killedAndReplacedByAStranger,
  oneOfThreeIs,
  oneOfTwoRecordsIs,
} from './faults.ts'
import { spreadBehindOneAddress, spreadOverAddresses } from './spread.ts'

const ALIKE: readonly Scenario[] = [
  oneOfThreeIs('unavailable', 'addresses'),
  oneOfThreeIs('unavailable', 'one address'),
  oneOfThreeIs('silent', 'addresses'),
  oneOfTwoRecordsIs('dead'),
  oneOfTwoRecordsIs('a black hole'),
  killedAndReplacedByAStranger,
  connectionsCutAsRequestsCome,
  rollingUpdate('addresses'),
  rollingUpdate('one address'),
  wholeUpstreamDownAndBack('addresses'),
  wholeUpstreamDownAndBack('one address'),
  nameStopsResolving('it is known yet'),
]

/** Beside each other, for most of the time they wait. */
export const SHORT_SCENARIOS: readonly Scenario[] = [
  spreadOverAddresses([1, 2]),
  spreadOverAddresses([2, 6]),
  ...ALIKE,
]

/** With connections of two seconds, at a gateway of its own: a fault would meet new ones all the time. */
export const SHORT_LIVED_SCENARIOS: readonly Scenario[] = [spreadBehindOneAddress([1, 2, 6])]

export const LONG_SCENARIOS: readonly Scenario[] = [
  spreadOverAddresses([1, 2, 6]),
  spreadBehindOneAddress([1, 2, 6]),
  ...ALIKE,
  nameStopsResolving('it is forgotten'),
]
