// Sends one call and reads and parses its response: waits for a permit, uses the current credentials, tries again where
// that is safe. Throws ApiError or the reason of a signal, never anything else.

import { parseJson } from '../../../base/parse-json.ts'
import type { Dispatcher } from 'undici'

import type { Clock } from '../../../base/clock.ts'
import type { ResourceType } from './api.ts'
import type { Cluster, ClusterCredentials } from '../config/cluster.ts'
import {
  errorFromResponse,
  errorFromCredentials,
  errorFromNetwork,
  tooLarge,
  unreadable,
} from './api-error.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { sleep } from './sleep.ts'
import type { Reachability } from './reachability.ts'
import { waitBeforeRetry, type RetriedAs, type Verb } from './retry.ts'
import type { Transport, WireRequest } from './transport.ts'

export interface Call extends WireRequest {
  readonly type: ResourceType
  readonly verb: Verb
  /** Where retries do not follow the rule of its verb. */
  readonly retriedAs?: RetriedAs
  /** See `Limiter`. */
  readonly group?: string
  /** Called for each warning of a success. */
  readonly onWarning?: (text: string) => void
}

/** The result of one try. */
export interface RequestFacts {
  readonly verb: Verb
  /** HTTP; 0: no response. */
  readonly code: number
}

export interface RequesterOptions {
  readonly cluster: Cluster
  readonly transport: Transport
  readonly limiter: RateLimiter
  readonly reachability: Pick<Reachability, 'answered' | 'failed'>
  readonly clock: Clock
  readonly onRequest: (facts: RequestFacts) => void
}

export interface Requester {
  /** The parsed body of a success. */
  json(call: Call): Promise<unknown>
  /** A successful response, its body unread. */
  open(call: Call): Promise<Dispatcher.ResponseData>
}

export const createRequester = (options: RequesterOptions): Requester => {
  const { clock, reachability } = options

  const untilDone = async <T>(
    call: Call,
    read: (response: ApiResponse) => Promise<T>,
  ): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      try {
        if (call.pool === 'shared') await options.limiter.admit(call.signal, call.group)
        const result = await attempt(options, call, read)
        reachability.answered()
        return result
      } catch (error) {
        call.signal.throwIfAborted()
        const failure = errorFromNetwork(call.type, error)
        reachability.failed(failure)
        const waitMs = waitBeforeRetry(call.retriedAs ?? call.verb, failure, tries, () =>
          clock.random(),
        )
        if (waitMs === undefined) throw failure
        await sleep(clock, waitMs, call.signal)
      }
    }
  }

  return {
    json: (call) => untilDone(call, (response) => readJson(call, response)),
    open: (call) => untilDone(call, (response) => Promise.resolve(response)),
  }
}

type ApiResponse = Dispatcher.ResponseData

const attempt = async <T>(
  options: RequesterOptions,
  call: Call,
  read: (response: ApiResponse) => Promise<T>,
): Promise<T> => {
  const credentials = await credentialsOf(options.cluster)
  let response = await sendOnce(options, call, credentials)
  if (response.statusCode === 401) {
    const others = await credentialsOf(options.cluster, credentials)
    if (others !== credentials) {
      await response.body.dump()
      response = await sendOnce(options, call, others)
    }
  }
  if (response.statusCode < 300) {
    for (const text of warningsOf(response.headers['warning'])) call.onWarning?.(text)
    return read(response)
  }
  throw errorFromResponse({
    type: call.type,
    status: response.statusCode,
    retryAfter: single(response.headers['retry-after']),
    body: parse(await readText(call.type, response)),
  })
}

const credentialsOf = async (
  cluster: Cluster,
  refused?: ClusterCredentials,
): Promise<ClusterCredentials> => {
  try {
    return await cluster.credentials(refused)
  } catch (error) {
    throw errorFromCredentials(error)
  }
}

const sendOnce = async (
  { transport, onRequest }: RequesterOptions,
  call: Call,
  credentials: ClusterCredentials,
): Promise<ApiResponse> => {
  call.signal.throwIfAborted()
  let code = 0
  try {
    const response = await transport.send(call, credentials)
    code = response.statusCode
    return response
  } finally {
    onRequest({ verb: call.verb, code })
  }
}

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024

const readText = async (type: ResourceType, response: ApiResponse): Promise<string> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body as AsyncIterable<Uint8Array>) {
    bytes += piece.length
    if (bytes > MAX_RESPONSE_BYTES) throw tooLarge(type)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

const readJson = async ({ type }: Call, response: ApiResponse): Promise<unknown> => {
  const body = parse(await readText(type, response))
  if (body === undefined) throw unreadable(type, 'it is not JSON')
  return body
}

/** Without a cause: the message of JSON.parse quotes its input, which may be a Secret. */
const parse = (text: string): unknown => {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

const MOST_WARNINGS = 50
const MAX_WARNING = 1000

/**
 * The texts of `Warning` headers (RFC 7234 §5.5), as the API server sends them.
 * @example warningsOf('299 - "the field is deprecated"') // ['the field is deprecated']
 */
const warningsOf = (header: string | string[] | undefined): readonly string[] =>
  [header ?? []]
    .flat()
    .flatMap((value) => [...value.matchAll(/\b299 [^\s"]+ "((?:[^"\\]|\\.)*)"/g)])
    .slice(0, MOST_WARNINGS)
    .map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1').slice(0, MAX_WARNING))

const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header
