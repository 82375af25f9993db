// Serves the pages that ask gateways: why requests were answered so, which of them failed, routes and
// explanations. Such requests are few at a time.

import { findFailures } from '../fleet/find-failures.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { sharedFirst } from '../fleet/shared-first.ts'
import { boundPages } from './bound-pages.ts'
import { gatewayPages } from './gateway-pages.ts'
import type { LeaderRecord } from './leader-record.ts'
import type { Pages } from './page.ts'
import { whyPage } from './why-page.ts'

export interface FleetSources {
  /** undefined: another operator leads, or nothing has been read yet. */
  readonly fleet: () => Pick<Fleet, 'findDecisions' | 'reachable'> | undefined
  /** Left out where there are no others: this one leads. */
  readonly leader?: () => LeaderRecord
}

/** People look at one thing at a time; each waits for gateways, and holds their responses. */
const MOST_AT_ONCE = 4

/** @example startStatusServer(address, 'people', { ...statusPages(sources), ...fleetPages({ fleet }) }) */
export const fleetPages = ({ fleet, leader }: FleetSources): Pages => {
  const ofLeader = leader === undefined ? {} : { leader }
  return boundPages(MOST_AT_ONCE, {
    ...whyPage({ find: (id) => fleet()?.findDecisions(id), ...ofLeader }),
    ...gatewayPages({
      gateways: () => fleet()?.reachable().toSorted(sharedFirst),
      findFailures: (query, name) => {
        const reachable = fleet()?.reachable().toSorted(sharedFirst)
        const gateways = reachable?.filter((each) => name === undefined || each.name === name)
        return gateways && findFailures(gateways, query)
      },
      ...ofLeader,
    }),
  })
}
