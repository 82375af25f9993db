// What `on_error` sees of a WAMP operation that failed (behaviour §4): faults in, `action.error` out.
// Their messages are the bridge's, for clients to read.

import { ownValue } from '../../../language/expression/lookup.ts'
import { boundMessage } from '../../../language/expression/errors.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { WampFault } from '../../wamp/session/joined-session.ts'
import { gatewayError } from '../failure.ts'
import type { ActionError, Exchange, Perform } from '../performer.ts'
import { sayWampError } from './error-text.ts'
import { asError } from '../../../base/thrown.ts'

/**
 * @param statusCodes the operation's merged map; what it does not name is 500
 * @param subject the URI that was called, published to, …
 */
export const faultError = (fault: WampFault, statusCodes: ValueMap, subject = ''): ActionError => {
  const status = ownValue(statusCodes, fault.uri)
  return {
    error_uri: fault.uri,
    args: fault.args,
    kwargs: fault.kwargs,
    details: fault.details,
    status_code: typeof status === 'number' ? status : 500,
    headers: {},
    body: '',
    message: boundMessage(
      fault.message === fault.uri ? sayWampError(fault.uri, subject) : fault.message,
    ),
  }
}

export const overdueError = (statusCodes: ValueMap): ActionError =>
  gatewayError('svc.error.timeout', 'The WAMP operation took too long.', statusCodes)

export const overloadedError = (statusCodes: ValueMap): ActionError =>
  gatewayError('svc.error.overloaded', 'Too many WAMP operations are in flight.', statusCodes)

/** A fault that is thrown before anything is under way fails the action; all else is thrown on. */
export const failingOnFaults =
  (perform: Perform): Perform =>
  (exchange) => {
    try {
      perform(exchange)
    } catch (error) {
      if (!(error instanceof WampFault)) throw error
      exchange.fail(faultError(error, exchange.context.status_codes))
    }
  }

/** What was rejected or thrown while the operation was under way: a fault fails it, all else is a bug. */
export const failExchange = (exchange: Exchange, error: unknown, subject = ''): void => {
  if (error instanceof WampFault) {
    exchange.fail(faultError(error, exchange.context.status_codes, subject))
    return
  }
  exchange.refuse(asError(error))
}
