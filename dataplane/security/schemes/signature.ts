// Implements the hmac scheme (behaviour §6, *Signed requests*): it verifies the signature of a whole request by the secrets
// of a realm, and takes each delivery that says its time once.

import { createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import { oncePer } from '../../../base/once.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import {
  maxAgeSecondsOf,
  PRESETS,
  secretBytes,
  type SignatureForm,
  signatureFormOf,
} from '../../../language/realm/signatures.ts'
import { GatewayError, type SignatureReason } from '../../gateway-error.ts'
import type { SharedState } from '../../shared/shared-state.ts'
import { hmacsOf } from '../../signed-text.ts'
import type { Caller, WholeRequest } from './authentication.ts'
import { type AuthenticationResult, notPresented, type Refusal } from './authenticator.ts'
import { rejected, uncheckable } from './challenge.ts'
import { signatureIdentity } from './identity.ts'
import { isSigned, readSignedHead, type SignedHead } from './signed-head.ts'

export interface SignatureDeps {
  readonly shared: Pick<SharedState, 'replace'>
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** @param name of the signature in the realm */
export type VerifySignature = (
  name: string,
  record: RealmRecord,
  caller: Caller,
) => AuthenticationResult | Promise<AuthenticationResult>

/** What is wrong before the body is read costs no more than the head. */
export const createSignature = (deps: SignatureDeps): VerifySignature => {
  const takeOnce = createDeliveries(deps.shared)
  return (name, record, caller) => {
    const { uri } = record
    const { whole } = caller
    const signature = signaturesOf(record).get(name)
    if (signature === undefined || whole === undefined)
      return refused(uri, name, 'unknown_signature')
    const { form, maxAgeSeconds } = signature
    const { rawHeaders } = caller.request
    const head = readSignedHead(form, name, { rawHeaders, query: whole.query })
    if (head === 'absent') return notPresented('hmac', uri)
    if (head === 'malformed') return refused(uri, name, 'signature_malformed')
    const nowSeconds = deps.now() / 1000
    if (head.seconds !== undefined && Math.abs(nowSeconds - head.seconds) > maxAgeSeconds)
      return refused(uri, name, 'signature_expired')
    return verify({ name, record, signature, head, whole, takeOnce, now: deps.now })
  }
}

interface Signature {
  readonly form: SignatureForm
  readonly keys: readonly KeyObject[]
  readonly maxAgeSeconds: number
}

const signaturesOf = oncePer(
  ({ signatures = {} }: RealmRecord): ReadonlyMap<string, Signature> =>
    new Map(
      Object.entries(signatures).map(([name, record]) => {
        const form = signatureFormOf(record)
        const keys = record.secrets.map((each) => createSecretKey(secretBytes(each, form.secret)))
        return [name, { form, keys, maxAgeSeconds: maxAgeSecondsOf(record) }]
      }),
    ),
)

/** Where the credentials of a request stand. */
export interface CredentialSource extends Pick<Caller, 'whole'> {
  readonly request: Pick<Caller['request'], 'rawHeaders'>
}

/** Whether a request has a signature for this name. One that the realm lacks is looked for where most senders have it. */
export const hasSignature = (
  record: RealmRecord,
  name: string,
  { request, whole }: CredentialSource,
): boolean => {
  const form = signaturesOf(record).get(name)?.form
  const { rawHeaders } = request
  return isSigned(form ?? PRESETS.standard, { rawHeaders, query: whole?.query ?? '' })
}

interface Verification {
  readonly name: string
  readonly record: RealmRecord
  readonly signature: Signature
  readonly head: SignedHead
  readonly whole: WholeRequest
  readonly takeOnce: TakeOnce
  readonly now: () => number
}

/** What it yields stands for the id where a form has none: a sender may add signatures to a header, and change their order. */
const DELIVERY_KEY = createSecretKey(Buffer.from('delivery'))

const verify = async (verification: Verification): Promise<AuthenticationResult> => {
  const { name, record, signature, head, whole } = verification
  let body: Uint8Array
  try {
    body = await whole.readBody()
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { kind: 'refused', error, reason: 'unread_body', authid: name }
  }
  const { form, keys } = signature
  const all = [DELIVERY_KEY, ...keys]
  const [delivery, ...right] = await hmacsOf(form, all, { fields: head.fields, body })
  if (!right.some((each) => head.signatures.some((given) => timingSafeEqual(each, given))))
    return refused(record.uri, name, 'signature_wrong')
  const refusal = await refuseReplay(verification, delivery?.toString('hex'))
  return (
    refusal ?? {
      kind: 'identity',
      identity: signatureIdentity(record.uri, name),
      // Of this request alone.
      validity: { until: 0, revocationKeys: [] },
    }
  )
}

const refuseReplay = async (
  { name, record: { uri }, signature, head, whole, takeOnce, now }: Verification,
  delivery: string | undefined,
): Promise<Refusal | undefined> => {
  const { fields, seconds } = head
  if (seconds === undefined) return undefined
  const { maxAgeSeconds } = signature
  const nowSeconds = now() / 1000
  // Its body may have taken longer than what was taken is remembered.
  if (nowSeconds - seconds > maxAgeSeconds) return refused(uri, name, 'signature_expired')
  const id = fields['id'] ?? delivery
  const key = hash('sha256', JSON.stringify([name, fields['timestamp'], id]), 'base64url')
  const owner = hash('sha256', uri, 'base64url').slice(0, OWNER_CHARACTERS)
  const ttlSeconds = seconds + maxAgeSeconds - nowSeconds + CLOCK_SECONDS
  try {
    const release = await takeOnce(`signed:${owner}:${key}`, ttlSeconds)
    if (release === undefined) return replayed(name)
    whole.onAnswered((status) => {
      if (status >= 500 || status === 429) release()
    })
    return undefined
  } catch {
    const error = uncheckable('It can not be found out whether this delivery came before', 1)
    return { kind: 'refused', error, reason: 'replays_unknown', authid: name }
  }
}

const OWNER_CHARACTERS = 16

/** Clocks of gateways may differ: none may still take what another one has forgotten. */
const CLOCK_SECONDS = 60

/** undefined: it was taken before. What is returned lets it come again. */
type TakeOnce = (key: string, ttlSeconds: number) => Promise<(() => void) | undefined>

const TAKEN = '1'
const RELEASED = '0'

const createDeliveries =
  (shared: SignatureDeps['shared']): TakeOnce =>
  async (key, ttlSeconds) => {
    const isTaken =
      (await shared.replace(key, undefined, TAKEN, ttlSeconds)) ||
      (await shared.replace(key, RELEASED, TAKEN, ttlSeconds))
    if (!isTaken) return undefined
    return () => {
      // Then it stays taken, and the sender's next attempt has a time of its own.
      shared.replace(key, TAKEN, RELEASED, ttlSeconds).catch(() => undefined)
    }
  }

const refused = (
  uri: string,
  name: string,
  reason: Exclude<SignatureReason, 'signature_replayed'> | 'unknown_signature',
): Refusal => ({
  kind: 'refused',
  error: rejected('hmac', uri, reason === 'unknown_signature' ? undefined : reason),
  reason,
  authid: name,
})

const replayed = (name: string): Refusal => ({
  kind: 'refused',
  error: new GatewayError('svc.error.conflict', 'This delivery was taken before', {
    description:
      'The same id came with the same timestamp. Sign another attempt with its own time.',
    reason: 'signature_replayed',
  }),
  reason: 'signature_replayed',
  authid: name,
})
