// JWTs that this gateway makes for itself: claims and a key in, a token out, and back. Every choice an attacker
// could make in a header (RFC 8725 §3) is made here instead: one algorithm, one type, keys by id from a ring.

import type { SigningKey } from './token-keys.ts'

const ALGORITHM = 'ES256'
/** Longer than any token of ours: nothing larger is even looked at. */
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
 * The claims of a genuine token of that type whose `kid` claim, if any, names the key that signed it. Its times
 * are for the caller to judge. Never rejects.
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
      // At the beginning of time nothing has expired yet.
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
