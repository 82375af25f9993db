// Sends the request of an example over HTTP and reads the whole response, within bounds.

import { once } from 'node:events'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { http } from '../../base/node-http.ts'
import type { ObservedResponse } from '../../language/examples/match-expectation.ts'
import type { WrittenRequest } from '../../language/examples/write-request.ts'
import { decodeMessage, headerRecord } from './decode-message.ts'

export interface SentRequest extends WrittenRequest {
  readonly host: string
}

const MOST_BYTES = 16 * 1024 * 1024

/**
 * @param connection where it goes: a stream of this process, or an address with `protocol`
 * @throws Error where there is no whole response
 */
export const sendRequest = async (
  { method, host, target, headers: own, body = '' }: SentRequest,
  connection: RequestOptions,
): Promise<Omit<ObservedResponse, 'sent'>> => {
  const length: readonly (readonly [string, string])[] =
    body === '' ? [] : [['content-length', String(Buffer.byteLength(body))]]
  const headers = [['host', host] as const, ...own, ...length].flat()
  const open = connection.protocol === 'https:' ? requestSecurely : http.request
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = open({ ...connection, method, path: target, headers, setDefaultHeaders: false })
    sending.once('response', resolve).on('error', reject)
    sending.end(body)
  })
  const chunks: Buffer[] = []
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MOST_BYTES)
      response.destroy(new Error(`the body has more than ${MOST_BYTES} bytes`))
    else chunks.push(chunk)
  })
  if (!response.closed) await once(response, 'close')
  const record = headerRecord(response.rawHeaders)
  return {
    status_code: response.statusCode ?? 0,
    headers: record,
    body: decodeMessage(record['content-type'] ?? '', Buffer.concat(chunks)),
  }
}
