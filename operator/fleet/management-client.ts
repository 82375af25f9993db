// The management API of one data plane, as the operator calls it. Bounded in time and size; what a data
// plane answers is checked before it is believed. The only file that speaks HTTP.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Pool } from 'undici'
import type { DataPlane } from '../data-plane.ts'
import type { Credentials } from './credentials.ts'
import { readRefusal, readStateView, readSyncReply, type Refusal } from './read-answer.ts'
import type { StateView, SyncReply } from '../../spec/wire.ts'

export type Answer<T> =
  | { readonly result: 'ok'; readonly value: T; readonly etag: string | undefined }
  | { readonly result: 'not_modified' }
  /** 4xx: the data plane says why. */
  | { readonly result: 'refused'; readonly status: number; readonly refusal: Refusal }
  /** No answer, 5xx, or one that makes no sense. */
  | { readonly result: 'failed'; readonly message: string }

export interface ManagementClient {
  state(etag: string | undefined): Promise<Answer<StateView>>
  /** @param body JSON text of a `SyncRequest` */
  sync(body: string): Promise<Answer<SyncReply>>
  /** The canonical document as submitted, and its digest. */
  source(id: string): Promise<Answer<unknown>>
  /** Breaks off what is under way. */
  close(): Promise<void>
}

export interface ClientOptions {
  readonly credentials: () => Promise<Credentials>
  /** Bounds the wait for an answer; that of a sync call grows with its size. */
  readonly timeoutMs: number
}

const CONNECT_MS = 2_000
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const GZIP_ABOVE_BYTES = 8 * 1024
/** Time a data plane may take for each byte of a sync call, beyond the time-out. */
const MS_PER_KIB = 10

const compress = promisify(gzip)

interface Call<T> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
  readonly timeoutMs: number
  /** undefined: the answer makes no sense. */
  readonly read: (body: unknown) => T | undefined
}

export const createManagementClient = (
  dataPlane: DataPlane,
  { credentials, timeoutMs }: ClientOptions,
): ManagementClient => {
  let open: { readonly credentials: Credentials; readonly pool: Pool } | undefined
  const closing = new AbortController()

  const poolFor = (current: Credentials): Pool => {
    if (open?.credentials === current) return open.pool
    // Requests under way finish on the old connections.
    open?.pool.close().catch(() => undefined)
    open = { credentials: current, pool: openPool(dataPlane.url, current) }
    return open.pool
  }

  const call = async <T>(request: Call<T>): Promise<Answer<T>> => {
    try {
      const current = await credentials()
      closing.signal.throwIfAborted()
      return await send(poolFor(current), request, { token: current.token, signal: closing.signal })
    } catch (error) {
      return { result: 'failed', message: describeFailure(error) }
    }
  }

  return {
    state: (etag) =>
      call({
        method: 'GET',
        path: '/api_specs?view=state',
        ...(etag !== undefined && { headers: { 'if-none-match': etag } }),
        timeoutMs,
        read: readStateView,
      }),
    sync: async (body) => {
      const isLarge = body.length > GZIP_ABOVE_BYTES
      return call({
        method: 'POST',
        path: '/api_specs/_sync',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          ...(isLarge && { 'content-encoding': 'gzip' }),
        },
        body: isLarge ? await compress(body, { level: 1 }) : body,
        timeoutMs: timeoutMs + Math.ceil((body.length / 1024) * MS_PER_KIB),
        read: readSyncReply,
      })
    },
    source: (id) =>
      call({
        method: 'GET',
        path: `/api_specs/${encodeURIComponent(id)}?view=source`,
        timeoutMs,
        read: (body) => body,
      }),
    close: async () => {
      closing.abort()
      await open?.pool.destroy()
    },
  }
}

const openPool = (url: string, { tls }: Credentials): Pool => {
  const isSocket = url.startsWith('unix:')
  return new Pool(isSocket ? 'http://localhost' : url, {
    connections: 2,
    maxResponseSize: MAX_ANSWER_BYTES,
    connectTimeout: CONNECT_MS,
    allowH2: false,
    ...(isSocket ? { socketPath: url.slice('unix:'.length) } : { connect: { ...tls } }),
  })
}

const send = async <T>(
  pool: Pool,
  { method, path, headers, body, timeoutMs, read }: Call<T>,
  { token, signal }: { readonly token: string | undefined; readonly signal: AbortSignal },
): Promise<Answer<T>> => {
  const answer = await pool.request({
    method,
    path,
    headers: {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: body ?? null,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    signal: AbortSignal.any([signal, AbortSignal.timeout(2 * timeoutMs)]),
  })
  const text = await answer.body.text()
  const { statusCode } = answer
  if (statusCode === 304) return { result: 'not_modified' }
  if (statusCode >= 400 && statusCode < 500) {
    return { result: 'refused', status: statusCode, refusal: readRefusal(parseJson(text)) }
  }
  const value = statusCode === 200 ? read(parseJson(text)) : undefined
  if (value === undefined) return { result: 'failed', message: oddAnswer(statusCode, path) }
  const { etag } = answer.headers
  return { result: 'ok', value, etag: typeof etag === 'string' ? etag : undefined }
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const oddAnswer = (status: number, path: string): string =>
  status === 200
    ? `its answer to ${path} is not what a gateway says: is this its management address?`
    : `it answered ${status} to ${path}`

/** Words for what has no status: connections and time-outs. */
const describeFailure = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return String(error)
  const member = (name: string): string => {
    const value: unknown = name in error ? error[name as keyof typeof error] : undefined
    return typeof value === 'string' ? value : ''
  }
  const code = member('code')
  const known = Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined
  if (known !== undefined) return known
  if (member('name') === 'TimeoutError') return 'it did not answer in time'
  return [member('message'), code, member('name')].find((words) => words !== '') ?? 'it failed'
}

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there: is the gateway running?',
  ENOENT: 'there is no such socket: is the gateway running?',
  ECONNRESET: 'it broke the connection',
  UND_ERR_SOCKET: 'it broke the connection',
  UND_ERR_CONNECT_TIMEOUT: 'it could not be connected to in time',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'it did not finish its answer in time',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'its answer is too large',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: name its CA with --management-ca',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is not trusted: name it with --management-ca',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its CA is not trusted: name it with --management-ca',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate carries another name: see --management-server-name',
}
