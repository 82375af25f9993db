// Which pages may open WebSocket connections as somebody who is logged in: a realm's record in, origins out. Pure.

import type { RealmRecord } from '../../language/realm/record.ts'
import { originOf } from '../oidc/redirect-target.ts'

export interface RealmOrigins {
  /** `allowed_origins`, as browsers write them; empty: the realm leaves it open who connects. */
  readonly listed: readonly string[]
  /** The gateway's own, as browsers write them. */
  readonly own: readonly string[]
}

/**
 * @param baseUrl `--base-url`; without it the gateway is where providers send their callbacks to. Never `Host`
 * @example originsOf({ uri: 'a.b', allowed_origins: ['https://app.test'] }, 'https://api.test/v1')
 * // { listed: ['https://app.test'], own: ['https://api.test'] }
 */
export const originsOf = (
  record: RealmRecord | undefined,
  baseUrl: string | null,
): RealmOrigins => ({
  // Pages of other schemes (`null`, apps) as they stand.
  listed: (record?.allowed_origins ?? []).map((each) => originOf(each) ?? each),
  own: ownUrls(record, baseUrl).flatMap((url) => originOf(url) ?? []),
})

const ownUrls = (record: RealmRecord | undefined, baseUrl: string | null): readonly string[] =>
  baseUrl === null
    ? Object.values(record?.info?.oidc_providers ?? {}).map(({ redirect_uri: uri }) => uri)
    : [baseUrl]
