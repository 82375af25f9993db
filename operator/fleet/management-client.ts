// The management API of one data plane, as the operator calls it. Bounded in time and size; what a data
// plane answers is checked before it is believed. Nothing leaves it once it is closed.

import type { Pool } from 'undici'
import type { DataPlane } from '../data-plane.ts'
import { Connections, SecureContexts } from './connections.ts'
import type { Credentials } from './credentials.ts'
import { describeFailure } from './failure-words.ts'
import {
  readRealmSources,
  readRefusal,
  readStateView,
  readSyncReply,
  type RealmSource,
  type Refusal,
} from './read-answer.ts'
import type { StateView, SyncReply } from '../../spec/wire.ts'
import type { SyncBody } from './sync-body.ts'
import { untilAborted } from './until-aborted.ts'

export type Answer<T> =
  | { readonly result: 'ok'; readonly value: T; readonly etag: string | undefined }
  | { readonly result: 'not_modified' }
  /** 4xx: the data plane says why. */
  | { readonly result: 'refused'; readonly status: number; readonly refusal: Refusal }
  /** No answer, 5xx, or one that makes no sense. */
  | { readonly result: 'failed'; readonly message: string }

export interface ManagementClient {
  state(etag: string | undefined): Promise<Answer<StateView>>
  /** @param body of a `SyncRequest` */
  sync(body: SyncBody): Promise<Answer<SyncReply>>
  /** The canonical document as submitted; `etag` is its digest, quoted. */
  source(id: string): Promise<Answer<unknown>>
  /** Every realm that it holds, without its secrets. */
  realms(): Promise<Answer<readonly RealmSource[]>>
  /** Breaks off what is under way; every later call fails. */
  close(): Promise<void>
}

export interface ClientOptions {
  /** Asked before every call; connections are made anew when what it gives has changed. */
  readonly credentials: (dataPlane: DataPlane) => Promise<Credentials>
  /** Bounds the wait for an answer; that of a sync call grows with its size. */
  readonly timeoutMs: number
  /** Shared by the clients of a fleet. */
  readonly contexts?: SecureContexts
}

/** Time a data plane may take for each KiB of a sync call, beyond the time-out. */
const MS_PER_KIB = 10

interface Call<T> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly timeoutMs: number
  /** undefined: the answer makes no sense. */
  readonly read: (body: unknown) => T | undefined
}

export const createManagementClient = (
  dataPlane: DataPlane,
  { credentials, timeoutMs, contexts = new SecureContexts() }: ClientOptions,
): ManagementClient => {
  const connections = new Connections(dataPlane, contexts)
  const closing = new AbortController()

  const call = async <T>(request: Call<T>): Promise<Answer<T>> => {
    const { signal } = closing
    try {
      signal.throwIfAborted()
      const current = await untilAborted(signal, credentials(dataPlane))
      const pool = connections.poolFor(current)
      return await untilAborted(signal, send(pool, request, current.token))
    } catch (error) {
      return { result: 'failed', message: describeFailure(error, dataPlane) }
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
    sync: ({ bytes, isGzip, inflatedBytes }) =>
      call({
        method: 'POST',
        path: '/api_specs/_sync',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          ...(isGzip && { 'content-encoding': 'gzip' }),
        },
        body: bytes,
        timeoutMs: timeoutMs + Math.ceil((inflatedBytes / 1024) * MS_PER_KIB),
        read: readSyncReply,
      }),
    source: (id) =>
      call({
        method: 'GET',
        path: `/api_specs/${encodeURIComponent(id)}?view=source`,
        timeoutMs,
        read: (body) => body,
      }),
    realms: () =>
      call({ method: 'GET', path: '/realms?view=source', timeoutMs, read: readRealmSources }),
    close: async () => {
      closing.abort(new Error('the operator has let go of it'))
      await connections.destroy()
    },
  }
}

const send = async <T>(
  pool: Pool,
  call: Call<T>,
  token: string | undefined,
): Promise<Answer<T>> => {
  // Not `AbortSignal.timeout`: that one goes off long after the answer, and costs as much as the call.
  const tooLong = new AbortController()
  const timer = setTimeout(() => {
    tooLong.abort(new DOMException('it did not answer in time', 'TimeoutError'))
  }, 2 * call.timeoutMs)
  try {
    return await exchange(pool, call, { token, signal: tooLong.signal })
  } finally {
    clearTimeout(timer)
  }
}

/** The pool's end is the call's: closing needs no signal of its own here. */
const exchange = async <T>(
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
    signal,
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
