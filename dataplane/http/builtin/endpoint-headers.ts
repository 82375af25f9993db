// What every answer of the gateway's own endpoints carries (behaviour §6): nothing is cached, no referrer leaves,
// any origin may read it, and none with credentials.

import type { IncomingHttpHeaders } from 'node:http'
import type { HeaderList } from '../response/headers.ts'

/** What an endpoint answers. */
export interface EndpointAnswer {
  readonly status: number
  /** Lower-case names; `set-cookie` may stand several times. */
  readonly headers: HeaderList
  readonly body: string
}

export const endpointHeaders = ({ origin }: IncomingHttpHeaders): HeaderList => [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['vary', 'Origin'],
  ...(origin === undefined ? [] : ([['access-control-allow-origin', origin]] as const)),
]

/** @param allow methods of the path */
export const preflight = (headers: IncomingHttpHeaders, allow: string): EndpointAnswer => ({
  status: 204,
  headers: [
    ...endpointHeaders(headers),
    ['allow', allow],
    ['access-control-allow-methods', allow],
    ...askedHeaders(headers),
  ],
  body: '',
})

/** Names (RFC 9110 §5.1), as they were asked for. */
const askedHeaders = (headers: IncomingHttpHeaders): HeaderList => {
  const asked = headers['access-control-request-headers']
  const isSound =
    asked !== undefined &&
    asked.length <= MAX_ASKED &&
    asked.split(',').every((name) => NAME.test(name))
  return isSound ? [['access-control-allow-headers', asked]] : []
}

const MAX_ASKED = 1024
const NAME = /^ ?[A-Za-z0-9!#$%&'*+.^_`|~-]+ ?$/
