// Derives from a realm's record which pages may open WebSocket connections with a user's cookie or password.

import type { RealmRecord } from '../../language/realm/record.ts'
import { originOf } from '../oidc/redirect-target.ts'

export interface RealmOrigins {
  /** `allowed_origins`, as browsers write them; empty: the realm does not restrict origins. */
  readonly listed: readonly string[]
  /** The gateway's own, as browsers write them. */
  readonly own: readonly string[]
}

/**
 * @param baseUrl `--base-url`; without it the origins of the providers' callback URLs are used, never `Host`
 * @example originsOf({ uri: 'a.b', allowed_origins: ['https://app.test'] }, 'https://api.test/v1')
 * // { listed: ['https://app.test'], own: ['https://api.test'] }
 */
export const originsOf = (
  record: RealmRecord | undefined,
  baseUrl: string | null,
): RealmOrigins => ({
  // Origins of other schemes (`null`, apps) stay as they are.
  listed: (record?.allowed_origins ?? []).map((each) => originOf(each) ?? each),
  own: ownUrls(record, baseUrl).flatMap((url) => originOf(url) ?? []),
})

const ownUrls = (record: RealmRecord | undefined, baseUrl: string | null): readonly string[] =>
  baseUrl === null
    ? Object.values(record?.info?.oidc_providers ?? {}).map(({ redirect_uri: uri }) => uri)
    : [baseUrl]
