// Implements the api_key scheme (specification §2.8): it finds the user that the key in a header belongs to. Only
// digests are compared and stored.

import { hash } from 'node:crypto'
import type { ApiKeyRecord, RealmRecord, UserRecord } from '../../../language/realm/record.ts'
import { oncePer } from '../../../base/once.ts'
import { valuesOf } from '../../upstream/headers.ts'
import {
  ALWAYS,
  type Authenticator,
  type KnownIdentity,
  notAccepted,
  notPresented,
} from './authenticator.ts'
import { userIdentity } from './identity.ts'
import { createUserLookup } from '../passwords/realm-users.ts'

/**
 * The whole value of the header is the key; of two entries for one key the first counts. A user that the realm does
 * not list has no groups. A digest is looked up in a map: the time that takes may reveal something about the digest,
 * but nothing about the key. One that has ended is refused, also where another entry has the same key.
 * @param now Unix time in milliseconds
 */
export const createApiKey = (now: () => number): Authenticator => {
  const callersOf = createKeyLookup()
  return ({ record, rawHeaders, credentialHeader }) => {
    const [value = '', another] = valuesOf(rawHeaders, credentialHeader)
    if (value === '' && another === undefined) return notPresented('api_key', record.uri)
    if (another !== undefined) return notAccepted('api_key', record.uri, 'malformed_credentials')
    // Headers are bytes, which Node shows as Latin-1.
    const digest = hash('sha256', Buffer.from(value, 'latin1'), 'hex')
    const known = callersOf(record).get(digest)
    if (known === undefined) return notAccepted('api_key', record.uri, { reason: 'unknown_key' })
    return known.validity.until > now()
      ? known
      : notAccepted('api_key', record.uri, { reason: 'expired' }, known.identity.authid)
  }
}

const OF_KEY = { type: 'api_key', authmethod: 'api_key' } as const

const createKeyLookup = (): ((record: RealmRecord) => ReadonlyMap<string, KnownIdentity>) => {
  const findUser = createUserLookup()
  return oncePer(
    (record) =>
      new Map(
        (record.api_keys ?? []).toReversed().map((key) => {
          const user = findUser(record, key.username) ?? { username: key.username }
          return [key.key_sha256, callerOf(record.uri, key, user)]
        }),
      ),
  )
}

const callerOf = (
  realmUri: string,
  { expires_at: expiresAt, meta }: ApiKeyRecord,
  user: UserRecord,
): KnownIdentity => ({
  kind: 'identity',
  identity: userIdentity(
    OF_KEY,
    realmUri,
    meta === undefined ? user : { ...user, meta: { ...user.meta, ...meta } },
  ),
  validity: expiresAt === undefined ? ALWAYS : { until: timeOf(expiresAt), revocationKeys: [] },
})

/** A leap second, which `Date` does not know, is the second before it. */
const timeOf = (text: string): number => Date.parse(text.replace(/:60(?=[.Zz+-])/, ':59'))
