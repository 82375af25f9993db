// Warns of what a valid realm record holds and can never work: nothing is rejected for it, as the rest of the realm works.

import { childPointer } from '../../base/json-pointer.ts'
import type { Warning } from '../problem.ts'
import type { RealmRecord } from './record.ts'

/** @param realm a valid record, but for its secrets */
export const warnOfRealm = (realm: RealmRecord): readonly Warning[] =>
  Object.entries(realm.info?.oidc_providers ?? {}).flatMap(([name, provider]) => {
    if (provider.allow_unsafe_http === true || !/^http:/i.test(provider.issuer)) return []
    const path = childPointer(childPointer('/info/oidc_providers', name), 'issuer')
    return [{ code: 'AlwaysFails', path, message: PLAIN_HTTP }]
  })

const PLAIN_HTTP =
  'every login at this provider fails, as its issuer is not https: write https://…, or, to try things out, set ' +
  'allow_unsafe_http (allowUnsafeHttp in a Realm resource)'
