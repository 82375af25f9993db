// Provides the signing keys of each realm: those of its record, or keys derived for it from the gateway's master
// ring. Keys live as long as the record they were read from.

import type { RealmRecord } from '../../../language/realm/record.ts'
import { oncePer } from '../../../base/once.ts'
import { deriveRealmKey } from '../../../language/realm/key-derivation.ts'
import type { KeyRing } from '../../../language/realm/key-ring.ts'
import { readSigningKey, type RealmKey, toRealmKey } from './key-signing.ts'
import type { SigningKey, TokenKeys } from './token-keys.ts'

export interface TokenKeysOptions {
  /** The current record. */
  readonly realms: (uri: string) => RealmRecord | undefined
  readonly uris: () => Iterable<string>
  /** Secrets of this gateway, newest first: tokens signed with keys of older ones still verify. */
  readonly master: KeyRing
}

/** The first signs, all verify. */
type RealmKeys = ReadonlyMap<string, RealmKey>

/**
 * A realm with `signing_keys` has those and no others: a key that was removed from the record verifies nothing.
 * @example createTokenKeys({ realms: (uri) => realms.get(uri), uris: () => realms.uris(), master }).signingKey('a.b')
 */
export const createTokenKeys = ({ realms, uris, master }: TokenKeysOptions): TokenKeys => {
  const secrets = master.keys.map(({ k }) => Buffer.from(k, 'base64url'))

  const keysOf = oncePer((record: RealmRecord): RealmKeys => {
    const given = record.signing_keys ?? []
    const keys =
      given.length > 0
        ? given.map(readSigningKey)
        : secrets.map((secret) => toRealmKey(deriveRealmKey(secret, record.uri)))
    return new Map(keys.map((key) => [key.kid, key]))
  })

  return {
    signingKey: (realmUri) => {
      const record = realms(realmUri)
      if (record === undefined) throw new Error('There are no keys for a realm that is not there')
      return firstOf(keysOf(record))
    },
    verificationKey: (realmUri, kid) => {
      const record = realms(realmUri)
      return record === undefined ? undefined : readable(keysOf, record).get(kid)
    },
    publicKeys: () => {
      const byKid = new Map<string, RealmKey['publicJwk']>()
      for (const uri of uris()) {
        const record = realms(uri)
        if (record === undefined) continue
        for (const { kid, publicJwk } of readable(keysOf, record).values())
          byKid.set(kid, publicJwk)
      }
      return [...byKid.values()]
    },
  }
}

const firstOf = (keys: RealmKeys): SigningKey => {
  const [first] = keys.values()
  if (first === undefined) throw new Error('The ring of master keys is empty')
  return first
}

const NONE: RealmKeys = new Map()

/** No keys for a record whose keys cannot be read: nothing verifies, nothing is published. */
const readable = (keysOf: (record: RealmRecord) => RealmKeys, record: RealmRecord): RealmKeys => {
  try {
    return keysOf(record)
  } catch {
    return NONE
  }
}
