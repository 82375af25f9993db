// Sends a representation with its entity tag, or 304 if the client has it already (RFC 9110 §13.1.2).

import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendText } from './respond.ts'

export interface Tagged {
  /** Quoted. */
  readonly etag: string
  /** JSON; called only if it is sent. */
  readonly text: () => string | Buffer
}

export const sendTagged = (
  req: IncomingMessage,
  res: ServerResponse,
  { etag, text }: Tagged,
): void => {
  res.setHeader('etag', etag)
  if (isHeld(req.headers['if-none-match'], etag)) {
    res.statusCode = 304
    res.end()
  } else sendText(res, 200, text())
}

const isHeld = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*')
