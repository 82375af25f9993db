import { describe, expect, it } from '@jest/globals'
import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK } from 'jose'
import { deriveRealmKey, jwkOfScalar } from '../../../../language/realm/key-derivation.ts'
import { createTokenKeys } from '../../../../dataplane/security/tokens/key-realms.ts'
import { createKeyRing, type KeyRing } from '../../../../language/realm/key-ring.ts'
import {
  validateSigningKeys,
  readSigningKey,
} from '../../../../dataplane/security/tokens/key-signing.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'

const ec = (curve = 'P-256') => generateKeyPairSync('ec', { namedCurve: curve }).privateKey
const jwk = (key = ec()): ValueMap => key.export({ format: 'jwk' }) as unknown as ValueMap
const pem = (type: 'pkcs8' | 'sec1', key = ec()): string =>
  key.export({ format: 'pem', type }) as string

const keysOf = (records: readonly RealmRecord[], master: KeyRing = createKeyRing(randomBytes)) => {
  const realms = new Map(records.map((record) => [record.uri, record]))
  return {
    realms,
    ...createTokenKeys({ realms: (uri) => realms.get(uri), uris: () => realms.keys(), master }),
  }
}

describe('a derived key', () => {
  const master = Buffer.alloc(32, 1)

  it('is the same wherever the master is, and stays what it was in earlier releases', () => {
    expect(deriveRealmKey(master, 'com.acme')).toEqual(deriveRealmKey(master, 'com.acme'))
    expect(deriveRealmKey(master, 'com.acme').d).toBe(DERIVED_D)
  })

  it.each([['com.acme2'], ['com.acm'], ['COM.ACME'], [''], ['com.acme\u0000'], ['é']])(
    'of %j is another one',
    (uri) => {
      expect(deriveRealmKey(master, uri).d).not.toBe(deriveRealmKey(master, 'com.acme').d)
    },
  )

  it('of another master is another one', () => {
    expect(deriveRealmKey(Buffer.alloc(32, 2), 'com.acme').d).not.toBe(
      deriveRealmKey(master, 'com.acme').d,
    )
  })

  it('is a pair', () => {
    const key = ec()
    const { d, x, y } = key.export({ format: 'jwk' })
    expect(jwkOfScalar(Buffer.from(d ?? '', 'base64url'))).toEqual({
      kty: 'EC',
      crv: 'P-256',
      d,
      x,
      y,
    })
  })
})

/** Made once by hand from RFC 5869 and FIPS 186-5 A.2.1: another value would end every session at an update. */
const DERIVED_D = '_ePpSM8O0AE5UAoATmdpf3JwX31jfz7pu0dNFMYytlQ'

describe('readSigningKey', () => {
  it.each([
    ['a JWK', jwk()],
    ['a JWK with more members', { ...jwk(), kid: 'mine', alg: 'ES256', use: 'sig' }],
    ['PKCS#8', pem('pkcs8')],
    ['SEC 1', pem('sec1')],
  ])('%s', async (_, given) => {
    const key = readSigningKey(given)
    const data = Buffer.from('data')
    const options = { dsaEncoding: 'ieee-p1363' as const }
    const signature = sign('sha256', data, { key: key.privateKey, ...options })
    expect(verify('sha256', data, { key: key.publicKey, ...options }, signature)).toBe(true)
    expect(key.kid).toBe(await calculateJwkThumbprint(await exportJWK(key.publicKey)))
    expect(Object.keys(key.publicJwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    expect(key.csrfKey).toHaveLength(32)
    expect(readSigningKey(given).csrfKey).toEqual(key.csrfKey)
  })
})

describe('validateSigningKeys', () => {
  const other = jwk()

  it.each<[string, string | ValueMap, string]>([
    ['no key', 'secret text', 'a private JWK, or PEM'],
    [
      'a public PEM',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
        format: 'pem',
        type: 'spki',
      }) as string,
      'PEM',
    ],
    [
      'an encrypted PEM',
      ec().export({
        format: 'pem',
        type: 'pkcs8',
        cipher: 'aes-256-cbc',
        passphrase: 'p',
      }) as string,
      'without a passphrase',
    ],
    [
      'RSA',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
        format: 'pem',
        type: 'pkcs8',
      }) as string,
      'P-256',
    ],
    ['P-384', jwk(ec('P-384')), 'P-256'],
    ['secp256k1', pem('pkcs8', ec('secp256k1')), 'P-256'],
    [
      'Ed25519',
      generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as unknown as ValueMap,
      'P-256',
    ],
    [
      'a public JWK',
      { kty: 'EC', crv: 'P-256', x: other['x'] ?? '', y: other['y'] ?? '' },
      'no member "d"',
    ],
    ['a symmetric JWK', { kty: 'oct', k: 'c2VjcmV0' }, 'no member "d"'],
    ['halves of two keys', { ...jwk(), x: other['x'] ?? '', y: other['y'] ?? '' }, 'belong'],
    ['an inherited d', Object.create(other) as ValueMap, 'no member "d"'],
    ['nothing', {}, 'no member "d"'],
  ])('%s', (_, key, message) => {
    const problems = validateSigningKeys({ uri: 'a.b', signing_keys: [jwk(), key] })
    expect(problems).toEqual([
      {
        code: 'invalid_value',
        path: '/signing_keys/1',
        message: expect.stringContaining(message),
      },
    ])
    expect(JSON.stringify(problems)).not.toMatch(/secret|BEGIN/)
  })

  it('finds nothing in good ones, or none', () => {
    expect(validateSigningKeys({ uri: 'a.b', signing_keys: [jwk(), pem('sec1')] })).toEqual([])
    expect(validateSigningKeys({ uri: 'a.b' })).toEqual([])
  })
})

describe('createTokenKeys', () => {
  it('derives where a realm gives none: the same in every process, another one for each realm', () => {
    const master = createKeyRing(randomBytes)
    const records = [{ uri: 'a.b' }, { uri: 'a.c' }]
    const [one, other] = [keysOf(records, master), keysOf(records, master)]
    expect(one.signingKey('a.b').kid).toBe(other.signingKey('a.b').kid)
    expect(one.signingKey('a.b').kid).not.toBe(one.signingKey('a.c').kid)
    expect(one.verificationKey('a.c', one.signingKey('a.b').kid)).toBeUndefined()
    expect(one.signingKey('a.b')).toBe(one.signingKey('a.b'))
    expect(keysOf(records).signingKey('a.b').kid).not.toBe(one.signingKey('a.b').kid)
  })

  it('verifies with the keys of older masters', () => {
    const [old, fresh] = [createKeyRing(randomBytes), createKeyRing(randomBytes)]
    const before = keysOf([{ uri: 'a.b' }], old).signingKey('a.b').kid
    const after = keysOf([{ uri: 'a.b' }], { keys: [...fresh.keys, ...old.keys] })
    expect(after.signingKey('a.b').kid).not.toBe(before)
    expect(after.verificationKey('a.b', before)?.kid).toBe(before)
    expect(after.publicKeys().map(({ kid }) => kid)).toContain(before)
  })

  it("signs with the first of a realm's own and verifies with all of them, and no others", () => {
    const master = createKeyRing(randomBytes)
    const derived = keysOf([{ uri: 'a.b' }], master).signingKey('a.b').kid
    const [first, second] = [jwk(), pem('pkcs8')]
    const keys = keysOf([{ uri: 'a.b', signing_keys: [first, second] }], master)
    const kids = [readSigningKey(first).kid, readSigningKey(second).kid]
    expect(keys.signingKey('a.b').kid).toBe(kids[0])
    expect(kids.map((kid) => keys.verificationKey('a.b', kid)?.kid)).toEqual(kids)
    expect(keys.verificationKey('a.b', derived)).toBeUndefined()
    expect(keys.publicKeys().map(({ kid }) => kid)).toEqual(kids)
    expect(JSON.stringify(keys.publicKeys())).not.toContain('"d"')
  })

  it('follows the record', () => {
    const keys = keysOf([{ uri: 'a.b' }])
    const derived = keys.signingKey('a.b').kid
    const own = jwk()
    keys.realms.set('a.b', { uri: 'a.b', signing_keys: [own] })
    expect(keys.signingKey('a.b').kid).toBe(readSigningKey(own).kid)
    expect(keys.verificationKey('a.b', derived)).toBeUndefined()
    keys.realms.delete('a.b')
    expect(() => keys.signingKey('a.b')).toThrow('not there')
    expect(keys.verificationKey('a.b', readSigningKey(own).kid)).toBeUndefined()
    expect(keys.publicKeys()).toEqual([])
  })

  it('has nothing where keys can not be read', () => {
    const keys = keysOf([{ uri: 'a.b', signing_keys: [jwk(), 'broken'] }, { uri: 'a.c' }])
    expect(() => keys.signingKey('a.b')).toThrow('a signing key must be')
    expect(keys.verificationKey('a.b', 'x')).toBeUndefined()
    expect(keys.publicKeys().map(({ kid }) => kid)).toEqual([keys.signingKey('a.c').kid])
  })

  it.each([['__proto__'], ['constructor'], ['']])('knows no key %j', (kid) => {
    expect(keysOf([{ uri: 'a.b' }]).verificationKey('a.b', kid)).toBeUndefined()
    expect(keysOf([{ uri: 'a.b' }]).verificationKey(kid, kid)).toBeUndefined()
  })
})
