// How tokens of others may be signed (RFC 8725 §3.1).

/** Never symmetric ones: a client secret, or a public key that passes for one, is no signing key. */
export const ASYMMETRIC_ALGORITHMS: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
