// Builds the errors that clients get while a realm cannot be reached. Clients of the gateway read their messages, which
// contain no address, no reason of the router's and no secret.

import { WampFault } from '../session/joined-session.ts'

export type Obstacle =
  'closed' | 'no-realm' | 'no-router' | 'unused' | 'unknown-to-router' | 'refused' | 'away'

interface FaultRow {
  readonly uri: 'wamp.error.no_such_realm' | 'wamp.error.net_failure'
  readonly say: (realm: string) => string
}

const FAULTS = {
  closed: {
    uri: 'wamp.error.net_failure',
    say: () => 'This gateway is shutting down; try again, another one will answer',
  },
  'no-realm': {
    uri: 'wamp.error.no_such_realm',
    say: (realm) =>
      `There is no realm named '${realm}'; load the realm, or name another one in the API's realm_uri`,
  },
  'no-router': {
    uri: 'wamp.error.net_failure',
    say: (realm) =>
      `The realm '${realm}' has no router; give its record a router with a url to make calls`,
  },
  unused: {
    uri: 'wamp.error.net_failure',
    say: (realm) =>
      `No active API uses the realm '${realm}' any more, so its sessions are closed; load or activate one`,
  },
  'unknown-to-router': {
    uri: 'wamp.error.no_such_realm',
    say: (realm) =>
      `The router knows no realm '${realm}'; create the realm there, or name another router in its record`,
  },
  refused: {
    uri: 'wamp.error.net_failure',
    say: (realm) =>
      `The router does not let the gateway join the realm '${realm}'; check router.auth of its record (its sessions tell the reason)`,
  },
  away: {
    uri: 'wamp.error.net_failure',
    say: (realm) =>
      `The router of the realm '${realm}' can't be reached at the moment; try again shortly (its sessions tell the reason)`,
  },
} satisfies Record<Obstacle, FaultRow>

/** Unsent: the router has seen nothing. */
export const obstacleFault = (obstacle: Obstacle, realmUri: string): WampFault => {
  const { uri, say } = FAULTS[obstacle]
  return new WampFault(uri, say(realmUri), { wasSent: false })
}

/** @param what what there are too many of: `registrations and subscriptions` */
export const overloadFault = (what: string, limit: number): WampFault =>
  new WampFault(
    'svc.error.overloaded',
    `There are too many ${what} in this realm, more than ${limit}; end some, or try again later`,
    { wasSent: false },
  )

/** Whatever was thrown, as a fault. */
export const asFault = (error: unknown): WampFault =>
  error instanceof WampFault
    ? error
    : new WampFault('wamp.error.runtime_error', 'The operation failed within the gateway', {
        cause: error,
      })

/** The session ended under it: no word of the router's, another session follows. */
export const isLoss = (fault: WampFault): boolean => fault.uri === 'wamp.error.net_failure'
