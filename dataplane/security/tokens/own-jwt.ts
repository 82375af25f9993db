// Signs and verifies the JWTs that this gateway issues for itself. Every choice that an attacker could make in a
// header (RFC 8725 §3) is fixed here instead: one algorithm, one type, keys by id from a ring.

import type { JWTHeaderParameters } from 'jose'
import type { SigningKey } from './token-keys.ts'
import {
  refusalOfError,
  refusedToken,
  RefusedTokenError,
  shapeRefusal,
  type TokenReading,
} from './token-refusal.ts'

const ALGORITHM = 'ES256'

/** ES256, `kid` and `typ` in the header. */
export const signJwt = async (
  key: SigningKey,
  type: string,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> => {
  const { SignJWT } = await import('jose')
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: ALGORITHM, typ: type, kid: key.kid })
    .sign(key.privateKey)
}

/**
 * Reads the claims of a genuine token of that type whose `kid` claim, if any, names the key that signed it. The
 * caller checks its times. Never rejects.
 */
export const readJwt = async (
  token: string,
  type: string,
  keyOf: (kid: string) => SigningKey | undefined,
): Promise<TokenReading<object>> => {
  const refusal = shapeRefusal(token)
  if (refusal !== undefined) return { refusal }
  try {
    const { jwtVerify } = await import('jose')
    const { payload, protectedHeader } = await jwtVerify(
      token,
      (header) => publicKeyFor(header, type, keyOf),
      // At time zero nothing has expired: the caller checks the times.
      { algorithms: [ALGORITHM], typ: type, currentDate: new Date(0) },
    )
    const isMatching = payload['kid'] === undefined || payload['kid'] === protectedHeader.kid
    return isMatching ? { claims: payload } : { refusal: refusedToken('malformed', 'kid') }
  } catch (error) {
    return { refusal: refusalOfError(error, { alg: ALGORITHM, typ: type }) }
  }
}

/** A token of somebody else has neither our type nor our key: its type says more. */
const publicKeyFor = (
  { kid, typ }: JWTHeaderParameters,
  type: string,
  keyOf: (kid: string) => SigningKey | undefined,
): SigningKey['publicKey'] => {
  const key = kid === undefined ? undefined : keyOf(kid)
  if (key !== undefined) return key.publicKey
  throw new RefusedTokenError(
    typ === type
      ? refusedToken('unknown_key', 'kid', 'a key of the realm')
      : refusedToken('type', 'typ', type),
  )
}
