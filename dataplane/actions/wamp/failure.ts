// Builds `action.error`, which `on_error` reads, for a WAMP operation that failed (behaviour §4). The messages are
// the bridge's, written for clients.

import { ownValue } from '../../../language/expression/lookup.ts'
import { boundMessage } from '../../../language/expression/errors.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { WampError } from '../../wamp/session/joined-session.ts'
import { gatewayError } from '../failure.ts'
import { boundDetail, type FailureReason } from '../request-failure.ts'
import type { ActionError, EventSink, Exchange, Perform } from '../performer.ts'
import { describeWampError } from './error-text.ts'
import { asError } from '../../../base/thrown.ts'

/**
 * @param statusCodes the operation's merged map; URIs that it does not have are 500
 * @param subject the URI that was called, published to, …
 */
export const toActionError = (
  error: WampError,
  statusCodes: ValueMap,
  subject = '',
): ActionError => {
  const status = ownValue(statusCodes, error.uri)
  return {
    error_uri: error.uri,
    args: error.args,
    kwargs: error.kwargs,
    details: error.details,
    status_code: typeof status === 'number' ? status : 500,
    headers: {},
    body: '',
    message: boundMessage(
      error.message === error.uri ? describeWampError(error.uri, subject) : error.message,
    ),
  }
}

/** Keeps the URI alone: arguments and messages of peers may hold anything. */
export const explainError = (exchange: Exchange, error: WampError): void => {
  exchange.explain({ reason: reasonOf(error), detail: boundDetail(error.uri) })
}

/** What was sent has reached the router: such an error is the callee's, whatever it is called. */
const reasonOf = ({ uri, wasSent }: WampError): FailureReason => {
  if (uri === 'wamp.error.no_such_procedure') return 'wamp_no_procedure'
  return !wasSent && NO_SESSION.has(uri) ? 'wamp_no_session' : 'wamp_error'
}

const NO_SESSION: ReadonlySet<string> = new Set([
  'wamp.error.net_failure',
  'wamp.error.no_such_realm',
])

/** @param sink of a stream that has begun */
export const failOverdue = (exchange: Exchange, sink?: EventSink): void => {
  const { status_codes: codes } = exchange.context
  exchange.explain({ reason: 'wamp_timeout' })
  ;(sink ?? exchange).fail(
    gatewayError('svc.error.timeout', 'The WAMP operation did not finish in time.', codes),
  )
}

export const failOverloaded = (exchange: Exchange): void => {
  const { status_codes: codes } = exchange.context
  exchange.explain({ reason: 'wamp_overloaded' })
  exchange.fail(
    gatewayError('svc.error.overloaded', 'Too many WAMP operations are in progress.', codes),
  )
}

/** Fails the action for a WampError that is thrown before anything has started; everything else is thrown on. */
export const failingOnWampErrors =
  (perform: Perform): Perform =>
  (exchange) => {
    try {
      perform(exchange)
    } catch (error) {
      if (!(error instanceof WampError)) throw error
      explainError(exchange, error)
      exchange.fail(toActionError(error, exchange.context.status_codes))
    }
  }

/** Handles an error of a running operation: a WampError fails it, everything else is a bug. */
export const failExchange = (exchange: Exchange, error: unknown, subject = ''): void => {
  if (error instanceof WampError) {
    explainError(exchange, error)
    exchange.fail(toActionError(error, exchange.context.status_codes, subject))
    return
  }
  exchange.refuse(asError(error))
}
