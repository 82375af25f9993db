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
  if (!sendNotModified(req, res, etag)) sendText(res, 200, text())
}

/** Sets the entity tag; true: the client has the representation already, and the response is sent. */
export const sendNotModified = (
  req: IncomingMessage,
  res: ServerResponse,
  etag: string,
): boolean => {
  res.setHeader('etag', etag)
  if (!isHeld(req.headers['if-none-match'], etag)) return false
  res.statusCode = 304
  res.end()
  return true
}

const isHeld = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*')
