// Holds the table of error URIs that every document starts with (specification §7.3), which is the gateway's vocabulary
// of WAMP errors. A document's own `status_codes` are merged over it, never into it.

import type { StatusCodes } from './compiled.ts'

const SPECIFIED = {
  'svc.error.already_exists': 400,
  'svc.error.not_found': 404,
  'svc.error.bad_gateway': 504,
  'svc.error.http_gateway.invalid_expression': 500,
  'svc.error.timeout': 504,
  'wamp.error.authorization_failed': 500,
  'wamp.error.canceled': 400,
  'wamp.error.close_realm': 500,
  'wamp.error.disclose_me_not_allowed': 400,
  'wamp.error.goodbye_and_out': 500,
  'wamp.error.invalid_argument': 400,
  'wamp.error.invalid_uri': 400,
  'wamp.error.net_failure': 502,
  'wamp.error.not_authorized': 403,
  'wamp.error.no_eligible_callee': 502,
  'wamp.error.no_such_procedure': 501,
  'wamp.error.no_such_realm': 502,
  'wamp.error.no_such_registration': 502,
  'wamp.error.no_such_role': 400,
  'wamp.error.no_such_session': 500,
  'wamp.error.no_such_subscription': 502,
  'wamp.error.option_disallowed_disclose_me': 400,
  'wamp.error.option_not_allowed': 400,
  'wamp.error.procedure_already_exists': 400,
  'wamp.error.system_shutdown': 500,
} as const

/** behaviour §3: URIs that the gateway itself sends and §7.3 does not name. */
const ADDED = {
  'svc.error.invalid_result': 502,
  'svc.error.overloaded': 503,
  'wamp.error.timeout': 504,
} as const

/** behaviour §5: URIs that routers and the original gateway really send, mapped like their §7.3 form. */
const OTHER_SPELLINGS = {
  'wamp.close.close_realm': SPECIFIED['wamp.error.close_realm'],
  'wamp.close.goodbye_and_out': SPECIFIED['wamp.error.goodbye_and_out'],
  'wamp.close.system_shutdown': SPECIFIED['wamp.error.system_shutdown'],
  'wamp.error.disclose_me.not_allowed': SPECIFIED['wamp.error.disclose_me_not_allowed'],
  'wamp.error.network_failure': SPECIFIED['wamp.error.net_failure'],
  'wamp.error.option_disallowed.disclose_me': SPECIFIED['wamp.error.option_disallowed_disclose_me'],
} as const

/** behaviour §4: an upstream's 400–599 fails its action with a URI that maps to that very status. */
const UPSTREAM: StatusCodes = Object.fromEntries(
  Array.from(
    { length: 200 },
    (_, index) => [`svc.error.upstream.${400 + index}`, 400 + index] as const,
  ),
)

/**
 * Error URI → HTTP status. Frozen and without a prototype: `STATUS_CODES['constructor']` is undefined.
 * @example STATUS_CODES['wamp.error.no_such_procedure'] // 501
 */
export const STATUS_CODES: StatusCodes = Object.freeze(
  Object.assign(Object.create(null) as StatusCodes, {
    ...SPECIFIED,
    ...ADDED,
    ...OTHER_SPELLINGS,
    ...UPSTREAM,
  }),
)
