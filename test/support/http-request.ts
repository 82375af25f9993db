// Sends an HTTP request, and returns the whole response. One connection per request, so that no test meets the pool of
// another; Host, TLS and Unix sockets are free to choose. It never follows redirects.

import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import { buffer } from 'node:stream/consumers'

export interface HttpOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** A body as JSON, with its content type. */
  readonly json?: unknown
  /** Unix socket to connect to instead of the URL's host. */
  readonly socketPath?: string
  /** For https: the CA, and a client's certificate. The server's name is `servername`. */
  readonly tls?: SecureContextOptions & { readonly servername?: string }
  readonly timeoutMs?: number
}

export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; throws where it is none. */
  readonly json: () => unknown
}

/**
 * Rejects when there is no whole response, or none within `timeoutMs` (10 000).
 *
 * @example (await request(`${gateway.public}/x`, { headers: { host: 'api.test' } })).status
 */
export const request = async (url: string, options: HttpOptions = {}): Promise<HttpResponse> => {
  const incoming = await openRequest(url, options)
  const text = (await buffer(incoming)).toString()
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    text,
    json: () => JSON.parse(text) as unknown,
  }
}

/** The response as soon as its head is there; the body is for the caller to read or destroy. */
export const openRequest = (url: string, options: HttpOptions = {}): Promise<IncomingMessage> => {
  const { method = 'GET', socketPath, tls = {}, timeoutMs = 10_000 } = options
  const { headers, body } = prepareBody(options)
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const outgoing = send(
      url,
      {
        method,
        headers,
        agent: false,
        ...tls,
        ...(socketPath === undefined ? {} : { socketPath }),
        signal: AbortSignal.timeout(timeoutMs),
      },
      resolve,
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const prepareBody = ({
  headers = {},
  body,
  json,
}: HttpOptions): Pick<HttpOptions, 'headers' | 'body'> =>
  json === undefined
    ? { headers, ...(body === undefined ? {} : { body }) }
    : { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) }
