// Decides which CORS headers a response has (Fetch §3.3), by the `cors` of the document and the origin of the request.

import type { CompiledCors } from '../../../language/compile/compiled.ts'
import { isHeaderName } from '../../../language/compile/headers.ts'
import { isOneOf } from '../../../language/routes/origin.ts'
import type { HeaderList } from './headers.ts'

/** Empty: pages of this origin, or a request without one, have no part in it. */
export const corsHeaders = (cors: CompiledCors, origin: string | undefined): HeaderList => {
  const allowed = allowedOrigin(cors, origin)
  if (allowed.length === 0 || cors.exposed.length === 0) return allowed
  return [...allowed, ['access-control-expose-headers', cors.exposed.join(', ')]]
}

const allowedOrigin = (
  { origins, credentials }: CompiledCors,
  origin: string | undefined,
): HeaderList => {
  if (origins === 'any') return EVERY_ORIGIN
  if (origin === undefined || !isOneOf(origins, origin)) return NO_HEADERS
  const allowed = ['access-control-allow-origin', origin] as const
  return credentials ? [allowed, ['access-control-allow-credentials', 'true']] : [allowed]
}

const NO_HEADERS: HeaderList = []
const EVERY_ORIGIN: HeaderList = [['access-control-allow-origin', '*']]

/** What a browser asks before a request that needs permission. */
export interface Preflight {
  readonly origin: string
  readonly method: string
  /** Names of headers, as they came. */
  readonly headers: string | undefined
}

/** @param methods those that `cors` allows: browsers remember all, so that none with another `cors` may be among them */
export const preflightHeaders = (
  cors: CompiledCors,
  { origin, method, headers }: Preflight,
  methods: readonly string[],
): HeaderList => {
  const allowed = allowedOrigin(cors, origin)
  if (allowed.length === 0 || !methods.includes(method)) return []
  const names = cors.headers === 'any' ? soundNames(headers) : cors.headers.join(', ')
  const { maxAgeSeconds } = cors
  return [
    ...allowed,
    ['access-control-allow-methods', methods.join(', ')],
    ...(names === '' ? [] : ([['access-control-allow-headers', names]] as const)),
    ...(maxAgeSeconds === undefined
      ? []
      : ([['access-control-max-age', String(maxAgeSeconds)]] as const)),
  ]
}

const MOST_REQUESTED = 1024

/** The names (RFC 9110 §5.1) that a preflight asks for; empty: none, or what is no list of names. */
export const soundNames = (requested: string | undefined): string =>
  requested !== undefined &&
  requested.length <= MOST_REQUESTED &&
  requested.split(',').every((name) => isHeaderName(name.replace(/^ ?(.*?) ?$/, '$1')))
    ? requested
    : ''
