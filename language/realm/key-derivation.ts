// Derives the P-256 key of a realm from a master secret and the name of the realm: every process that knows the secret
// derives the same key, so that it need not be stored. The gateway names realms by their uri, the operator by the uid
// of the Realm. Pure.

import { createECDH, hash, hkdfSync } from 'node:crypto'

/** A private EC key as JWK (RFC 7518 §6.2). */
export interface PrivateJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
  readonly d: string
}

/** Order of the group of P-256 (FIPS 186-5, SP 800-186 §3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** 128 bits more than the order has, so that the bias of the remainder is negligible. */
const SEED_BYTES = 48

/**
 * HKDF-SHA256 (RFC 5869) over the secret and the name, brought into 1 … n−1 with extra random bits (FIPS 186-5 A.2.1).
 * @param master at least 32 bytes of a generator
 */
export const deriveRealmKey = (master: Uint8Array, realm: string): PrivateJwk => {
  const info = Buffer.from(`svc-gateway signing key\u0000${realm}`, 'utf8')
  const seed = Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), info, SEED_BYTES))
  const scalar = (BigInt(`0x${seed.toString('hex')}`) % (ORDER - 1n)) + 1n
  return jwkOfScalar(Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex'))
}

/** The key pair of a private scalar: 32 bytes, 1 … n−1. */
export const jwkOfScalar = (scalar: Buffer): PrivateJwk => {
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(scalar)
  // 0x04, then 32 bytes each of x and y (SEC 1 §2.3.3).
  const point = curve.getPublicKey()
  return {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33, 65).toString('base64url'),
    d: scalar.toString('base64url'),
  }
}

/** The identifier of a key: RFC 7638, the required members in the order of their names. */
export const thumbprintOf = ({ x, y }: Pick<PrivateJwk, 'x' | 'y'>): string =>
  hash('sha256', JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }), 'base64url')
