// Computes the HMAC of what a request says: its fields and the raw bytes of its body, as a form of
// `language/realm/signatures.ts` puts them together. The same for what is signed here and for what is verified.

import { createHmac, type KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { partsOf, type SignatureForm } from '../language/realm/signatures.ts'

export interface SignedValues {
  /** What stands for the fields of the text, but for the body. */
  readonly fields: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

type SignedForm = Pick<SignatureForm, 'algorithm' | 'signs'>

type Key = KeyObject | Uint8Array | string

/** @example hmacOf(PRESETS.github, 'secret', { fields: {}, body }).toString('hex') */
export const hmacOf = (form: SignedForm, key: Key, { fields, body }: SignedValues): Buffer =>
  beginHmac(form, key, fields).update(body).digest()

/** Some milliseconds with four keys. */
const PIECE_BYTES = 1024 * 1024

/** One of each key. Other work comes between the pieces of a large body. */
export const hmacsOf = async (
  form: SignedForm,
  keys: readonly Key[],
  { fields, body }: SignedValues,
): Promise<readonly Buffer[]> => {
  const hmacs = keys.map((key) => beginHmac(form, key, fields))
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    if (at > 0) await setImmediate()
    const piece = body.subarray(at, at + PIECE_BYTES)
    for (const hmac of hmacs) hmac.update(piece)
  }
  return hmacs.map((hmac) => hmac.digest())
}

/** With everything but the body, which ends the text. */
const beginHmac = (
  { algorithm, signs }: SignedForm,
  key: Key,
  fields: SignedValues['fields'],
): ReturnType<typeof createHmac> => {
  const hmac = createHmac(algorithm, key)
  for (const part of partsOf(signs))
    if ('text' in part) hmac.update(part.text)
    else if (part.field !== 'body') hmac.update(fields[part.field] ?? '')
  return hmac
}
