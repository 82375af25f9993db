// Signs and verifies the JWTs that this gateway issues for itself. Every choice that an attacker could make in a
// header (RFC 8725 §3) is fixed here instead: one algorithm, one type, keys by id from a ring.

import type { SigningKey } from './token-keys.ts'

const ALGORITHM = 'ES256'
/** Longer than any token of this gateway: larger ones are rejected unread. */
export const MAX_TOKEN_LENGTH = 8192

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
): Promise<object | undefined> => {
  if (!isCompactJwt(token)) return undefined
  try {
    const { jwtVerify } = await import('jose')
    const { payload, protectedHeader } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = kid === undefined ? undefined : keyOf(kid)
        if (key === undefined) throw new Error('no such key')
        return key.publicKey
      },
      // At time zero nothing has expired: the caller checks the times.
      { algorithms: [ALGORITHM], typ: type, currentDate: new Date(0) },
    )
    const isMatching = payload['kid'] === undefined || payload['kid'] === protectedHeader.kid
    return isMatching ? payload : undefined
  } catch {
    return undefined
  }
}

/** Three parts of base64url, 8 KiB at most. */
export const isCompactJwt = (token: string): boolean =>
  token.length <= MAX_TOKEN_LENGTH && COMPACT.test(token)

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/
