// Makes an ApiError with a plain message of what went wrong with a request. It quotes the message of the API server,
// never a body that is not a Status object, and never anything that could hold a Secret or a token.

import { mapAt, mapsAt, numberAt, textAt } from '../../../language/expression/members.ts'
import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import { ApiError, type ApiErrorCause, type ResourceType } from './api.ts'

export interface FailedResponse {
  readonly type: ResourceType
  readonly status: number
  readonly retryAfter: string | undefined
  /** As parsed; undefined where it was not JSON. */
  readonly body: unknown
}

/** Reason of an ApiError: we know of a version that the API server does not, because its storage went back in time. */
export const TOO_LARGE_VERSION = 'ResourceVersionTooLarge'

const LONGEST_MESSAGE = 1000

/** From a response of 4xx or 5xx, or the object of a watch's ERROR event. */
export const errorFromResponse = ({ type, status, retryAfter, body }: FailedResponse): ApiError => {
  const answered: ValueMap = isMap(body) && body['kind'] === 'Status' ? body : {}
  const isSecret = isUnquotable(type, status)
  const causes = causesOf(answered, isSecret)
  const reason = causes.some((cause) => cause.reason === TOO_LARGE_VERSION)
    ? TOO_LARGE_VERSION
    : textAt(answered, 'reason')
  const message = isSecret ? invalidFields(causes) : textAt(answered, 'message')
  const words = message === '' ? 'the API server gave no reason' : message
  const about = words.includes(type.plural) ? '' : `${type.plural}: `
  return new ApiError(`${about}${words.slice(0, LONGEST_MESSAGE)} (HTTP ${status})`, {
    status,
    reason,
    causes,
    retryAfterMs: retryAfterMs(retryAfter, answered),
  })
}

/** The API server's message about a rejected Secret may quote the Secret. */
const isUnquotable = (type: ResourceType, status: number): boolean =>
  type.group === '' && type.plural === 'secrets' && (status === 400 || status === 422)

const invalidFields = (causes: readonly ApiErrorCause[]): string => {
  const fields = causes.map(({ field }) => field)
  return `the API server rejects the Secret${fields.length === 0 ? '' : ` for ${fields.slice(0, 5).join(', ')}`}`
}

const MOST_CAUSES = 50

const causesOf = (answered: ValueMap, isSecret: boolean): readonly ApiErrorCause[] =>
  mapsAt(mapAt(answered, 'details'), 'causes')
    .slice(0, MOST_CAUSES)
    .map((cause) => ({
      reason: textAt(cause, 'reason'),
      field: textAt(cause, 'field'),
      message: isSecret ? '' : textAt(cause, 'message').slice(0, LONGEST_MESSAGE),
    }))

/** RFC 9110 §10.2.3 in seconds, as the API server sends it, or of the Status object. */
const retryAfterMs = (header: string | undefined, answered: ValueMap): number | undefined => {
  const inBody = numberAt(mapAt(answered, 'details'), 'retryAfterSeconds')
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : inBody
  return seconds !== undefined && seconds >= 0 ? seconds * 1000 : undefined
}

/** Some part of the API server's response is not what it should be. */
export const unreadable = (type: ResourceType, what: string): ApiError =>
  new ApiError(`${type.plural}: the response of the API server can't be read: ${what}`, {
    status: 0,
    reason: 'Unreadable',
  })

/** Reason of an ApiError: ask for less at once. */
export const TOO_LARGE_RESPONSE = 'ResponseTooLarge'

export const tooLarge = (type: ResourceType): ApiError =>
  new ApiError(`${type.plural}: the response of the API server is too large`, {
    status: 0,
    reason: TOO_LARGE_RESPONSE,
  })

/** No response, or an incomplete one. */
export const errorFromNetwork = (type: ResourceType, error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  const known = codesOf(error).find((code) => Object.hasOwn(FAILURES, code))
  const words = known === undefined ? undefined : FAILURES[known]
  return new ApiError(
    `${type.plural}: ${words ?? `no response of the API server (${nameOf(error)})`}`,
    {
      status: 0,
      reason: known === undefined ? '' : reasonOf(known),
      cause: error,
    },
  )
}

/** There are no credentials; `error` holds nothing secret. */
export const errorFromCredentials = (error: unknown): ApiError =>
  new ApiError(error instanceof Error ? error.message : 'no credentials for the API server', {
    status: 0,
    reason: 'NoCredentials',
  })

/** The connection ended while a response was due: often one that the API server had just closed. */
export const isBroken = (error: ApiError): boolean => error.reason === 'Broken'

/** The connection could not be established, so nothing was sent. This is usual while an API server stops or starts. */
export const isUnconnected = (error: ApiError): boolean => error.reason === 'Unconnected'

/** Marks the error of a connection that was never established, to distinguish it from one that broke later. */
export const unconnected = (error: Error): Error =>
  codesOf(error).some((code) => reasonOf(code) === 'Broken')
    ? Object.assign(new Error('not connected', { cause: error }), { code: NOT_CONNECTED })
    : error

const NOT_CONNECTED = 'NOT_CONNECTED'

/**
 * The error of connections that we break off, as the network would: the API server was unavailable, and is back on other
 * connections.
 */
export const connectionGivenUp = (): Error =>
  Object.assign(new Error('the connection was abandoned'), { code: GIVEN_UP })

const GIVEN_UP = 'GIVEN_UP'

/** A response began, and did not continue in time. */
export const isSilent = (error: ApiError): boolean => error.reason === 'Silent'

const reasonOf = (code: string): string => {
  if (code === 'UND_ERR_BODY_TIMEOUT') return 'Silent'
  if (code === NOT_CONNECTED) return 'Unconnected'
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', GIVEN_UP].includes(code) ? 'Broken' : ''
}

const UNREACHABLE = 'the API server is unreachable'
const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: `${UNREACHABLE}: connection refused`,
  EHOSTUNREACH: `${UNREACHABLE}: no route to it`,
  ENETUNREACH: `${UNREACHABLE}: no route to it`,
  [NOT_CONNECTED]: `${UNREACHABLE}: it closed the connection before it was established`,
  ETIMEDOUT: `${UNREACHABLE}: the connection timed out`,
  ENOTFOUND: `${UNREACHABLE}: its name does not exist`,
  EAI_AGAIN: `${UNREACHABLE}: its name can't be resolved now`,
  UND_ERR_CONNECT_TIMEOUT: `${UNREACHABLE}: the connection timed out`,
  ECONNRESET: 'the API server broke the connection',
  EPIPE: 'the API server broke the connection',
  UND_ERR_SOCKET: 'the API server broke the connection',
  [GIVEN_UP]: 'the connection was older than the last outage of the API server',
  UND_ERR_HEADERS_TIMEOUT: 'the API server did not respond in time',
  UND_ERR_BODY_TIMEOUT: 'the API server stopped sending in the middle of its response',
  UND_ERR_DESTROYED: 'the client is closed',
  UND_ERR_CLOSED: 'the client is closed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the API server is self-signed and not trusted',
  SELF_SIGNED_CERT_IN_CHAIN:
    'the certificate of the API server is not trusted: another CA signed it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate of the API server is not trusted: another CA signed it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'the certificate of the API server is not trusted: another CA signed it',
  CERT_SIGNATURE_FAILURE: 'the certificate of the API server is not trusted: another CA signed it',
  CERT_HAS_EXPIRED: 'the certificate of the API server has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the API server is for another name',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the API server requires a client certificate',
}

/** Several addresses of one name fail together as an AggregateError. */
const codesOf = (error: unknown): readonly string[] => {
  if (!isMap(error)) return []
  const { code, errors, cause } = error as Readonly<Record<string, unknown>>
  const inner: readonly unknown[] = Array.isArray(errors) ? errors : [cause]
  return [...(typeof code === 'string' ? [code] : []), ...inner.flatMap(codesOf)]
}

const nameOf = (error: unknown): string => {
  const name = isMap(error) ? error['name'] : undefined
  return codesOf(error)[0] ?? (typeof name === 'string' ? name : 'unknown')
}
