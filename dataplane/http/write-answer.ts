// An answer in, one HTTP response out, with what every response of the gateway carries. One flat header
// list and one string where possible: node then makes a single write of it.

import type { ServerResponse } from 'node:http'
import { headerOf, type HeaderList } from './response-headers.ts'
import type { Answer } from './response-plan.ts'

/** What a response carries besides the answer itself. */
export interface Envelope {
  readonly requestId: string
  /** Picked from the version's languages; undefined before a version is known. */
  readonly language: string | undefined
  readonly deprecation: Readonly<Record<string, string>> | undefined
  /** What the answer was negotiated by: `accept`, `accept, accept-language`. */
  readonly vary: string | undefined
}

/** Text bodies up to this length go in one write with the head. */
const ONE_WRITE_CHARACTERS = 16_384

/** Writes and ends the response; gives the bytes of the body that were announced. */
export const writeAnswer = (
  response: ServerResponse,
  answer: Answer,
  envelope: Envelope,
  isHead: boolean,
): number => {
  const { status, body } = answer
  const hasNoBody = status === 204 || status === 304
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  const head = composeHead(answer, envelope)
  if (!hasNoBody) head.push('content-length', String(length))
  response.writeHead(status, head)
  if (hasNoBody || isHead || length === 0) {
    response.end()
    return 0
  }
  if (typeof body === 'string' && body.length > ONE_WRITE_CHARACTERS)
    response.end(Buffer.from(body))
  else response.end(body)
  return length
}

/** Flat list: the gateway's own headers, then the answer's; the answer's win by name. */
const composeHead = (answer: Answer, envelope: Envelope): string[] => {
  const head = ['x-request-id', envelope.requestId]
  const { headers } = answer
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && (headers.length === 0 || headerOf(headers, name) === undefined))
      head.push(name, value)
  }
  add('x-content-type-options', 'nosniff')
  add('content-language', envelope.language)
  add('vary', envelope.vary)
  if (envelope.deprecation !== undefined)
    for (const [name, value] of Object.entries(envelope.deprecation)) add(name, value)
  for (const [name, value] of headers)
    if (name !== 'content-type' && name !== 'content-encoding' && name !== 'x-request-id')
      head.push(name, value)
  if (answer.contentType !== undefined) head.push('content-type', answer.contentType)
  return head
}

/** Head of an upstream's answer that passes through: its own headers, ours over them by name. */
export const writeStreamHead = (
  response: ServerResponse,
  status: number,
  headers: HeaderList,
  envelope: Envelope,
): void => {
  const head = ['x-request-id', envelope.requestId]
  for (const [name, value] of headers) if (name !== 'x-request-id') head.push(name, value)
  if (envelope.deprecation !== undefined)
    for (const [name, value] of Object.entries(envelope.deprecation)) head.push(name, value)
  response.writeHead(status, head)
}
