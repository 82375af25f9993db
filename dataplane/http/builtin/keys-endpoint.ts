// The public halves of all signing keys in, a JWK Set (RFC 7517 §5) out. Nothing private can get in.

import { hash } from 'node:crypto'
import type { TokenKeys } from '../../security/token-keys.ts'
import type { EndpointVisit } from '../arrival.ts'
import type { EndpointAnswer } from './endpoint-headers.ts'

/** Long enough that services do not ask for every token, short enough for a rotation. */
const CACHE_CONTROL = 'public, max-age=300'

export const answerKeys = (
  tokenKeys: Pick<TokenKeys, 'publicKeys'>,
  { arrival }: EndpointVisit,
): EndpointAnswer => {
  const body = JSON.stringify({ keys: tokenKeys.publicKeys().map(publicHalf) })
  const etag = `"${hash('sha256', body, 'base64url')}"`
  const headers = [
    ['cache-control', CACHE_CONTROL],
    ['etag', etag],
    // One answer for everybody: it may be cached.
    ['access-control-allow-origin', '*'],
  ] as const
  if (isKnown(arrival.request.headers['if-none-match'], etag))
    return { status: 304, headers, body: '' }
  return { status: 200, headers: [...headers, ['content-type', 'application/json']], body }
}

/** RFC 7517 §4, RFC 7518 §6.2.1, §6.3.1. */
const PUBLIC: readonly string[] = ['kty', 'use', 'key_ops', 'alg', 'kid', 'crv', 'x', 'y', 'n', 'e']

const publicHalf = (key: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(key).filter(([member]) => PUBLIC.includes(member)))

/** Weak comparison (RFC 9110 §13.1.2). */
const isKnown = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))
