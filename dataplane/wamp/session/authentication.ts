// Builds what HELLO says of the authentication of a realm, and responds to the router's CHALLENGE. The secret goes
// nowhere else: not into an error, not into a log.

import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  pbkdf2,
  sign,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'
import { CodedError } from '../../../base/coded-error.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { SessionAuth } from './joined-session.ts'

export interface Authentication {
  readonly authmethods: readonly string[]
  readonly authid: string | undefined
  readonly authextra: ValueMap | undefined
  /** AUTHENTICATE.Signature. Rejects with a ChallengeError. */
  answer(method: string, extra: ValueMap): Promise<string>
}

type ChallengeErrorCode =
  | 'other_method' // the router asks for another one than the realm is set to use
  | 'malformed_challenge'
  | 'unusable_secret' // it cannot serve the method

/**
 * The router asks for something that we do not have, or should not give. Never names a secret.
 * @internal
 */
export class ChallengeError extends CodedError<ChallengeErrorCode> {}

interface Method {
  readonly authextra?: ValueMap
  answer(extra: ValueMap): string | Promise<string>
}

// A router is trusted with our calls, not with our processor: a million iterations take about half a second of it.
const MAX_ITERATIONS = 1_000_000
const MAX_KEY_BYTES = 1024

/**
 * WAMP protocol, *Authentication Methods*: ticket, WAMP-CRA (salted too), WAMP-Cryptosign without channel
 * binding.
 *
 * @throws ChallengeError when the secret can't serve the method
 * @example
 * await createAuthentication({ method: 'ticket', authid: 'gateway', secret }).answer('ticket', {})
 */
export const createAuthentication = (auth: SessionAuth): Authentication => {
  const method = makeMethod(auth)
  return {
    authmethods: [auth.method],
    authid: auth.authid,
    authextra: method.authextra,
    answer: async (requestedMethod, extra) => {
      if (requestedMethod !== auth.method) {
        throw new ChallengeError(
          'other_method',
          `the router asks for another method than ${auth.method}, which the realm is set to use`,
        )
      }
      return method.answer(extra)
    },
  }
}

const makeMethod = ({ method, secret }: SessionAuth): Method => METHODS[method](secret ?? '')

const METHODS = {
  anonymous: () => ({
    answer: () => {
      throw new ChallengeError('other_method', 'the router asks anonymous for proof')
    },
  }),
  ticket: (secret) => ({ answer: () => secret }),
  wampcra: (secret) => ({
    answer: async (extra) => {
      const challenge = extra['challenge']
      if (typeof challenge !== 'string')
        throw new ChallengeError('malformed_challenge', 'CHALLENGE without a challenge')
      const key = extra['salt'] === undefined ? secret : await deriveKey(secret, extra)
      return createHmac('sha256', key).update(challenge).digest('base64')
    },
  }),
  cryptosign: (secret) => {
    const key = readSeed(secret)
    return { authextra: { pubkey: publicHex(key) }, answer: (extra) => signChallenge(key, extra) }
  },
} satisfies Record<SessionAuth['method'], (secret: string) => Method>

const derive = promisify(pbkdf2)

/** The derived key is used as base64 text, not as bytes (WAMP protocol, *Salted Passwords*). */
const deriveKey = async (secret: string, extra: ValueMap): Promise<string> => {
  const { salt, iterations = 1000, keylen = 32 } = extra
  if (
    typeof salt !== 'string' ||
    !isWholeUpTo(iterations, MAX_ITERATIONS) ||
    !isWholeUpTo(keylen, MAX_KEY_BYTES)
  ) {
    throw new ChallengeError(
      'malformed_challenge',
      'CHALLENGE with a salt, iterations or key length that is none',
    )
  }
  return (await derive(secret, salt, iterations, keylen, 'sha256')).toString('base64')
}

const isWholeUpTo = (value: unknown, max: number): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max

// RFC 8410 §7: a PKCS #8 wrapping of an Ed25519 seed is this and the seed.
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const SEED = /^[0-9a-fA-F]{64}$/

const readSeed = (secret: string): KeyObject => {
  if (!SEED.test(secret)) {
    throw new ChallengeError(
      'unusable_secret',
      'the cryptosign secret is no seed of 32 bytes in hex (64 digits)',
    )
  }
  const der = Buffer.concat([PKCS8_HEAD, Buffer.from(secret, 'hex')])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

const publicHex = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')

/** Exactly 32 bytes are signed: a router must not get our signature under a text of its choice. */
const signChallenge = (key: KeyObject, extra: ValueMap): string => {
  const challenge = extra['challenge']
  if (typeof challenge !== 'string' || !SEED.test(challenge)) {
    throw new ChallengeError('malformed_challenge', 'CHALLENGE without 32 bytes in hex')
  }
  return sign(null, Buffer.from(challenge, 'hex'), key).toString('hex') + challenge
}
