// Fetches complete responses of identity providers and key sets. It goes only where the destination guard allows,
// trusts the CAs that it is given, follows no redirect, and is bounded in time and size.

import type * as Undici from 'undici'
import type { Agent, Dispatcher, Pool } from 'undici'
import { CodedError } from '../../../base/coded-error.ts'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { loadOnce } from '../../../base/single-flight.ts'
import type { Resolve } from '../../name-lookup.ts'
import { trustBeside } from '../../trust.ts'
import { createConnector } from './connector.ts'
import type { DestinationGuard } from './guard.ts'

export interface FetchLimits {
  /** PEM of further CAs for this peer alone. */
  readonly ca?: string
  /** For the whole: connecting, headers and body. */
  readonly timeoutMs: number
  /** The most bytes of the body. */
  readonly maxBytes: number
}

/** The supported part of `RequestInit`; no redirect is followed, whatever `redirect` says. */
export interface GuardedRequest {
  readonly method?: string
  readonly headers?: Headers | Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
}

/**
 * Any status is a response, 3xx too. Rejects with a FetchError, whose `code` says why, if there is none.
 * @example
 * const fetch = createGuardedFetch({ guard, extraCa: [] })
 * const response = await fetch('https://idp.example/jwks', {}, { timeoutMs: 5000, maxBytes: 1 << 20 })
 */
export type GuardedFetch = (
  url: string,
  init: GuardedRequest,
  limits: FetchLimits,
) => Promise<Response>

class FetchError extends CodedError<'unreachable' | 'timeout' | 'too_large'> {}

export interface GuardedFetchOptions {
  readonly guard: DestinationGuard
  /** `--upstream-ca`: PEM texts, trusted beside the system's. */
  readonly extraCa: readonly string[]
  /** Resolves names; if left out, `dns.lookup`. */
  readonly resolve?: Resolve
}

// Agents differ only in their CAs. With more private CAs than this at once, the oldest agent is reopened when it is
// needed.
const MAX_AGENTS = 64
const MAX_CONNECTIONS = 16
const KEEP_ALIVE_MS = 4000
const MAX_HEAD_BYTES = 32 * 1024

export const createGuardedFetch = (options: GuardedFetchOptions): GuardedFetch => {
  const agents = new BoundedMap<string, Agent>(MAX_AGENTS)

  const agentOf = (undici: typeof Undici, ca = ''): Agent => {
    const known = agents.get(ca)
    if (known !== undefined) return known
    const agent = openAgent(undici, options, ca)
    const oldest = agents.set(ca, agent)
    // Closes after the requests in flight.
    oldest?.[1].close().catch(() => undefined)
    return agent
  }

  return async (url, init, limits) => {
    const deadline = AbortSignal.timeout(limits.timeoutMs)
    const signal = init.signal ? AbortSignal.any([deadline, init.signal]) : deadline
    try {
      const undici = await loadUndici()
      const agent = agentOf(undici, limits.ca)
      const response = await undici.request(url, requestOf(agent, { ...init, signal }))
      return await readResponse(response, limits.maxBytes)
    } catch (cause) {
      if (cause instanceof FetchError) throw cause
      if (signal.aborted) throw new FetchError('timeout', 'No response in time', { cause })
      throw new FetchError('unreachable', 'No response', { cause })
    }
  }
}

/** Most gateways call no identity provider: 45 ms and 14 MB. */
const loadUndici = loadOnce(() => import('undici'))

const openAgent = (
  { Agent, Pool }: typeof Undici,
  { guard, extraCa, resolve }: GuardedFetchOptions,
  ca: string,
): Agent => {
  const secureContext = trustBeside(ca === '' ? extraCa : [...extraCa, ca])
  return new Agent({
    connections: MAX_CONNECTIONS,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    factory: (origin, settings) => {
      const connector = createConnector({
        guard,
        ...(secureContext && { secureContext }),
        ...(resolve && { resolve }),
      })
      const connect: Pool.Options['connect'] = (to, connected) => {
        connector(to, connected)
      }
      return new Pool(origin, { ...(settings as Pool.Options), connect })
    },
  })
}

const requestOf = (
  dispatcher: Agent,
  { method = 'GET', headers, body, signal }: GuardedRequest & { readonly signal: AbortSignal },
): Parameters<typeof Undici.request>[1] => ({
  dispatcher,
  method,
  headers: { ...plainHeaders(headers), 'accept-encoding': 'identity' },
  ...(body !== undefined && { body }),
  signal,
})

const readResponse = async (
  response: Dispatcher.ResponseData<unknown>,
  maxBytes: number,
): Promise<Response> => {
  const bytes = await readBounded(response.body, maxBytes)
  const hasBody =
    response.statusCode !== 204 && response.statusCode !== 205 && response.statusCode !== 304
  return new Response(hasBody ? bytes : null, {
    status: response.statusCode,
    headers: headersOf(response.headers),
  })
}

const readBounded = async (
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
): Promise<Buffer<ArrayBuffer>> => {
  const chunks: Buffer[] = []
  let size = 0
  // Leaving the loop destroys the body, and with it the connection.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes)
      throw new FetchError('too_large', `A response of more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const plainHeaders = (headers: GuardedRequest['headers']): Record<string, string> =>
  headers instanceof Headers ? Object.fromEntries(headers.entries()) : { ...headers }

const headersOf = (received: Dispatcher.ResponseData['headers']): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(received))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) headers.append(name, each)
  return headers
}
