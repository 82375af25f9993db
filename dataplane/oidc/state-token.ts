// What a login knows in, an opaque text that the browser carries through the identity provider out; and back.
// Encrypted and authenticated (JWE dir/A256GCM) with a key of the whole deployment: any replica reads it.

import type { JWTPayload } from 'jose'

/** Of the ring (`--oidc-state-keys-file`): the newest encrypts, all decrypt. */
export interface StateKey {
  readonly kid: string
  /** 32 bytes. */
  readonly key: Uint8Array
}

export interface StateKeys {
  readonly current: StateKey
  readonly byKid: (kid: string) => StateKey | undefined
}

/** What the callback must know of its login. */
export interface LoginState {
  /** Names the login: its binding cookie, and what makes it single-use. */
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
}

export type StateReading =
  | { readonly ok: true; readonly state: LoginState }
  | { readonly ok: false; readonly error: 'invalid_state' | 'state_expired' }

export interface StateClock {
  /** Unix time, milliseconds. */
  readonly now: number
  readonly lifetimeSeconds: number
}

/** Clocks of replicas differ a little. */
export const STATE_TOLERANCE_SECONDS = 30

const TYP = 'svc-state+jwt'
const AUDIENCE = 'svc-oidc-callback'
// A redirect_uri of 2048 characters makes about 3.6 kB; the rest is never ours.
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

/** Integrity is checked before time: only a state of our own is ever `state_expired`. */
export const openState = async (
  text: string,
  keys: StateKeys,
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

/**
 * The ring of `{"keys": [{"kid", "k"}]}`, newest first, `k` 32 bytes base64url.
 * @throws Error saying what is wrong with the text, never the key
 */
export const readStateKeys = (text: string): StateKeys => {
  const parsed = parseJson(text)
  const entries =
    isRecord(parsed) && Array.isArray(parsed['keys']) ? (parsed['keys'] as unknown[]) : []
  const ring = new Map<string, StateKey>()
  for (const [index, entry] of entries.entries()) {
    const key = readKey(entry)
    if (key === undefined)
      throw new Error(`keys[${index}] must be {"kid": text, "k": 32 bytes as base64url}`)
    if (ring.has(key.kid)) throw new Error(`keys[${index}] repeats the kid of an earlier key`)
    ring.set(key.kid, key)
  }
  const [current] = ring.values()
  if (current === undefined) throw new Error('"keys" must be a list of at least one key')
  return { current, byKid: (kid) => ring.get(kid) }
}

const INVALID: StateReading = { ok: false, error: 'invalid_state' }

const keyOf = (keys: StateKeys, kid: string | undefined): Uint8Array => {
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
  return Object.fromEntries(entries) as Readonly<Record<(typeof FIELDS)[number], string>>
}

const readKey = (entry: unknown): StateKey | undefined => {
  if (!isRecord(entry)) return undefined
  const { kid, k } = entry
  if (typeof kid !== 'string' || kid === '' || typeof k !== 'string') return undefined
  const key = Buffer.from(k, 'base64url')
  return key.length === 32 ? { kid, key } : undefined
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error('the state keys are not JSON', { cause })
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
