// Caches responses that are the same for every request, one per content type: nothing is evaluated, no context is
// built, and the head is a text to which the request's id and language are added.

import type { ServerResponse } from 'node:http'
import { frameResponse } from '../../framing.ts'
import type { Answer } from './plan.ts'
import { presetHead } from './raw-head.ts'
import { headerOf } from './headers.ts'
import { composeLines, type Envelope, toWritable, writeAnswer } from './write-response.ts'

export interface FixedAnswer {
  readonly status: number
  /** Head lines without the id and language of the request; undefined: the response is written header by header. */
  readonly lines: string | undefined
  /** False if the document sets the language itself. */
  readonly addsLanguage: boolean
  /** The same response for writing header by header. */
  readonly answer: Answer
  readonly envelope: Envelope
  readonly body: string | Buffer
  readonly encoding: 'latin1' | 'utf8'
  readonly bytes: number
}

/** `envelope` has what stays the same; its id and language are replaced at each writing. */
export const fixAnswer = (answer: Answer, envelope: Envelope): FixedAnswer => {
  const { status } = answer
  // Long bodies as bytes: a long string would be copied for each client that does not read it yet.
  const body = toWritable(answer.body)
  // The response to HEAD has the same head, and `writeFixed` writes no body.
  const { length, hasBody } = frameResponse(status, false, { kind: 'whole', bytes: body.length })
  const lines =
    length === undefined ? undefined : composeLines(answer, { ...envelope, language: undefined })
  return {
    status,
    lines: lines === undefined ? undefined : `${lines}content-length: ${length}\r\n`,
    addsLanguage: headerOf(answer.headers, 'content-language') === undefined,
    answer,
    envelope,
    body,
    encoding: typeof body === 'string' ? 'latin1' : 'utf8',
    bytes: hasBody ? body.length : 0,
  }
}

interface FixedRequest {
  readonly requestId: string
  readonly language: string
  readonly isHead: boolean
}

/** One write for head and body. */
export const writeFixed = (
  response: ServerResponse,
  fixed: FixedAnswer,
  { requestId, language, isHead }: FixedRequest,
): void => {
  const languageLine = fixed.addsLanguage ? `content-language: ${language}\r\n` : ''
  const start = `x-request-id: ${requestId}\r\n${languageLine}`
  const { lines } = fixed
  if (lines === undefined || !presetHead(response, fixed.status, start + lines)) {
    const envelope = { ...fixed.envelope, requestId, language }
    writeAnswer(response, fixed.answer, envelope, isHead)
    return
  }
  if (isHead || fixed.bytes === 0) response.end()
  else response.end(fixed.body, fixed.encoding)
}
