// Derives the keys of a Realm that names none from the secrets of the operator and the uid of the Realm. They are the
// same for everyone who knows the secrets, so nothing is stored for a Realm. Pure.

import type { ValueMap } from '../../language/expression/value.ts'
import { deriveRealmKey, thumbprintOf } from '../../language/realm/key-derivation.ts'
import type { KeyRing } from '../../language/realm/key-ring.ts'

export interface MadeKey {
  /** RFC 7638 thumbprint of the public half: reveals nothing of the key. */
  readonly kid: string
  /** Private. */
  readonly jwk: ValueMap
}

/**
 * One for each secret, in their order: the first signs, all verify. By uid, not by uri: who gets the uri after a Realm is
 * gone must not accept what was signed for those before.
 * @example madeKeys(ring, realm.metadata.uid).map(({ kid }) => kid)
 */
export const madeKeys = ({ keys }: KeyRing, uid: string): readonly MadeKey[] =>
  keys.map(({ k }) => {
    const jwk = deriveRealmKey(Buffer.from(k, 'base64url'), uid)
    return { kid: thumbprintOf(jwk), jwk: { ...jwk } }
  })
