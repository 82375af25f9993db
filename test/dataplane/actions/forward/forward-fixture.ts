// A gateway with nothing in it but one forward action, for tests: real sockets on both sides, outcomes
// written to the client as JSON, passed-through answers as they are.

import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  prepareForward,
  type ForwardEnvironment,
  type ForwardOperation,
} from '../../../../dataplane/actions/forward/forward.ts'
import type {
  ActionError,
  ByteSink,
  Exchange,
  StreamHead,
} from '../../../../dataplane/actions/performer.ts'
import {
  type Authority,
  NO_AUTHORITY,
  parseAuthority,
} from '../../../../language/routes/authority.ts'
import type { RequestFailure } from '../../../../dataplane/actions/request-failure.ts'
import { Context } from '../../../../dataplane/context.ts'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import { createUnboundedMemory } from '../../../../dataplane/memory/memory-budget.ts'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import { createPoolScope, type PoolScope } from '../../../../dataplane/upstream/limiter.ts'
import { createUpstream } from '../../../../dataplane/upstream/pooled-upstream.ts'
import type { Upstream } from '../../../../dataplane/upstream/upstream.ts'
import type { ForwardAction, ForwardTarget } from '../../../../language/compile/forward-action.ts'
import {
  constant,
  type ReadTemplate,
  type Root,
  type Template,
} from '../../../../language/expression/template.ts'
import type { Value, ValueMap } from '../../../../language/expression/value.ts'

export const read = (path: string): ReadTemplate => {
  const [root, ...keys] = path.split('.')
  return { kind: 'read', root: root as Root, keys }
}

export const map = (entries: Readonly<Record<string, Template | Value>>): Template => ({
  kind: 'map',
  entries: Object.entries(entries).map(([key, value]) => [key, asTemplate(value)]),
})

export const text = (...parts: (string | Template)[]): Template => ({ kind: 'text', parts })

const asTemplate = (value: Template | Value): Template =>
  typeof value === 'object' && value !== null && 'kind' in value
    ? (value as unknown as Template)
    : constant(value)

/** What a forward may have beside its target. */
export type ForwardParts = Partial<Omit<ForwardAction, 'host' | 'hosts'>>

export interface OperationParts extends Partial<Omit<ForwardOperation, 'action' | 'limits'>> {
  readonly action: ForwardParts & ForwardTarget
  readonly limits?: Partial<ForwardOperation['limits']>
}

export const operationOf = ({ action, limits, ...parts }: OperationParts): ForwardOperation => ({
  pointer: '/versions/v1/paths/~1x/get',
  security: [{ type: 'anonymous' }],
  accepts: ['application/json'],
  provides: ['application/json'],
  headers: constant({}),
  body: { maxBytes: 25_000_000, readBytes: 8_000_000, readMs: 15_000 },
  onResult: { declared: false },
  onError: { declared: false },
  reads: [],
  ...parts,
  limits: {
    connectTimeout: constant(5000),
    retries: constant(0),
    retryTimeout: constant(5000),
    ...limits,
  },
  action: { type: 'forward', ...action },
})

/** `on_result` and `on_error` that read everything: outcomes come as JSON. */
export const READ_ALL = {
  onResult: { declared: true, body: read('action.result') },
  onError: { declared: true, body: read('action.error') },
} as const

class TestExchange implements Exchange {
  readonly context = new Context()
  readonly incoming: IncomingMessage
  readonly authority: Authority
  readonly from: string | undefined
  readonly rawBody: Buffer | undefined
  readonly response: ServerResponse
  readonly outcomes: string[]
  readonly failures: RequestFailure[]
  readonly eventStreams = 'refused'
  readonly webSocket = undefined
  readonly memory = createUnboundedMemory().open()
  #cancel: (() => void) | undefined

  switchTo(): void {
    throw new Error('no test of this fixture asks for a WebSocket')
  }

  constructor(
    incoming: IncomingMessage,
    response: ServerResponse,
    rawBody: Buffer | undefined,
    { outcomes, failures }: Pick<Gateway, 'outcomes' | 'failures'>,
  ) {
    this.incoming = incoming
    this.from = incoming.headers['x-from']?.toString()
    this.response = response
    this.authority = parseAuthority(incoming.headers.host ?? '') ?? NO_AUTHORITY
    this.rawBody = rawBody
    this.outcomes = outcomes
    this.failures = failures
    const url = new URL(incoming.url ?? '/', 'http://x')
    Object.assign(this.context.request, {
      id: 'request-1',
      method: incoming.method?.toLowerCase(),
      scheme: 'http',
      peername: `${incoming.socket.remoteAddress ?? ''}:${incoming.socket.remotePort ?? 0}`,
      path: (incoming.url ?? '/').split('?')[0],
      query_string: url.search.slice(1),
      query_params: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: rawBody?.toString() ?? '',
    })
    response.on('close', () => this.#cancel?.())
  }

  defer(work: () => void): void {
    setImmediate(work)
  }

  succeed(result: ValueMap): void {
    this.outcomes.push('succeed')
    const bytes = result['body'] instanceof Uint8Array
    this.#write(200, { result, ...(bytes && { bytes: true }) })
  }

  explain(failure: RequestFailure): void {
    this.failures.push(failure)
  }

  fail(error: ActionError): void {
    if (this.#isCut()) return
    this.outcomes.push('fail')
    this.#write(error.status_code, { error })
  }

  refuse(error: Error): void {
    if (this.#isCut()) return
    this.outcomes.push('refuse')
    const { message } = error
    const code = error instanceof GatewayError ? error.code : error.name
    this.#write(400, { refused: code, message })
  }

  hintEarly(headers: StreamHead['headers']): void {
    this.outcomes.push(`hint ${headers.join()}`)
  }

  stream(head: StreamHead): ByteSink | undefined {
    this.outcomes.push('stream')
    const { response } = this
    if (this.context.request.path === '/head-refused') {
      this.#write(500, {})
      return undefined
    }
    response.writeHead(head.statusCode, head.headers.flat())
    return {
      takesBody: this.incoming.method !== 'HEAD',
      write: (chunk) => response.write(chunk),
      onDrain: (resume) => response.once('drain', resume),
      end: () => response.end(),
      destroy: () => {
        this.outcomes.push('cut')
        response.destroy()
      },
    }
  }

  /** No forward makes events. */
  events(): undefined {
    this.outcomes.push('events')
  }

  onCancel(cancel: (() => void) | undefined): void {
    this.#cancel = cancel
  }

  #isCut(): boolean {
    if (!this.response.headersSent) return false
    this.outcomes.push('cut')
    this.response.destroy()
    return true
  }

  #write(status: number, value: unknown): void {
    if (this.response.headersSent || this.response.destroyed) return
    this.response.writeHead(status, { 'content-type': 'application/json' })
    this.response.end(JSON.stringify(value))
  }
}

export interface Gateway {
  readonly origin: string
  readonly upstream: Upstream
  readonly scope: PoolScope
  /** What exchanges were told, in order. */
  readonly outcomes: string[]
  /** Why they failed, in order. */
  readonly failures: RequestFailure[]
  close(): Promise<void>
}

export interface GatewayOptions extends Partial<ForwardEnvironment> {
  /** Dispatch has read the body. */
  readonly buffers?: boolean
  readonly poolSize?: number
  readonly timeoutMs?: number
  readonly change?: (exchange: Exchange) => void
}

export const startGateway = async (
  operation: ForwardOperation,
  options: GatewayOptions = {},
): Promise<Gateway> => {
  const {
    upstream = createUpstream({ guard: createGuard() }),
    scope = createPoolScope(options.poolSize ?? 200),
    clock,
    isScarce,
    realm,
    retryBudget,
    credentials,
    timeoutMs = 5000,
  } = options
  const outcomes: string[] = []
  const failures: RequestFailure[] = []
  const perform = prepareForward(operation, {
    upstream,
    scope,
    callTimeoutMs: () => timeoutMs,
    isScarce,
    realm,
    retryBudget,
    credentials,
    ...(clock && { clock }),
  })
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const rawBody = options.buffers === true ? await bodyOf(request) : undefined
    const exchange = new TestExchange(request, response, rawBody, { outcomes, failures })
    options.change?.(exchange)
    try {
      perform(exchange)
    } catch (error) {
      exchange.refuse(error as Error)
    }
  }
  const server = createServer((request, response) => {
    void serve(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upstream,
    scope,
    outcomes,
    failures,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await upstream.close()
    },
  }
}

export const bodyOf = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

export interface ReceivedResponse {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: string[]
  readonly bytes: Buffer
  readonly text: string
  readonly json: () => Record<string, never>
}

export interface Call {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Buffer
  readonly chunked?: boolean
}

/** A client of its own: no pool, nothing added but `Host` and framing. */
export const call = (
  gateway: { readonly origin: string },
  asked: Call = {},
): Promise<ReceivedResponse> =>
  new Promise((resolve, reject) => {
    const { method = 'GET', path = '/x', headers = {}, body, chunked = false } = asked
    const length = chunked
      ? { 'transfer-encoding': 'chunked' }
      : body === undefined
        ? {}
        : { 'content-length': Buffer.byteLength(body) }
    const request = httpRequest(
      gateway.origin,
      { method, path, headers: { ...headers, ...length }, agent: false },
      (response) => {
        bodyOf(response).then((bytes) => {
          const { statusCode = 0, rawHeaders } = response
          const received = { status: statusCode, headers: response.headers, rawHeaders, bytes }
          resolve({
            ...received,
            text: bytes.toString(),
            json: () => JSON.parse(bytes.toString()) as Record<string, never>,
          })
        }, reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
