// Defines the interface to the keys that sign tickets and access tokens: one ring per realm, with public halves that
// are published.

import type { KeyObject } from 'node:crypto'

export interface SigningKey {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string
  readonly alg: 'ES256'
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** HKDF of the private key, from which CSRF values of tickets signed by it are derived. */
  readonly csrfKey: Buffer
}

export interface TokenKeys {
  /** The first of the realm's `signing_keys`, or one that only this gateway uses for this realm. */
  signingKey(realmUri: string): SigningKey
  /** Any key of the ring of that realm; never another realm's. */
  verificationKey(realmUri: string, kid: string): SigningKey | undefined
  /** Public keys of all realms that are served, for `/.well-known/jwks.json`. */
  publicKeys(): readonly Readonly<Record<string, string>>[]
}
