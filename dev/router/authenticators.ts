// Authenticates clients of the router: chooses a method, makes a challenge and checks the response to it. Stores nothing;
// an unknown user is challenged like a known one and fails like one with a wrong secret.

import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import type { ValueMap } from '../../language/expression/value.ts'
import type { RealmOptions, RouterUser } from './router-options.ts'
import type { Identity } from './session.ts'
import type { RouterDeps } from './router-deps.ts'
import { drawId } from './wamp-id.ts'

export interface Applicant {
  readonly sessionId: number
  readonly authid: string
}

export type Entry =
  /** No challenge is needed. */
  | { readonly kind: 'admitted'; readonly identity: Identity }
  | { readonly kind: 'challenge'; readonly method: UserMethod; readonly challenge: Challenge }

export interface Challenge {
  readonly extra: ValueMap
  /** Undefined: rejected. */
  readonly check: (signature: string) => Identity | undefined
}

export type UserMethod = RouterUser['method']

/**
 * The first of the client's methods that the realm has, in the client's order.
 * @returns undefined where there is none
 */
export const openEntry = (
  realm: RealmOptions,
  methods: readonly unknown[],
  applicant: Applicant,
  deps: RouterDeps,
): Entry | undefined => {
  for (const method of methods) {
    if (method === 'anonymous' && realm.anonymous === true) {
      return { kind: 'admitted', identity: anonymous(deps) }
    }
    const challenge = isUserMethod(method)
      ? openChallenge(realm.users ?? [], method, applicant, deps)
      : undefined
    if (challenge !== undefined) return challenge
  }
  return undefined
}

/** An unknown user is challenged like a known one, with a random secret. */
const openChallenge = (
  users: readonly RouterUser[],
  method: UserMethod,
  applicant: Applicant,
  deps: RouterDeps,
): Entry | undefined => {
  const candidates = users.filter((user) => user.method === method)
  const { authid } = applicant
  const user =
    candidates.find((candidate) => candidate.authid === authid) ??
    candidates.map((example) => ({ ...example, authid, secret: unknownSecret(deps) }))[0]
  if (user === undefined) return undefined
  return { kind: 'challenge', method, challenge: CHALLENGES[method](user, applicant, deps) }
}

const unknownSecret = ({ randomBytes }: RouterDeps): string => randomBytes(32).toString('hex')

const anonymous = ({ randomBytes }: RouterDeps): Identity => ({
  authid: drawId(randomBytes).toString(16),
  authrole: 'client',
  authmethod: 'anonymous',
  authprovider: 'static',
})

type OpenChallenge = (user: RouterUser, applicant: Applicant, deps: RouterDeps) => Challenge

const isUserMethod = (method: unknown): method is UserMethod =>
  typeof method === 'string' && Object.hasOwn(CHALLENGES, method)

const identityOf = ({ authid, role, method }: RouterUser): Identity => ({
  authid,
  authrole: role,
  authmethod: method,
  authprovider: 'static',
})

const admitIf = (isRight: boolean, user: RouterUser): Identity | undefined =>
  isRight ? identityOf(user) : undefined

const challengeTicket: OpenChallenge = (user) => ({
  extra: {},
  check: (signature) => admitIf(isSameText(signature, user.secret), user),
})

const challengeWampCra: OpenChallenge = (user, { sessionId }, { now, randomBytes }) => {
  const challenge = JSON.stringify({
    ...identityOf(user),
    nonce: randomBytes(16).toString('hex'),
    session: sessionId,
    timestamp: now().toISOString(),
  })
  const wanted = createHmac('sha256', user.secret).update(challenge).digest('base64')
  return {
    extra: { challenge },
    check: (signature) => admitIf(isSameText(signature, wanted), user),
  }
}

const SIGNATURE_BYTES = 64

/** The response is the signature and what was signed, in hex. */
const challengeCryptosign: OpenChallenge = (user, _applicant, { randomBytes }) => {
  const challenge = randomBytes(32)
  return {
    extra: { challenge: challenge.toString('hex'), channel_binding: null },
    check: (response) => {
      const bytes = Buffer.from(response, 'hex')
      const isOfChallenge = bytes.subarray(SIGNATURE_BYTES).equals(challenge)
      const signature = bytes.subarray(0, SIGNATURE_BYTES)
      return admitIf(isOfChallenge && isSigned(challenge, signature, user.secret), user)
    },
  }
}

const CHALLENGES = {
  ticket: challengeTicket,
  wampcra: challengeWampCra,
  cryptosign: challengeCryptosign,
} satisfies Record<UserMethod, OpenChallenge>

const isSigned = (data: Buffer, signature: Buffer, publicKeyHex: string): boolean => {
  const x = Buffer.from(publicKeyHex, 'hex').toString('base64url')
  try {
    const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } })
    return verify(null, data, key, signature)
  } catch {
    // An invalid key: sometimes of an unknown user, or of a user whose key is misspelt.
    return false
  }
}

const isSameText = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
