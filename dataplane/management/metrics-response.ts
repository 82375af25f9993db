// Responds to `GET /metrics`: the text is sent in pieces between which requests run, to a few scrapers at a time, as
// those of the health listener show no credentials.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { METRICS_CONTENT_TYPE } from '../../telemetry/metrics-state.ts'
import { sendPieces } from './respond.ts'

/** One that is read slowly keeps some 4 MB of counts for as long as it takes. */
const MAX_AT_A_TIME = 8

export type RespondWithMetrics = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>

/**
 * One response too many ends the oldest one: a scraper that reads takes a fraction of a second, and one that does not
 * must not keep others out.
 * @param readPieces of the text; it counts as a scrape
 */
export const createMetricsResponse = (
  readPieces: () => Promise<Iterable<string>>,
): RespondWithMetrics => {
  /** The oldest first. */
  const inProgress = new Set<ServerResponse>()
  const begin = (response: ServerResponse): void => {
    const [oldest] = inProgress
    if (oldest !== undefined && inProgress.size >= MAX_AT_A_TIME) {
      inProgress.delete(oldest)
      oldest.destroy()
    }
    inProgress.add(response)
  }
  return async ({ method }, response) => {
    if (method === 'HEAD') {
      response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE }).end()
      return
    }
    begin(response)
    try {
      const pieces = await readPieces()
      response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE })
      await sendPieces(response, pieces)
    } finally {
      inProgress.delete(response)
    }
  }
}
