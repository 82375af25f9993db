// Signs what is posted to callbacks: it computes headers from the realm's secret, an id, a time and the posted bytes.

import { PRESETS, secretBytes } from '../../../../language/realm/signatures.ts'
import { hmacOf } from '../../../signed-text.ts'

export interface SignedDelivery {
  readonly secret: string
  /** The same for every attempt, and for no other delivery. */
  readonly id: string
  readonly unixSeconds: number
  /** As it is posted. */
  readonly body: Uint8Array
}

/**
 * Names and values of the headers, in turn:
 * - `x-svc-signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>." and the body>`, with the characters of the secret.
 * - those of Standard Webhooks 1.0, with the bytes behind `whsec_` where the secret begins so, else its characters.
 *
 * @example
 * signatureHeaders({ secret, id, unixSeconds: 1700000000, body }) // ['x-svc-signature', 't=1700000000,v1=…', 'webhook-id', …]
 */
export const signatureHeaders = ({
  secret,
  id,
  unixSeconds,
  body,
}: SignedDelivery): readonly string[] => {
  const { standard, stripe } = PRESETS
  const timestamp = String(unixSeconds)
  const values = { fields: { id, timestamp }, body }
  const own = hmacOf(stripe, secret, values).toString(stripe.encoding)
  const signature = hmacOf(standard, secretBytes(secret, standard.secret), values)
  return [
    'x-svc-signature',
    `t=${timestamp},${stripe.prefix}${own}`,
    'webhook-id',
    id,
    'webhook-timestamp',
    timestamp,
    standard.signature,
    `${standard.prefix}${signature.toString(standard.encoding)}`,
  ]
}
