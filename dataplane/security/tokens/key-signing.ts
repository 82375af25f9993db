// Reads a private key and prepares it for signing and verifying. Only EC P-256 is supported, with one algorithm,
// ES256, for everything that this gateway signs. No message ever shows a key.

import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto'
import { childPointer } from '../../../base/json-pointer.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { Problem } from '../../../language/problem.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import {
  jwkOfScalar,
  type PrivateJwk,
  thumbprintOf,
} from '../../../language/realm/key-derivation.ts'
import type { SigningKey } from './token-keys.ts'
import { messageOf } from '../../../base/thrown.ts'

/** A signing key and its public half in the published form. */
export interface RealmKey extends SigningKey {
  readonly publicJwk: Readonly<Record<string, string>>
}

/**
 * Lists the problems of a realm's `signing_keys` when its record is loaded.
 * @example validateSigningKeys({ uri: 'a.b', signing_keys: ['x'] })[0]?.path // '/signing_keys/0'
 */
export const validateSigningKeys = ({ signing_keys: keys = [] }: RealmRecord): readonly Problem[] =>
  keys.flatMap((key, index) => {
    const error = findError(key)
    if (error === undefined) return []
    return [{ code: 'invalid_value', path: childPointer('/signing_keys', index), message: error }]
  })

const findError = (key: string | ValueMap): string | undefined => {
  try {
    readSigningKey(key)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * A private JWK, or PEM in PKCS#8 or SEC 1.
 * @throws Error that says what is wrong with it
 */
export const readSigningKey = (key: string | ValueMap): RealmKey => {
  const parsed = typeof key === 'string' ? parsePem(key) : parseJwk(key)
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = parsed
  if (type !== 'ec' || details?.namedCurve !== 'prime256v1')
    throw new Error('a signing key must be an EC key on the curve P-256 (ES256)')
  return toRealmKey(checkPair(parsed.export({ format: 'jwk' }) as unknown as PrivateJwk))
}

// The parser's messages may quote its input.
const parsePem = (text: string): KeyObject => {
  try {
    return createPrivateKey({ key: text, format: 'pem' })
  } catch {
    throw new Error('a signing key must be a private JWK, or PEM without a passphrase')
  }
}

const parseJwk = (jwk: ValueMap): KeyObject => {
  if (!Object.hasOwn(jwk, 'd'))
    throw new Error('a signing key must be a private JWK: this one has no member "d"')
  try {
    return createPrivateKey({ key: { ...jwk }, format: 'jwk' })
  } catch {
    throw new Error('a signing key must be a private JWK whose members belong together')
  }
}

/** Others verify with the point in the key: it must be the private key's own. */
const checkPair = (jwk: PrivateJwk): PrivateJwk => {
  const own = jwkOfScalar(Buffer.from(jwk.d, 'base64url'))
  if (own.x !== jwk.x || own.y !== jwk.y)
    throw new Error('a signing key must contain the public key that belongs to its private key')
  return own
}

/** @param jwk a valid key */
export const toRealmKey = ({ x, y, d }: PrivateJwk): RealmKey => {
  const privateKey = createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' })
  const kid = thumbprintOf({ x, y })
  const secret = Buffer.from(d, 'base64url')
  return {
    kid,
    alg: 'ES256',
    privateKey,
    publicKey: createPublicKey(privateKey),
    csrfKey: Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), 'svc-gateway csrf key', 32)),
    publicJwk: { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig' },
  }
}
