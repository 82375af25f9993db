// Stands for every upstream of an example: it sends nothing, and answers with what the example gives.

import { Readable } from 'node:stream'
import type { ExampleResult } from '../../language/examples/example.ts'
import type { Value } from '../../language/expression/value.ts'
import {
  type Upstream,
  UpstreamError,
  type UpstreamFailure,
  type UpstreamRequest,
  type UpstreamSink,
} from '../upstream/upstream.ts'
import { decodeMessage, headerRecord } from './decode-message.ts'
import type { GivenResults } from './given-results.ts'

export const createExampleUpstream = (given: GivenResults): Upstream => ({
  send: (request, sink) => {
    let isAborted = false
    void bodyOf(request).then(
      (bytes) => {
        if (!isAborted) respond(given.next(sentBy(request, bytes)), request, sink)
      },
      () => {
        sink.onError(failure('aborted', 'the body was not read to its end'))
      },
    )
    return {
      abort: () => {
        isAborted = true
      },
      resume: () => undefined,
    }
  },
  stats: () => [],
  close: () => Promise.resolve(),
})

const bodyOf = async ({ body }: UpstreamRequest): Promise<Buffer> => {
  if (body === null) return Buffer.alloc(0)
  if (body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Buffer[] = []
  const stream: Readable = body instanceof Readable ? body : body()
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const sentBy = (
  { origin, method, path, headers: raw, hostHeader }: UpstreamRequest,
  bytes: Buffer,
): Value => {
  const headers = headerRecord(raw)
  const host = hostHeader ?? new URL(origin).host
  return {
    method,
    url: `${origin}${path}`,
    headers: { host, ...headers },
    body: decodeMessage(headers['content-type'] ?? '', bytes),
  }
}

const respond = (
  result: ExampleResult | undefined,
  { method }: UpstreamRequest,
  sink: UpstreamSink,
): void => {
  if (result === undefined) {
    sink.onError(failure('refused', 'the example gives no result for this attempt'))
    return
  }
  const { error, status_code: status = 200 } = result
  if (error !== undefined) {
    sink.onError(failure(failureOf(error.error_uri), `the example gives ${error.error_uri}`))
    return
  }
  const { headers, bytes } = messageOf(result)
  sink.onHead(status, headers)
  if (method !== 'HEAD' && status !== 204 && status !== 304 && bytes.length > 0) sink.onData(bytes)
  sink.onEnd()
}

const messageOf = ({
  headers: given = {},
  body,
}: ExampleResult): { readonly headers: readonly string[]; readonly bytes: Buffer } => {
  const headers = Object.entries(given).map(([name, value]) => [name.toLowerCase(), String(value)])
  const isText = body === undefined || typeof body === 'string'
  const bytes = Buffer.from(isText ? (body ?? '') : JSON.stringify(body))
  if (!isText && headers.every(([name]) => name !== 'content-type'))
    headers.push(['content-type', 'application/json'])
  return { headers: [...headers, ['content-length', String(bytes.length)]].flat(), bytes }
}

const failureOf = (uri: string): UpstreamFailure =>
  uri === 'svc.error.timeout'
    ? 'timeout'
    : uri === 'svc.error.overloaded'
      ? 'overloaded'
      : 'refused'

const failure = (code: UpstreamFailure, message: string): UpstreamError =>
  new UpstreamError(code, message, false)
