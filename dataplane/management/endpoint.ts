// What an endpoint of the management API is: data that app.ts mounts.

import type { RequestHandler } from 'express'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../telemetry/log.ts'
import type { Readiness } from './readiness.ts'

/** Methods not named answer 405. `get` serves HEAD too. */
export interface Endpoint {
  /** Express path pattern; parameters arrive percent-decoded. */
  readonly path: string
  readonly get?: RequestHandler
  readonly post?: RequestHandler
  readonly delete?: RequestHandler
  /** Instead of the others: whatever the method. */
  readonly any?: RequestHandler
}

export interface ProbeDeps {
  /** What does not work as it should while requests are served; names for people and monitors. */
  readonly degradations?: () => readonly string[]
  /** The management API is open; it is, if left out. */
  readonly hasManagement?: () => boolean
  /** It has no certificate yet, and somebody has come to it: nobody, if left out. */
  readonly isManagementAwaited?: () => boolean
  readonly readiness: Pick<Readiness, 'state' | 'isReady' | 'waitsFor'>
  /** Writes the whole answer of `GET /metrics`. */
  readonly metrics: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>
  readonly log: Log
}
