// Translates an error URI of a router into a sentence for people. Many routers send errors without a text, and a bare
// URI tells the reader of an error record little.

/** @param subject the URI that was called, published to, …; '' if there is none */
export const describeWampError = (uri: string, subject: string): string => {
  const sentence = SENTENCES.get(uri)
  if (sentence === undefined) return uri
  return subject === '' ? `${sentence}.` : `${sentence}: ${subject}`
}

/** Specification §7.3, and other URIs of routers and client libraries. Callees may use them too. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['wamp.error.authorization_failed', 'The router failed to check whether this is allowed'],
  ['wamp.error.canceled', 'The call was cancelled, or its callee is gone'],
  ['wamp.error.close_realm', 'The router is closing the realm'],
  ['wamp.error.disclose_me_not_allowed', 'The router does not allow disclose_me here'],
  ['wamp.error.disclose_me.not_allowed', 'The router does not allow disclose_me here'],
  ['wamp.error.goodbye_and_out', 'The session with the router has ended'],
  ['wamp.error.invalid_argument', 'The router or the callee does not accept these arguments'],
  ['wamp.error.invalid_uri', 'The router does not accept this URI'],
  ['wamp.error.net_failure', 'The router could not reach the callee'],
  ['wamp.error.network_failure', 'The router could not reach the callee'],
  ['wamp.error.not_authorized', 'The router or the callee does not allow this'],
  ['wamp.error.no_eligible_callee', 'The router has no callee that could take this call'],
  ['wamp.error.no_such_procedure', 'The router knows no such procedure'],
  ['wamp.error.no_such_realm', 'The router knows no such realm'],
  ['wamp.error.no_such_registration', 'The router knows no such registration'],
  ['wamp.error.no_such_role', 'The router knows no such role'],
  ['wamp.error.no_such_session', 'The router knows no such session'],
  ['wamp.error.no_such_subscription', 'The router knows no such subscription'],
  ['wamp.error.option_disallowed_disclose_me', 'The router does not allow disclose_me here'],
  ['wamp.error.option_disallowed.disclose_me', 'The router does not allow disclose_me here'],
  ['wamp.error.option_not_allowed', 'The router does not allow one of the options here'],
  ['wamp.error.procedure_already_exists', 'This procedure is registered already'],
  ['wamp.error.runtime_error', 'The callee has failed'],
  ['wamp.error.system_shutdown', 'The router is shutting down'],
  ['wamp.error.timeout', 'The router has ended the call after a time-out of its own'],
])
