// Serves `/.well-known/jwks.json`: the public halves of all signing keys as a JWK Set (RFC 7517 §5), on every host
// and before any document (behaviour §2). It copies public members only.

import { hash } from 'node:crypto'
import { STATUS_CODES } from '../../../language/compile/status-codes.ts'
import type { TokenKeys } from '../../security/tokens/token-keys.ts'
import type { ServedVersion } from '../../served.ts'
import type { BuiltinRequest } from './builtin-request.ts'
import { respond } from './respond.ts'

/** Stands for the gateway itself, as no document has these keys. */
export const KEYS_VERSION: ServedVersion = {
  apiId: '',
  name: '',
  basePath: '/',
  realmUri: '',
  poolSize: 1,
  languages: [],
  statusCodes: STATUS_CODES,
}

export const respondKeys = (
  builtinRequest: BuiltinRequest,
  tokenKeys: Pick<TokenKeys, 'publicKeys'>,
): void => {
  const body = JSON.stringify({ keys: tokenKeys.publicKeys().map(publicHalf) })
  const etag = `"${hash('sha256', body, 'base64url')}"`
  const headers = [
    ['cache-control', CACHE_CONTROL],
    ['etag', etag],
    // The response is the same for everybody and may be cached.
    ['access-control-allow-origin', '*'],
  ] as const
  if (isKnown(builtinRequest.incomingRequest.request.headers['if-none-match'], etag))
    respond(builtinRequest, { status: 304, headers, body: '' })
  else
    respond(builtinRequest, {
      status: 200,
      headers: [...headers, ['content-type', 'application/json']],
      body,
    })
}

/** Long enough that services do not fetch keys for every token, short enough for a rotation. */
const CACHE_CONTROL = 'public, max-age=300'

/** RFC 7517 §4, RFC 7518 §6.2.1, §6.3.1. */
const PUBLIC: readonly string[] = ['kty', 'use', 'key_ops', 'alg', 'kid', 'crv', 'x', 'y', 'n', 'e']

const publicHalf = (key: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(key).filter(([member]) => PUBLIC.includes(member)))

/** Weak comparison (RFC 9110 §13.1.2). */
const isKnown = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))
