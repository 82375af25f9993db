// Caches responses that are the same for every request, one per content type: nothing is evaluated, no context is
// built, and the head is a text to which the request's id and language are added.

import type { ServerResponse } from 'node:http'
import { frameResponse } from '../../framing.ts'
import type { RenderedResponse } from './plan.ts'
import { presetHead } from './raw-head.ts'
import { headerOf } from './headers.ts'
import type { Envelope } from './own-headers.ts'
import { composeLines, toWritable, writeResponse } from './write-response.ts'

export interface FixedResponse {
  readonly status: number
  /** Head lines without the id and language of the request; undefined: the response is written header by header. */
  readonly lines: string | undefined
  /** False if the document sets the language itself. */
  readonly addsLanguage: boolean
  /** The same response for writing header by header. */
  readonly rendered: RenderedResponse
  readonly envelope: Envelope
  readonly body: string | Buffer
  readonly encoding: 'latin1' | 'utf8'
  readonly bytes: number
}

/** `envelope` has what stays the same; its id and language are replaced at each writing. */
export const fixResponse = (rendered: RenderedResponse, envelope: Envelope): FixedResponse => {
  const { status } = rendered
  // Long bodies as bytes: a long string would be copied for each client that does not read it yet.
  const body = toWritable(rendered.body)
  // The response to HEAD has the same head, and `writeFixed` writes no body.
  const { length, hasBody } = frameResponse(status, false, { kind: 'whole', bytes: body.length })
  const lines =
    length === undefined ? undefined : composeLines(rendered, { ...envelope, language: undefined })
  return {
    status,
    lines: lines === undefined ? undefined : `${lines}content-length: ${length}\r\n`,
    addsLanguage: headerOf(rendered.headers, 'content-language') === undefined,
    rendered,
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
  fixed: FixedResponse,
  { requestId, language, isHead }: FixedRequest,
): void => {
  const languageLine = fixed.addsLanguage ? `content-language: ${language}\r\n` : ''
  const start = `x-request-id: ${requestId}\r\n${languageLine}`
  const { lines } = fixed
  if (lines === undefined || !presetHead(response, fixed.status, start + lines)) {
    const envelope = { ...fixed.envelope, requestId, language }
    writeResponse(response, fixed.rendered, envelope, isHead)
    return
  }
  if (isHead || fixed.bytes === 0) response.end()
  else response.end(fixed.body, fixed.encoding)
}
