// Seals what a login needs into an opaque text that the browser carries through the identity provider, and opens it
// again. It is encrypted and authenticated (JWE dir/A256GCM) with a key of the whole deployment, so that any replica
// can read it.

import type { JWTPayload } from 'jose'
import type { StateKey, StateKeys } from '../../../language/realm/key-ring.ts'

/** What the callback needs to know of its login. */
export interface LoginState {
  /** The id of the login, for its binding cookie and for using it only once. */
  readonly id: string
  readonly realm: string
  readonly provider: string
  readonly redirectUri: string
  readonly clientId: string
  readonly deviceId: string
  readonly nonce: string
  /** PKCE code verifier (RFC 7636). */
  readonly verifier: string
  /** base64url SHA-256 of the binding cookie's value. */
  readonly binding: string
  /** `'true'`: the gateway had redirected the browser to the login. Gateways of older versions ignore it. */
  readonly redirected?: 'true'
}

export type StateReading =
  | { readonly ok: true; readonly state: LoginState }
  | { readonly ok: false; readonly error: 'invalid_state' | 'state_expired' }

export interface StateClock {
  /** Unix time, milliseconds. */
  readonly now: number
  readonly lifetimeSeconds: number
}

/** For differences between the clocks of replicas. */
export const STATE_TOLERANCE_SECONDS = 30

const TYP = 'svc-state+jwt'
const AUDIENCE = 'svc-oidc-callback'
// A redirect_uri of 2048 characters leads to about 3.6 kB; larger texts are never ours.
const MAX_STATE_CHARS = 8192

/** @example await sealState(state, keys.current, { now: Date.now(), lifetimeSeconds: 600 }) // 'eyJ…' */
export const sealState = async (
  state: LoginState,
  { kid, key }: StateKey,
  { now, lifetimeSeconds }: StateClock,
): Promise<string> => {
  const { EncryptJWT } = await import('jose')
  const issuedAt = Math.floor(now / 1000)
  return new EncryptJWT({ ...state })
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid, typ: TYP })
    .setAudience(AUDIENCE)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .encrypt(key)
}

/** Checks integrity before time, so that only our own states can be `state_expired`. */
export const openState = async (
  text: string,
  keys: Pick<StateKeys, 'byKid'>,
  now: number,
): Promise<StateReading> => {
  if (text.length > MAX_STATE_CHARS) return INVALID
  const { jwtDecrypt, errors } = await import('jose')
  try {
    const { payload } = await jwtDecrypt(text, ({ kid }) => keyOf(keys, kid), {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      typ: TYP,
      audience: AUDIENCE,
      requiredClaims: ['iat', 'exp'],
      clockTolerance: STATE_TOLERANCE_SECONDS,
      currentDate: new Date(now),
    })
    const state = readLoginState(payload)
    return state === undefined ? INVALID : { ok: true, state }
  } catch (error) {
    return error instanceof errors.JWTExpired ? { ok: false, error: 'state_expired' } : INVALID
  }
}

const INVALID: StateReading = { ok: false, error: 'invalid_state' }

const keyOf = (keys: Pick<StateKeys, 'byKid'>, kid: string | undefined): Uint8Array => {
  const key = kid === undefined ? undefined : keys.byKid(kid)
  if (key === undefined) throw new Error('no state key of this kid')
  return key.key
}

const FIELDS = [
  'id',
  'realm',
  'provider',
  'redirectUri',
  'clientId',
  'deviceId',
  'nonce',
  'verifier',
  'binding',
] as const satisfies readonly (keyof LoginState)[]

const readLoginState = (payload: JWTPayload): LoginState | undefined => {
  const isWhole = FIELDS.every((field) => typeof payload[field] === 'string')
  if (!isWhole) return undefined
  const entries = FIELDS.map((field) => [field, payload[field] as string] as const)
  const state = Object.fromEntries(entries) as Readonly<Record<(typeof FIELDS)[number], string>>
  return payload['redirected'] === 'true' ? { ...state, redirected: 'true' } : state
}
