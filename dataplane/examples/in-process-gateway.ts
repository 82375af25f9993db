// Composes a gateway that serves documents in this process and reaches nothing: where actions would leave it, and where
// credentials would be verified, stands what the creator gives.

import { Limiter } from '../../base/limiter.ts'
import type { CompiledApi, CompiledOperation } from '../../language/compile/compiled.ts'
import { type ActionEnvironment, createPerformer } from '../actions/action-table.ts'
import type { Exchange } from '../actions/performer.ts'
import type { CallbackPoster } from '../actions/wamp/callback/poster.ts'
import { createDeadlines } from '../deadlines.ts'
import { createDispatch } from '../http/dispatch.ts'
import type { DispatchOptions } from '../http/dispatch-options.ts'
import type { PreparedOperation } from '../http/prepared-operation.ts'
import type { EventStreams } from '../http/sse/registry.ts'
import { createClientErrorHandler } from '../http/request/client-error.ts'
import { createPlainServer } from '../listen/http-server.ts'
import { createUnboundedMemory } from '../memory/memory-budget.ts'
import type { Authenticate } from '../security/schemes/authentication.ts'
import type { ServedVersion } from '../served.ts'
import { packDocument } from '../store/packed/pack.ts'
import { createTableServing } from '../store/table-serving.ts'
import { createTurns } from '../turns.ts'
import { createPoolScope } from '../upstream/limiter.ts'
import type { RetryClock } from '../upstream/retry.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { WampClient } from '../wamp/realm/wamp-client.ts'
import { RateBuckets } from '../shared/rate-buckets.ts'

type Server = ReturnType<typeof createPlainServer>

/** What one request reaches in place of upstreams and routers. */
export interface Reached {
  readonly upstream: Upstream
  readonly router: WampClient
}

export interface InProcessOptions {
  /** Valid, without conflicts, the oldest first. */
  readonly documents: readonly CompiledApi[]
  readonly reach: (
    operation: CompiledOperation,
    version: ServedVersion,
    exchange: Exchange,
  ) => Reached
  readonly eventStreams: EventStreams
  readonly authenticate: Authenticate
  readonly onUnexpected: (error: unknown) => void
  /** Unix time, milliseconds. */
  readonly wallClock: () => number
  readonly clock: RetryClock
}

export interface InProcessGateway {
  /** It listens nowhere: connections are given to it, or `listen` is called. */
  readonly servers: Readonly<Record<'http' | 'https', Server>>
}

const LIMITS = {
  maxHeaderBytes: 16_384,
  headersTimeoutSeconds: 10,
  requestTimeoutSeconds: 30,
  keepAliveSeconds: 65,
}

const NO_REALM = { put: () => undefined, delete: () => undefined }
const CALL_TIMEOUT_MS = 10_000

export const createInProcessGateway = async (
  options: InProcessOptions,
): Promise<InProcessGateway> => {
  const { documents, authenticate, onUnexpected, wallClock, clock } = options
  const serving = createTableServing<PreparedOperation>(NO_REALM, () => Promise.resolve())
  await serving.apply({
    put: documents.map((document, since) =>
      packDocument(document, { since, rank: 0, credentials: ['any'] }),
    ),
    remove: [],
    realms: { put: [], delete: [] },
  })
  const scope = createPoolScope(200)
  const deadlines = createDeadlines()
  const dispatch: DispatchOptions = {
    table: () => serving.table(),
    preparation: {
      createPerformer:
        (operation, { version }) =>
        (exchange) => {
          const reached = options.reach(operation, version, exchange)
          createPerformer(operation, environmentOf(version, reached))(exchange)
        },
      rowFor: () => ({ observe: () => undefined }),
    },
    origins: () => ({ listed: [], own: [] }),
    authenticate,
    readClient: () => undefined,
    nextRequestId: () => 'example',
    now: clock.now,
    wallClock,
    accessLog: undefined,
    inFlight: { count: 0 },
    // No example counts for another one.
    limits: { limiter: { take: (takes) => new RateBuckets(clock.now).take(takes) } },
    memory: createUnboundedMemory(),
    onRefused: () => undefined,
    onResult: () => undefined,
    unmatched: { observe: () => undefined },
    onUnexpected,
    eventStreams: options.eventStreams,
    turns: createTurns({ now: clock.now, pause: (_, next) => setImmediate(next) }),
  }
  const environmentOf = (
    { realmUri }: ServedVersion,
    { upstream, router }: Reached,
  ): ActionEnvironment => ({
    forward: {
      upstream,
      scope,
      realm: realmUri,
      clock,
      callTimeoutMs: () => CALL_TIMEOUT_MS,
      credentials: {
        mayUse: () => true,
        authorize: ({ name }, done) => {
          done({ ok: true, authorization: { header: `credential ${name}` } })
        },
      },
    },
    wamp: {
      realmUri,
      client: () => router,
      calls: new Limiter(200),
      callTimeoutMs: () => CALL_TIMEOUT_MS,
      deadlines,
      callbacks: NO_CALLBACKS,
      realm: () => undefined,
      clock,
    },
  })
  const serverOf = (scheme: 'http' | 'https'): Server =>
    createPlainServer(LIMITS, {
      onRequest: createDispatch(dispatch, scheme),
      onClientError: createClientErrorHandler(() => 'example'),
    })
  return { servers: { http: serverOf('http'), https: serverOf('https') } }
}

/** Nothing is ever invoked: there is no router. */
const NO_CALLBACKS: CallbackPoster = {
  invocations: () => () => Promise.resolve({ args: [], kwargs: {} }),
  events: () => ({ onEvent: () => undefined, onEnd: () => undefined }),
}
