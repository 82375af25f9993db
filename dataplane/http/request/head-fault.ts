// What is wrong with the head of a request that the parser has let through, and the refusal that it gets. Always a
// 4xx, also where RFC 9110 has 501 and 505: what a client sends must not count as a failure of the gateway.

import { GatewayError } from '../../gateway-error.ts'

export type HeadFault =
  | 'version'
  | 'chunks_by_1_0'
  | 'coding'
  | 'no_path'
  | 'scheme'
  | 'target'
  | 'no_host'
  | 'two_hosts'
  | 'host'

/** Where the request ends is not certain: what follows it on its connection is no request. */
export const isFramingFault = (fault: HeadFault): boolean => CLOSING.has(fault)

const CLOSING: ReadonlySet<HeadFault> = new Set(['version', 'chunks_by_1_0', 'coding'])

export const refuseHead = (fault: HeadFault): GatewayError =>
  fault === 'no_path'
    ? new GatewayError('svc.error.not_found', MESSAGES[fault])
    : new GatewayError(
        'svc.error.invalid_data',
        MESSAGES[fault],
        isFramingFault(fault) ? CLOSE : {},
      )

const CLOSE = { headers: { connection: 'close' } }

const MESSAGES = {
  version: 'This gateway speaks HTTP/1.1 and HTTP/1.0',
  chunks_by_1_0: 'HTTP/1.0 has no Transfer-Encoding',
  coding: 'Of transfer codings only chunked is taken, once',
  no_path: 'Nothing is served at this host and path',
  scheme: 'An absolute request target begins with http:// or https://',
  target: 'The request target names no valid host and port',
  no_host: 'There is no Host header',
  two_hosts: 'There are two Host headers',
  host: 'The Host is no host name with or without a port',
} as const satisfies Record<HeadFault, string>
