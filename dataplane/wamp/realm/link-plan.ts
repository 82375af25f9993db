// Plans the links that the router of a realm record asks for, with defaults filled in. It opens no connection.

import type { RealmRecord, RouterRecord } from '../../../language/realm/record.ts'
import type { LinkOptions } from '../session/joined-session.ts'

export interface RealmPlan {
  /** How many links; all have the same options. */
  readonly pool: number
  readonly link: LinkOptions
}

const DEFAULT_KEEPALIVE_MS = 10_000
const LEAST_KEEPALIVE_MS = 100
const CONNECT_TIMEOUT_MS = 5000
const MAX_MESSAGE_BYTES = 2 ** 24
/** RawSocket has 24 bits for the length of a message (WAMP, *RawSocket Transport*). */
const MAX_RAWSOCKET_BYTES = 2 ** 24 - 1

/**
 * Undefined: the record names no router.
 * @example planLinks({ uri: 'com.acme', router: { url: 'ws://router:8080/ws' } })?.pool // 1
 */
export const planLinks = (record: RealmRecord): RealmPlan | undefined => {
  const { router } = record
  if (router === undefined) return undefined
  const urls = urlsOf(router)
  if (urls.length === 0) return undefined
  return {
    pool: router.pool ?? 1,
    link: {
      realmUri: record.uri,
      urls,
      target: {
        serializers: router.serializers ?? ['json'],
        keepaliveMs: keepaliveOf(router),
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        maxMessageBytes: urls.some(isRawSocket) ? MAX_RAWSOCKET_BYTES : MAX_MESSAGE_BYTES,
      },
      auth: authOf(router),
    },
  }
}

/** No router is pinged every few milliseconds: a number so small was meant as seconds. */
const keepaliveOf = ({ keepalive = DEFAULT_KEEPALIVE_MS }: RouterRecord): number =>
  keepalive < LEAST_KEEPALIVE_MS ? keepalive * 1000 : keepalive

/** `url` is tried before `urls` where a record has both; none twice. */
const urlsOf = ({ url, urls = [] }: RouterRecord): readonly string[] => [
  ...new Set(url === undefined ? urls : [url, ...urls]),
]

const isRawSocket = (url: string): boolean => /^rss?[:+]/.test(url)

const authOf = ({ auth }: RouterRecord): LinkOptions['auth'] => ({
  method: auth?.method ?? 'anonymous',
  ...(auth?.authid !== undefined && { authid: auth.authid }),
  ...(auth?.secret !== undefined && { secret: auth.secret }),
})
