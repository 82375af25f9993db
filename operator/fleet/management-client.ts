// Calls the management API of one data plane, within bounds of time and size. Responses are checked before they are
// used, and a data plane that exceeds all bounds is not called for a while. Nothing is sent once the client is closed.

import { parseJson } from '../../base/parse-json.ts'
import type { Pool } from 'undici'
import type { Limiter } from '../../base/limiter.ts'
import type { DataPlane } from '../data-plane.ts'
import { type ResponseBound, ResponseError } from './client/bounded-body.ts'
import { Connections, SecureContexts } from './client/connections.ts'
import type { Credentials } from './client/credentials.ts'
import { exchange } from './client/exchange.ts'
import { ExcessPause, type ExcessPauseOptions } from './client/excess-pause.ts'
import { describeFailure } from './client/failure-words.ts'
import {
  type EndedFailure,
  type FoundDecisions,
  readDecisions,
  readFailures,
  readFoundDecisions,
} from './client/read-decisions.ts'
import {
  readRealmSources,
  readRefusal,
  readStateView,
  readSyncReply,
  type RealmSource,
  type Refusal,
} from './client/read-response.ts'
import type { StateView, SyncReply } from '../../language/wire/wire.ts'
import type { SyncBody } from './sync/sync-body.ts'
import type { Explanation } from '../../language/explain/explanation.ts'
import { type ExplainRequest, withoutCredentials } from '../../language/explain/read-request.ts'
import { readMap } from './client/reader.ts'
import { readExplanation, readRoutesPage, type RoutesPage } from './client/read-explanation.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import { untilAborted } from '../../base/until-aborted.ts'

export type ManagementResponse<T> =
  | { readonly result: 'ok'; readonly value: T; readonly etag: string | undefined }
  | { readonly result: 'not_modified' }
  /** 4xx, with the reason that the data plane gives. */
  | { readonly result: 'refused'; readonly status: number; readonly refusal: Refusal }
  /** No response, a 5xx, or an invalid response. */
  | { readonly result: 'failed'; readonly message: string }

export interface FailuresQuery {
  /** Text that they must contain; empty: all of them. */
  readonly match: string
  /** Only those that ended before this time, Unix milliseconds as text. */
  readonly before: string | null
  readonly limit: number
}

export interface ClientOptions extends ExcessPauseOptions {
  /** Called before every call; connections are recreated when its result has changed. */
  readonly credentials: (dataPlane: DataPlane) => Promise<Credentials>
  /** Bounds the wait for a response; that of a sync call grows with its size. */
  readonly timeoutMs: number
  /** Shared by the clients of a fleet. */
  readonly contexts?: SecureContexts
  /** Bytes of responses, shared with other data planes that could use up the memory together. */
  readonly budget?: Limiter | undefined
}

/** Time a data plane may take for each KiB of a sync call, beyond the time-out. */
const MS_PER_KIB = 10

/** A document has at most 4 MiB as JSON text. Its values are not bounded, as memory suffices even for that many empty maps. */
const SOURCE_BOUND: ResponseBound = { bytes: 4 * 1024 * 1024 + 1024, values: Infinity }

/** 32 decisions of some 5 KiB at most. */
const WHY_BOUND: ResponseBound = { bytes: 256 * 1024, values: 5000 }

/** 100 failures of some 5 KiB at most, and those of one more millisecond. */
const FAILURES_BOUND: ResponseBound = { bytes: 2 * 1024 * 1024, values: 40_000 }

/** For requests of a person to a gateway that they have chosen. */
const PERSON_BOUND: ResponseBound = { bytes: 32 * 1024 * 1024, values: 2_000_000 }

/** A number, or the message of a rejection. */
const ENDPOINTS_BOUND: ResponseBound = { bytes: 16 * 1024, values: 200 }

/** Every realm of a gateway, for a person who has chosen it. */
const REALMS_BOUND: ResponseBound = { bytes: 64 * 1024 * 1024, values: 4_000_000 }

interface Call<T> {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** That of the client, if left out. */
  readonly timeoutMs?: number
  readonly bound: ResponseBound
  /** A response beyond the bound does not keep the operator from calling the gateway again, as documents decide its size; a 5xx is described with the reason that it gives. */
  readonly isForPerson?: boolean
  /** undefined: the response is invalid. */
  readonly read: (body: unknown) => T | undefined
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' } as const

export class ManagementClient {
  readonly #dataPlane: DataPlane
  readonly #options: ClientOptions
  readonly #connections: Connections
  readonly #closing = new AbortController()
  readonly #pause: ExcessPause

  constructor(dataPlane: DataPlane, options: ClientOptions) {
    this.#dataPlane = dataPlane
    this.#options = options
    this.#connections = new Connections(dataPlane, options.contexts ?? new SecureContexts())
    this.#pause = new ExcessPause(options)
  }

  state(etag: string | undefined, bound: ResponseBound): Promise<ManagementResponse<StateView>> {
    return this.#call({
      method: 'GET',
      path: '/api_specs?view=state',
      ...(etag !== undefined && { headers: { 'if-none-match': etag } }),
      bound,
      read: readStateView,
    })
  }

  /** @param body of a `SyncRequest` */
  sync(
    { bytes, isGzip, inflatedBytes }: SyncBody,
    bound: ResponseBound,
  ): Promise<ManagementResponse<SyncReply>> {
    return this.#call({
      method: 'POST',
      path: '/api_specs/_sync',
      headers: { ...JSON_TYPE, ...(isGzip && { 'content-encoding': 'gzip' }) },
      body: bytes,
      timeoutMs: this.#options.timeoutMs + Math.ceil((inflatedBytes / 1024) * MS_PER_KIB),
      bound,
      read: readSyncReply,
    })
  }

  /** @param body of an `EndpointsRequest` */
  sendEndpoints(body: Buffer): Promise<ManagementResponse<true>> {
    return this.#call({
      method: 'POST',
      path: '/service_endpoints',
      headers: JSON_TYPE,
      body,
      bound: ENDPOINTS_BOUND,
      read: (response) =>
        isMap(response) && typeof response['services'] === 'number' ? true : undefined,
    })
  }

  /** The canonical document as submitted; `etag` is its digest, quoted. */
  source(id: string): Promise<ManagementResponse<unknown>> {
    const path = `/api_specs/${encodeURIComponent(id)}?view=source`
    return this.#call({ method: 'GET', path, bound: SOURCE_BOUND, read: (body) => body })
  }

  /** Every realm that it has loaded, without its secrets. */
  realms(): Promise<ManagementResponse<readonly RealmSource[]>> {
    const path = '/realms?view=source'
    return this.#call({ method: 'GET', path, bound: REALMS_BOUND, read: readRealmSources })
  }

  /** The decisions on requests with this id; 404 if there are none. */
  why(id: string): Promise<ManagementResponse<readonly ValueMap[]>> {
    const path = `/why/${encodeURIComponent(id)}`
    return this.#call({ method: 'GET', path, bound: WHY_BOUND, read: readDecisions })
  }

  /** The same for a person, who may ask an operator as well. */
  whyOfAny(id: string): Promise<ManagementResponse<FoundDecisions>> {
    return this.#askForPerson(`/why/${encodeURIComponent(id)}`, readFoundDecisions)
  }

  /**
   * A page of its routes.
   * @param match text that they must contain; null: all of them
   * @param after `next` of the page before
   * @param limit as many as the gateway chooses, if left out
   */
  routes(
    match: string | null,
    after: string | null,
    limit?: number,
  ): Promise<ManagementResponse<RoutesPage>> {
    const query = new URLSearchParams()
    if (match !== null) query.set('match', match)
    if (after !== null) query.set('after', after)
    if (limit !== undefined) query.set('limit', String(limit))
    const path = query.size === 0 ? '/routes' : `/routes?${query.toString()}`
    return this.#askForPerson(path, readRoutesPage)
  }

  /** Requests that have failed lately, the newest first. */
  failures({
    match,
    before,
    limit,
  }: FailuresQuery): Promise<ManagementResponse<readonly EndedFailure[]>> {
    const query = new URLSearchParams({ limit: String(limit) })
    if (match !== '') query.set('match', match)
    if (before !== null) query.set('before', before)
    return this.#askForPerson(`/why?${query.toString()}`, readFailures, FAILURES_BOUND)
  }

  /** `GET /status` of an operator, unread; a gateway has no such page: 404. */
  operatorStatus(): Promise<ManagementResponse<ValueMap>> {
    const path = '/status'
    return this.#call({ method: 'GET', path, bound: PERSON_BOUND, read: readMap })
  }

  /** Which route would take a request, and what decides it. Nothing is sent to the API. */
  explain({ method, url, headers }: ExplainRequest): Promise<ManagementResponse<Explanation>> {
    // No credentials leave this process, as URLs are logged: only their presence matters.
    const query = new URLSearchParams({ method, url: url.replace(/[?#].*$/s, '') })
    for (const header of headers) query.append('header', withoutCredentials(header))
    return this.#askForPerson(`/explain?${query.toString()}`, readExplanation)
  }

  /** Aborts what is under way; every later call fails. */
  async close(): Promise<void> {
    this.#pause.end()
    this.#closing.abort(new Error('the operator no longer manages this data plane'))
    await this.#connections.destroy()
  }

  #askForPerson<T>(
    path: string,
    read: Call<T>['read'],
    bound = PERSON_BOUND,
  ): Promise<ManagementResponse<T>> {
    return this.#call({ method: 'GET', path, bound, isForPerson: true, read })
  }

  async #call<T>(request: Call<T>): Promise<ManagementResponse<T>> {
    const { signal } = this.#closing
    const { message } = this.#pause
    if (message !== undefined) return { result: 'failed', message }
    try {
      signal.throwIfAborted()
      return await untilAborted(signal, this.#send(request))
    } catch (error) {
      if (
        error instanceof ResponseError &&
        error.code === 'excessive' &&
        request.isForPerson !== true
      )
        return this.#pause.begin(error)
      return { result: 'failed', message: describeFailure(error, this.#dataPlane) }
    }
  }

  async #send<T>(request: Call<T>): Promise<ManagementResponse<T>> {
    const { credentials, timeoutMs, budget } = this.#options
    const current = await credentials(this.#dataPlane)
    this.#closing.signal.throwIfAborted()
    const pool = this.#connections.poolFor(current)
    return send(pool, { timeoutMs, ...request }, { token: current.token, budget })
  }
}

interface Caller {
  readonly token: string | undefined
  readonly budget: Limiter | undefined
}

const send = async <T>(
  pool: Pool,
  {
    method,
    path,
    headers,
    body,
    timeoutMs,
    bound,
    isForPerson = false,
    read,
  }: Call<T> & { readonly timeoutMs: number },
  { token, budget }: Caller,
): Promise<ManagementResponse<T>> => {
  const { status, etag, text } = await exchange(pool, {
    method,
    path,
    headers: {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body,
    timeoutMs,
    bound,
    budget,
  })
  if (status === 304) return { result: 'not_modified' }
  if (status >= 400 && status < 500) {
    return { result: 'refused', status, refusal: readRefusal(parse(text)) }
  }
  const value = status === 200 ? read(parse(text)) : undefined
  if (value === undefined) {
    const refusal = isForPerson ? readRefusal(parse(text)) : undefined
    return { result: 'failed', message: describeOddResponse(status, path, refusal?.message) }
  }
  const isTag = etag !== undefined && etag.length <= MAX_TAG_LENGTH
  return { result: 'ok', value, etag: isTag ? etag : undefined }
}

/** An `ETag` is sent back with the next request. */
const MAX_TAG_LENGTH = 256

const parse = (text: string): unknown => {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** @param reason that it gives, for a person: that of a gateway which fails may differ each time */
const describeOddResponse = (status: number, path: string, reason = ''): string =>
  status === 200
    ? `its response to ${path} is not that of a gateway: is this its management address?`
    : `it answered ${status} to ${path}${reason && `: ${reason}`}`
