// Describes why a request failed, for the log, the access log and traces. No part of it is for the client.

import type { ExpressionError } from '../../language/expression/errors.ts'
import type { CredentialFailureCode } from '../credentials/credential.ts'
import type { NetworkReason, SignatureReason } from '../gateway-error.ts'
import type { FailureCause } from '../upstream/failure-cause.ts'

/** A closed list: each is a sentence of the log, and a value that may label a metric. */
export type FailureReason =
  | FailureCause
  | CredentialFailureCode
  | 'upstream_status' // a response of 400 or more, which is a result of the action as well
  | 'response_head' // a status, coding or framing that can't be passed on
  | 'partial_response' // a 204, 206 or 304, where the document needs the whole body
  | 'response_too_large'
  | 'undecodable' // a body that is not what its Content-Type or coding says
  | 'no_memory'
  | 'invalid_result' // not what `schema.result` allows
  | 'expression'
  | 'cross_site' // sent by a page of another site, with credentials that the browser added
  | 'rate_limit' // too many requests, by a limit of the document
  | NetworkReason
  | SignatureReason
  | 'wamp_error' // from the callee, the router or the session
  | 'wamp_no_session' // there is none with the router of the realm
  | 'wamp_no_procedure'
  | 'wamp_timeout'
  | 'wamp_overloaded'

export interface RequestFailure {
  readonly reason: FailureReason
  /** `http://host:port` of the last attempt. */
  readonly upstream?: string
  /** How often it was sent, or tried to be. */
  readonly attempts?: number
  /** What the peer or the operating system said, at most `MAX_DETAIL` characters. */
  readonly detail?: string
}

const MAX_DETAIL = 200

export const failureOfExpression = ({ message }: ExpressionError): RequestFailure => ({
  reason: 'expression',
  detail: boundDetail(message),
})

/** Cuts a text that a peer may have made up. */
export const boundDetail = (text: string): string =>
  text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}…` : text
