// Defines the request that an endpoint of the example backend gets, and the reply that it returns.

import type { IncomingMessage } from 'node:http'

export interface Asked {
  readonly request: IncomingMessage
  readonly url: URL
  /** Segments of the path after the first one. */
  readonly rest: readonly string[]
  readonly body: Buffer
}

export interface Reply {
  readonly status: number
  /** Left out: no body. */
  readonly json?: unknown
  /** Instead of `json`: a file, under a media type of its own. */
  readonly file?: { readonly type: string; readonly bytes: Buffer }
  readonly headers?: Readonly<Record<string, string>>
}
