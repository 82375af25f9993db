// Defines an endpoint of the management API as data, which app.ts mounts.

import type { RequestHandler } from 'express'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../telemetry/log.ts'
import type { Readiness } from './readiness.ts'

/** Methods that are not listed get 405. `get` serves HEAD too. */
export interface Endpoint {
  /** Express path pattern; parameters arrive percent-decoded. */
  readonly path: string
  readonly get?: RequestHandler
  readonly post?: RequestHandler
  readonly delete?: RequestHandler
  /** Used instead of the others, whatever the method. */
  readonly any?: RequestHandler
}

export interface ProbeDeps {
  /** Names, for people and monitors, of what is impaired while requests are served. */
  readonly degradations?: () => readonly string[]
  /** Whether the management API is open; if left out, it is. */
  readonly hasManagement?: () => boolean
  /** Whether a client has connected to it while it had no certificate; if left out, none has. */
  readonly isManagementAwaited?: () => boolean
  readonly readiness: Pick<Readiness, 'state' | 'isReady' | 'waitsFor'>
  /** Writes the whole response of `GET /metrics`. */
  readonly metrics: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>
  readonly log: Log
}
