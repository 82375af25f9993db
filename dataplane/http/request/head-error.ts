// Lists what can be wrong with a request head that the parser has accepted, and creates the error for it. It is
// always a 4xx, also where RFC 9110 has 501 and 505: what a client sends must not count as a failure of the gateway.

import { GatewayError } from '../../gateway-error.ts'

export type HeadError =
  | 'version'
  | 'chunks_by_1_0'
  | 'coding'
  | 'no_path'
  | 'scheme'
  | 'target'
  | 'no_host'
  | 'two_hosts'
  | 'host'

/** The end of the request is ambiguous: what follows on its connection must not be read as a request. */
export const isFramingError = (error: HeadError): boolean => CLOSING.has(error)

const CLOSING: ReadonlySet<HeadError> = new Set(['version', 'chunks_by_1_0', 'coding'])

export const refuseHead = (error: HeadError): GatewayError =>
  error === 'no_path'
    ? new GatewayError('svc.error.not_found', MESSAGES[error])
    : new GatewayError(
        'svc.error.invalid_data',
        MESSAGES[error],
        isFramingError(error) ? CLOSE : {},
      )

const CLOSE = { headers: { connection: 'close' } }

const MESSAGES = {
  version: 'This gateway speaks HTTP/1.1 and HTTP/1.0',
  chunks_by_1_0: 'HTTP/1.0 has no Transfer-Encoding',
  coding: 'Transfer-Encoding must be chunked, once, without other codings',
  no_path: 'Nothing is served at this host and path',
  scheme: 'An absolute request target must begin with http:// or https://',
  target: 'The request target names no valid host and port',
  no_host: 'There is no Host header',
  two_hosts: 'There are two Host headers',
  host: 'The Host header is not a valid host, with or without a port',
} as const satisfies Record<HeadError, string>
