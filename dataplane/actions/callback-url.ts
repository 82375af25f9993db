// The URL of a callback: text from a request in, where a post goes out. It opens nothing.

import type { RealmRecord } from '../../spec/realm-record.ts'

/** What a realm says of callbacks; a realm record is one. */
export type CallbackRules = Pick<RealmRecord, 'callback_origins' | 'callback_secret'>

export interface CallbackUrl {
  /** `https://hooks.acme.com` */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /** Origin and path, for listings and messages: never the query. */
  readonly shown: string
}
