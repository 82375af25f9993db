import { describe, expect, it } from '@jest/globals'
import {
  ChallengeError,
  createAuthentication,
} from '../../../../dataplane/wamp/session/authentication.ts'
import type { SessionAuth } from '../../../../dataplane/wamp/session/joined-session.ts'

/** Another implementation of the same, by crypto-js and tweetnacl. */
const reference = (await import('autobahn')).default as {
  readonly auth_cra: {
    sign(key: string, challenge: string): string
    derive_key(secret: string, salt: string, iterations: number, keylen: number): string
  }
  readonly auth_cryptosign: { sign_challenge(key: unknown, extra: object): string }
  readonly nacl: { readonly sign: { readonly keyPair: { fromSeed(seed: Uint8Array): unknown } } }
}

const answer = (auth: SessionAuth, extra: Record<string, string | number>, method = auth.method) =>
  createAuthentication(auth).answer(method, extra)

const CHALLENGE = '{"authid":"peter","nonce":"LHRTC9zeOIrt_9U3","session":3251278072152162}'
const SEED = 'd511fe78e23934b3dadb52fcd022974b80bd92bccc7c5cf404e46cc0a8a2f5cd'

describe('createAuthentication', () => {
  it.each<[SessionAuth, object]>([
    [{ method: 'anonymous' }, { authmethods: ['anonymous'], authid: undefined }],
    [
      { method: 'ticket', authid: 'joe', secret: 's3cret' },
      { authmethods: ['ticket'], authid: 'joe', authextra: undefined },
    ],
    [
      { method: 'cryptosign', authid: 'joe', secret: SEED },
      {
        authmethods: ['cryptosign'],
        authid: 'joe',
        authextra: { pubkey: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ],
  ])('says in HELLO who it is, without a secret: %j', (auth, expected) => {
    const hello = createAuthentication(auth)
    expect(hello).toMatchObject(expected)
    expect(JSON.stringify(hello)).not.toContain(auth.secret ?? 's3cret')
  })

  it('a ticket is the secret', async () => {
    expect(await answer({ method: 'ticket', secret: 's3cret' }, {})).toBe('s3cret')
  })

  it('WAMP-CRA signs the challenge', async () => {
    const signed = await answer({ method: 'wampcra', secret: 's3cret' }, { challenge: CHALLENGE })
    expect(signed).toBe(reference.auth_cra.sign('s3cret', CHALLENGE))
  })

  it.each([
    [{ salt: 'salt123', iterations: 100, keylen: 16 }, 100, 16],
    [{ salt: 'sä\u00a0lt', iterations: 1, keylen: 32 }, 1, 32],
    [{ salt: 'salt123' }, 1000, 32],
  ])('WAMP-CRA derives the key of a salted secret: %j', async (salted, iterations, keylen) => {
    const secret = 'sécret'
    const key = reference.auth_cra.derive_key(secret, salted.salt, iterations, keylen)
    const signed = await answer({ method: 'wampcra', secret }, { challenge: CHALLENGE, ...salted })
    expect(signed).toBe(reference.auth_cra.sign(key, CHALLENGE))
  })

  // The vectors of the WAMP protocol, *Cryptosign-based Authentication*.
  it.each([
    [
      '4d57d97a68f555696620a6d849c0ce582568518d729eb753dc7c732de2804510',
      'ff'.repeat(32),
      'b32675b221f08593213737bef8240e7c15228b07028e19595294678c90d11c0c' +
        'ae80a357331bfc5cc9fb71081464e6e75013517c2cf067ad566a6b7b728e5d03',
    ],
    [
      SEED,
      'b26c1f87c13fc1da14997f1b5a71995dff8fbe0a62fae8473c7bdbd05bfb607d',
      'd4209ad10d5aff6bfbc009d7e924795de138a63515efc7afc6b01b7fe5201372' +
        '190374886a70207b042294af5bd64ce725cd8dceb344e6d11c09d1aaaf4d660f',
    ],
  ])('cryptosign signs with the seed %s', async (secret, challenge, signature) => {
    const signed = await answer({ method: 'cryptosign', secret }, { challenge })
    expect(signed).toBe(signature + challenge)
    const pair = reference.nacl.sign.keyPair.fromSeed(Buffer.from(secret, 'hex'))
    expect(signed).toBe(reference.auth_cryptosign.sign_challenge(pair, { challenge }))
  })

  const craSecret = { method: 'wampcra', secret: 'SECRET-TEXT' } as const
  const challenge = CHALLENGE
  it.each<[string, SessionAuth, Record<string, string | number>, SessionAuth['method']?]>([
    ['anonymous is asked', { method: 'anonymous' }, {}],
    ['another method', craSecret, { challenge }, 'ticket'],
    ['no challenge', craSecret, {}],
    ['a challenge that is no text', craSecret, { challenge: 7 }],
    ['a salt that is no text', craSecret, { challenge, salt: 1 }],
    ['too many iterations', craSecret, { challenge, salt: 's', iterations: 1e9 }],
    ['no iterations', craSecret, { challenge, salt: 's', iterations: 0 }],
    ['half an iteration', craSecret, { challenge, salt: 's', iterations: 1.5 }],
    ['too long a key', craSecret, { challenge, salt: 's', keylen: 1e9 }],
    ['a text to sign', { method: 'cryptosign', secret: SEED }, { challenge: 'pay 5' }],
    ['31 bytes to sign', { method: 'cryptosign', secret: SEED }, { challenge: 'ff'.repeat(31) }],
    ['nothing to sign', { method: 'cryptosign', secret: SEED }, {}],
  ])('refuses: %s', async (_name, auth, extra, ...[method]) => {
    const refused = answer(auth, extra, method)
    await expect(refused).rejects.toBeInstanceOf(ChallengeError)
    await expect(refused).rejects.not.toThrow(auth.secret ?? '###')
  })

  it.each(['NONE', 'SECRET-TEXT', SEED.slice(2), `${SEED}00`, `${SEED.slice(1)}g`])(
    'a seed that is none is refused without being named: %s',
    (secret) => {
      const create = () => createAuthentication({ method: 'cryptosign', secret })
      expect(create).toThrow('no seed of 32 bytes')
      expect(create).not.toThrow(secret)
    },
  )

  it('a seed that is missing is refused', () => {
    expect(() => createAuthentication({ method: 'cryptosign' })).toThrow('no seed of 32 bytes')
  })
})
