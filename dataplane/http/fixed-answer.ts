// Answers that are the same for every request, made once per content type: nothing is evaluated, no
// context is built, and the head is a copied list in which two entries change.

import type { ServerResponse } from 'node:http'
import type { Answer } from './response-plan.ts'
import { composeHead, type Envelope, hasNoBody, isAscii } from './write-answer.ts'

export interface FixedAnswer {
  readonly status: number
  /** Flat list that begins with x-request-id and content-language. */
  readonly head: readonly string[]
  readonly languageIndex: number
  readonly body: string | Buffer
  readonly encoding: 'latin1' | 'utf8'
  readonly bytes: number
}

/** `envelope` gives what stays; its id and language are replaced at each writing. */
export const fixAnswer = (answer: Answer, envelope: Envelope): FixedAnswer => {
  const head = composeHead(answer, envelope)
  const { status } = answer
  const text = typeof answer.body === 'string' ? answer.body : undefined
  const body = text !== undefined && isAscii(text) ? text : Buffer.from(answer.body)
  const length = body.length
  const isBodyless = hasNoBody(status)
  return {
    status,
    head: isBodyless ? head : [...head, 'content-length', String(length)],
    languageIndex: head.indexOf('content-language') + 1,
    body,
    encoding: typeof body === 'string' ? 'latin1' : 'utf8',
    bytes: isBodyless ? 0 : length,
  }
}

/** Gives the bytes of the body that were written. */
export const writeFixed = (
  response: ServerResponse,
  fixed: FixedAnswer,
  requestId: string,
  language: string,
): void => {
  const head = fixed.head.slice()
  head[1] = requestId
  if (fixed.languageIndex > 0) head[fixed.languageIndex] = language
  response.writeHead(fixed.status, head)
  if (fixed.bytes === 0) response.end()
  else response.end(fixed.body, fixed.encoding)
}
