// Warns of what a valid realm record holds and can never work: nothing is rejected for it, as the rest of the realm works.

import { childPointer } from '../../base/json-pointer.ts'
import { nearestName } from '../../base/nearest-name.ts'
import type { Warning } from '../problem.ts'
import type { RealmRecord } from './record.ts'

/** @param realm a valid record, but for its secrets */
export const warnOfRealm = (realm: RealmRecord): readonly Warning[] => [
  ...warnOfProviders(realm),
  ...warnOfKeys(realm),
]

const warnOfProviders = (realm: RealmRecord): readonly Warning[] =>
  Object.entries(realm.info?.oidc_providers ?? {}).flatMap(([name, provider]) => {
    if (provider.allow_unsafe_http === true || !/^http:/i.test(provider.issuer)) return []
    const path = childPointer(childPointer('/info/oidc_providers', name), 'issuer')
    return [{ code: 'AlwaysFails', path, message: PLAIN_HTTP }]
  })

const PLAIN_HTTP =
  'every login at this provider fails, as its issuer is not https: write https://…, or, to try things out, set ' +
  'allow_unsafe_http (allowUnsafeHttp in a Realm resource)'

/** A key may be of a program that is no user. One that is called nearly as a user is, is meant for that one. */
const warnOfKeys = ({ users = [], api_keys: keys = [] }: RealmRecord): readonly Warning[] => {
  const names = new Set(users.map(({ username }) => username))
  const warnings = keys.flatMap(({ username }, index): readonly Warning[] => {
    const near = names.has(username) ? undefined : nearestName(username, names)
    if (near === undefined || withoutDigits(near) === withoutDigits(username)) return []
    const path = childPointer(childPointer('/api_keys', index), 'username')
    const message = `this is none of the users of the realm, so callers with this key are in no group; did you mean '${near}'?`
    return [{ code: 'UnknownUser', path, message }]
  })
  return warnings.slice(0, MOST_OF_KEYS)
}

/** `shop-1` is no misspelt `shop-2`. */
const withoutDigits = (name: string): string => name.replaceAll(/\d/g, '')

/** More say nothing new. */
const MOST_OF_KEYS = 20
