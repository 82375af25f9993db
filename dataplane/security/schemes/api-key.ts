// Implements the api_key scheme (specification §2.8): it finds the user that the key in a header belongs to. Only
// digests are compared and stored.

import { hash } from 'node:crypto'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { oncePer } from '../../../base/once.ts'
import { valuesOf } from '../../upstream/headers.ts'
import { ALWAYS, type Authenticator, notAccepted, notPresented } from './authenticator.ts'
import type { Identity } from './authentication.ts'
import { userIdentity } from './identity.ts'
import { createUserLookup } from '../passwords/realm-users.ts'

/**
 * The whole value of the header is the key; of two entries for one key the first counts. A user that the realm does
 * not list has no groups. A digest is looked up in a map: the time that takes may reveal something about the digest,
 * but nothing about the key.
 */
export const createApiKey = (): Authenticator => {
  const identities = createKeyLookup()
  return ({ record, rawHeaders, credentialHeader }) => {
    const [value = '', another] = valuesOf(rawHeaders, credentialHeader)
    if (value === '' && another === undefined) return notPresented('api_key', record.uri)
    if (another !== undefined) return notAccepted('api_key', record.uri, 'malformed_credentials')
    // Headers are bytes, which Node shows as Latin-1.
    const digest = hash('sha256', Buffer.from(value, 'latin1'), 'hex')
    const identity = identities(record).get(digest)
    return identity === undefined
      ? notAccepted('api_key', record.uri, { reason: 'unknown_key' })
      : { kind: 'identity', identity, validity: ALWAYS }
  }
}

const OF_KEY = { type: 'api_key', authmethod: 'api_key' } as const

const createKeyLookup = (): ((record: RealmRecord) => ReadonlyMap<string, Identity>) => {
  const findUser = createUserLookup()
  return oncePer(
    (record) =>
      new Map(
        (record.api_keys ?? [])
          .toReversed()
          .map(({ key_sha256: digest, username }) => [
            digest,
            userIdentity(OF_KEY, record.uri, findUser(record, username) ?? { username }),
          ]),
      ),
  )
}
