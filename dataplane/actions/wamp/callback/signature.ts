// Signs a callback: it computes a header value from the realm's secret, a time and the posted bytes.

import { createHmac } from 'node:crypto'

/**
 * Value of `x-svc-signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>." and the body>`.
 *
 * A receiver reads `t` and `v1` from the header, computes the HMAC of the characters of `t`, a dot and the
 * raw body with the shared secret, compares it with `v1` in constant time, and rejects a `t` that is more than some
 * minutes from its own clock, or a delivery id (`x-svc-delivery`) that it has already seen.
 *
 * @example
 * signatureOf('secret', 1700000000, Buffer.from('{}')) // 't=1700000000,v1=…'
 */
export const signatureOf = (secret: string, unixSeconds: number, body: Uint8Array): string => {
  const digest = createHmac('sha256', secret).update(`${unixSeconds}.`).update(body).digest('hex')
  return `t=${unixSeconds},v1=${digest}`
}
