// Builds the errors that clients get while a realm cannot be reached. Clients of the gateway read their messages, which
// contain no address, no reason of the router's and no secret.

import { WampError } from '../session/joined-session.ts'

export type UnavailableReason =
  'closed' | 'no-realm' | 'no-router' | 'unused' | 'unknown-to-router' | 'refused' | 'away'

interface ErrorRow {
  readonly uri: 'wamp.error.no_such_realm' | 'wamp.error.net_failure'
  readonly describe: (realm: string) => string
}

const ERRORS = {
  closed: {
    uri: 'wamp.error.net_failure',
    describe: () => 'This gateway is shutting down; try again, another one will answer',
  },
  'no-realm': {
    uri: 'wamp.error.no_such_realm',
    describe: (realm) =>
      `There is no realm named '${realm}'; load the realm, or name another one in the API's realm_uri`,
  },
  'no-router': {
    uri: 'wamp.error.net_failure',
    describe: (realm) =>
      `The realm '${realm}' has no router; give its record a router with a url to make calls`,
  },
  unused: {
    uri: 'wamp.error.net_failure',
    describe: (realm) =>
      `No active API uses the realm '${realm}' any more, so its sessions are closed; load or activate one`,
  },
  'unknown-to-router': {
    uri: 'wamp.error.no_such_realm',
    describe: (realm) =>
      `The router knows no realm '${realm}'; create the realm there, or name another router in its record`,
  },
  refused: {
    uri: 'wamp.error.net_failure',
    describe: (realm) =>
      `The router does not let the gateway join the realm '${realm}'; check router.auth of its record (its sessions tell the reason)`,
  },
  away: {
    uri: 'wamp.error.net_failure',
    describe: (realm) =>
      `The router of the realm '${realm}' can't be reached at the moment; try again shortly (its sessions tell the reason)`,
  },
} satisfies Record<UnavailableReason, ErrorRow>

/** Unsent: the router has seen nothing. */
export const unavailableError = (reason: UnavailableReason, realmUri: string): WampError => {
  const { uri, describe } = ERRORS[reason]
  return new WampError(uri, describe(realmUri), { wasSent: false })
}

/** @param what what there are too many of: `registrations and subscriptions` */
export const overloadedError = (what: string, limit: number): WampError =>
  new WampError(
    'svc.error.overloaded',
    `There are too many ${what} in this realm, more than ${limit}; end some, or try again later`,
    { wasSent: false },
  )

/** Converts whatever was thrown to a WampError. */
export const asWampError = (error: unknown): WampError =>
  error instanceof WampError
    ? error
    : new WampError('wamp.error.runtime_error', 'The operation failed within the gateway', {
        cause: error,
      })

/** The session has ended: the router has not decided anything, and another session follows. */
export const isSessionLoss = (error: WampError): boolean => error.uri === 'wamp.error.net_failure'
