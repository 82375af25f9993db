// Starts an issuer of bearer tokens on loopback, which serves its keys at /jwks and signs tokens. A test may rotate
// keys, change the response, and see how often it was asked.

import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT } from 'jose'

export interface TestIssuer extends AsyncDisposable {
  readonly issuer: string
  readonly jwksUri: string
  /** Times it was asked. */
  asked: number
  /** Instead of the keys. */
  answer: ((response: ServerResponse) => void) | undefined
  keys: readonly Readonly<Record<string, unknown>>[]
  /** A new key, published; the last one signs. */
  addKey(alg: string, more?: Readonly<Record<string, unknown>>): KeyObject
  sign(claims?: object, header?: object): Promise<string>
}

export const AUDIENCE = 'https://api.example.com'

const PAIRS: Readonly<Record<string, () => { publicKey: KeyObject; privateKey: KeyObject }>> = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS512: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
  Ed25519: () => generateKeyPairSync('ed25519'),
}

export const startTestIssuer = async (): Promise<TestIssuer> => {
  let current: { readonly alg: string; readonly kid: string; readonly key: KeyObject } | undefined
  const server = createServer((_request, response) => {
    issuer.asked++
    if (issuer.answer !== undefined) issuer.answer(response)
    else response.end(JSON.stringify({ keys: issuer.keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer: TestIssuer = {
    issuer: `${origin}/`,
    jwksUri: `${origin}/jwks`,
    asked: 0,
    answer: undefined,
    keys: [],
    addKey: (alg, more = {}) => {
      const pair = PAIRS[alg]?.()
      if (pair === undefined) throw new Error(`no key for ${alg}`)
      const kid = `key-${issuer.keys.length + 1}`
      const jwk = pair.publicKey.export({ format: 'jwk' })
      issuer.keys = [...issuer.keys, { ...jwk, kid, alg, use: 'sig', ...more }]
      current = { alg, kid, key: pair.privateKey }
      return pair.privateKey
    },
    sign: (claims = {}, header = {}) => {
      const { alg, kid, key } = current ?? { alg: '', kid: '', key: undefined }
      if (key === undefined) throw new Error('the issuer has no key')
      const now = Math.floor(Date.now() / 1000)
      return new SignJWT({
        iss: issuer.issuer,
        sub: 'carol',
        aud: AUDIENCE,
        iat: now,
        exp: now + 3600,
        ...claims,
      })
        .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
        .sign(key)
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => {
          resolve()
        })
      }),
  }
  return issuer
}
