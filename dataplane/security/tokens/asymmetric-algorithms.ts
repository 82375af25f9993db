// Lists the algorithms that tokens of other issuers may be signed with (RFC 8725 §3.1).

/** Never symmetric ones: a client secret, or a public key that is taken for one, must not verify a token. */
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
