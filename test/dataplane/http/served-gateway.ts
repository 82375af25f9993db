// A dispatcher behind a real node:http server on loopback, its table made of documents, its forwards
// replaced by what a test says. Counts what the process would count.

import type { AddressInfo } from 'node:net'
import { Limiter } from '../../../base/limiter.ts'
import type { CallbackPoster } from '../../../dataplane/actions/wamp/callback/poster.ts'
import { createPerformer } from '../../../dataplane/actions/action-table.ts'
import type { Perform } from '../../../dataplane/actions/performer.ts'
import type { WampEnvironment } from '../../../dataplane/actions/wamp/environment.ts'
import { createClientErrorHandler } from '../../../dataplane/http/request/client-error.ts'
import type { DispatchOptions } from '../../../dataplane/http/dispatch-options.ts'
import type { EndpointHandler } from '../../../dataplane/http/builtin/builtin-request.ts'
import { createDispatch } from '../../../dataplane/http/dispatch.ts'
import type { FailedRequest } from '../../../dataplane/http/failure-report.ts'
import { DecisionLog } from '../../../dataplane/http/decision-log.ts'
import type { EventStreams } from '../../../dataplane/http/sse/registry.ts'
import { createClientReader } from '../../../dataplane/http/request/forwarded.ts'
import type { Preparation, PreparedOperation } from '../../../dataplane/http/prepared-operation.ts'
import { originsOf } from '../../../dataplane/http/realm-origins.ts'
import { createUpgrade } from '../../../dataplane/http/dispatch-upgrade.ts'
import { createWebSocketRoutes } from '../../../dataplane/http/upgrade/web-socket-route.ts'
import {
  createUnboundedMemory,
  type MemoryBudget,
} from '../../../dataplane/memory/memory-budget.ts'
import { createPlainServer } from '../../../dataplane/listen/http-server.ts'
import { createTurns, type Turns } from '../../../dataplane/turns.ts'
import type { Authenticate } from '../../../dataplane/security/schemes/authentication.ts'
import type { StallTimes } from '../../../dataplane/listen/stalled-clients.ts'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import { createTableServing } from '../../../dataplane/store/table-serving.ts'
import { RateBuckets, type RateLimiter } from '../../../dataplane/shared/rate-buckets.ts'
import { createDeadlines } from '../../../dataplane/deadlines.ts'
import { createPoolScope } from '../../../dataplane/upstream/limiter.ts'
import type { Upstream } from '../../../dataplane/upstream/upstream.ts'
import { Relays, type RelayLimits } from '../../../dataplane/wamp/relay/relays.ts'
import { createRouterDial } from '../../../dataplane/wamp/transport/router-dial.ts'
import type { WampClient } from '../../../dataplane/wamp/realm/wamp-client.ts'
import { WampError } from '../../../dataplane/wamp/session/joined-session.ts'
import { compile } from '../../../language/compile.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { AccessEntry } from '../../../telemetry/access-log.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { type HttpResponse, type HttpOptions, request } from '../../support/http-request.ts'
import { type Address, openRawClient, type Part, type RawClient } from '../../support/raw-client.ts'

export interface ServedOptions {
  readonly memory?: MemoryBudget
  /** Performs every forward. */
  readonly forward?: Perform
  /** Without `forward`: where forwards send to. If left out, none is ever performed. */
  readonly upstream?: Upstream
  /** Performs every WAMP action; without, there is no router. */
  readonly wamp?: Perform
  readonly eventStreams?: EventStreams
  /** If left out, turns without rests, which would be timers. */
  readonly turns?: Turns
  readonly stalls?: StallTimes
  readonly trustedProxies?: readonly string[]
  /** If left out, buckets that are never refilled. */
  readonly limiter?: RateLimiter
  readonly hasRealm?: boolean
  /** Records of realms, for `/ws`; others have no router. */
  readonly realms?: Map<string, RealmRecord>
  /** `--base-url`. */
  readonly baseUrl?: string
  readonly relayLimits?: Partial<RelayLimits>
  readonly endpoints?: EndpointHandler
  /** Of the log of decisions; if left out, that of the machine. Monotonic, milliseconds. */
  readonly now?: () => number
  /** For whatever is not anonymous, `/ws` too. */
  readonly authenticate?: Authenticate
  /** `namespace/name` of the resource of a document; if left out, none has one. */
  readonly resourceOf?: (id: string) => string | undefined
  /** Counts what documents serve, in place of `statuses` and `rows`. */
  readonly rowFor?: Preparation['rowFor']
}

export interface ServedGateway extends AsyncDisposable {
  readonly url: string
  readonly address: Address
  /** Documents in order of age. Throws what is wrong with them. */
  load(...documents: readonly unknown[]): Promise<void>
  remove(id: string): Promise<void>
  /** By HTTP/1.1 with Host `a.test` and no Accept, unless said otherwise. */
  ask(method: string, path: string, options?: Omit<HttpOptions, 'method'>): Promise<HttpResponse>
  raw(...parts: readonly (string | Part)[]): Promise<RawClient>
  /** Open now. */
  connections(): Promise<number>
  /** Statuses in the order in which requests were settled, of those that a document serves. */
  readonly statuses: number[]
  readonly unmatched: number[]
  /** `GET /v1/ws` for each request that a document serves. */
  readonly rows: string[]
  readonly relays: Relays
  readonly refused: string[]
  /** What checking results has found. */
  readonly results: string[]
  /** `basic identity` for each request that had to show who sends it. */
  readonly authentications: string[]
  readonly sharedBuckets: string[]
  readonly unexpected: unknown[]
  readonly failures: FailedRequest[]
  readonly log: AccessEntry[]
  readonly inFlight: { count: number }
  readonly decisions: DecisionLog
}

const LIMITS = {
  maxHeaderBytes: 16_384,
  maxRequestsPerConnection: 0,
  headersTimeoutSeconds: 5,
  requestTimeoutSeconds: 30,
  keepAliveSeconds: 5,
}

const NO_REALM = { put: () => undefined, delete: () => undefined }

const limiterOf = ({ limiter }: ServedOptions): RateLimiter => limiter ?? new RateBuckets(() => 0)

export const serveGateway = async (options: ServedOptions = {}): Promise<ServedGateway> => {
  const counts = {
    statuses: [] as number[],
    unmatched: [] as number[],
    rows: [] as string[],
    refused: [] as string[],
    results: [] as string[],
    authentications: [] as string[],
    sharedBuckets: [] as string[],
  }
  const unexpected: unknown[] = []
  const log: AccessEntry[] = []
  const failures: FailedRequest[] = []
  const inFlight = { count: 0 }
  const serving = createTableServing<PreparedOperation>(NO_REALM, () => Promise.resolve())
  let nextId = 0
  const realms = options.realms ?? new Map<string, RealmRecord>()
  const relays = new Relays({
    routerOf: (uri) => realms.get(uri)?.router,
    dial: createRouterDial([]),
    log: createSilentLog(),
    limits: { lingerMs: 200, ...options.relayLimits },
  })
  const webSockets = createWebSocketRoutes(
    () => serving.table(),
    (uri) => relays.hasRouter(uri),
  )
  const decisions = new DecisionLog({
    table: () => serving.table(),
    now: options.now ?? (() => performance.now()),
    wallClock: Date.now,
    key: 'key',
    processId: 7,
  })
  const dispatchOptions: DispatchOptions = {
    decisions,
    table: () => serving.table(),
    preparation: {
      createPerformer: (operation) =>
        replacement(operation.action.type, options) ??
        createPerformer(operation, {
          forward: {
            upstream: options.upstream ?? ({} as Upstream),
            scope: createPoolScope(200),
            callTimeoutMs: () => 1000,
          },
          wamp: withoutRouter(options.hasRealm ?? true),
        }),
      rowFor:
        options.rowFor ??
        ((_, template, method) => ({
          observe: (status) => {
            counts.statuses.push(status)
            counts.rows.push(`${method.toUpperCase()} ${template}`)
          },
        })),
    },
    webSockets,
    origins: (uri) => originsOf(realms.get(uri), options.baseUrl ?? null),
    realm: (uri) => realms.get(uri),
    readClient: createClientReader(options.trustedProxies ?? []),
    baseUrl: options.baseUrl,
    nextRequestId: () => `id-${++nextId}`,
    now: () => performance.now(),
    wallClock: Date.now,
    accessLog: { write: (entry) => log.push(entry), flush: () => undefined },
    inFlight,
    memory: options.memory ?? createUnboundedMemory(),
    onRefused: (code) => counts.refused.push(code),
    onResult: (outcome) => counts.results.push(outcome),
    unmatched: { observe: (status) => counts.unmatched.push(status) },
    onUnexpected: (error) => unexpected.push(error),
    onFailure: (request) => failures.push(request),
    ...(options.eventStreams && { eventStreams: options.eventStreams }),
    turns: options.turns ?? createTurns({ now: () => 0, pause: (_, next) => setImmediate(next) }),
    ...(options.authenticate && { authenticate: options.authenticate }),
    ...(options.endpoints && { endpoints: options.endpoints }),
    limits: {
      limiter: limiterOf(options),
      onSharedBucket: (cause) => counts.sharedBuckets.push(cause),
    },
    onAuthentication: (scheme, outcome) => counts.authentications.push(`${scheme} ${outcome}`),
  }
  const limits = options.stalls === undefined ? LIMITS : { ...LIMITS, stalls: options.stalls }
  const onRequest = createDispatch(dispatchOptions, 'http')
  const server = createPlainServer(limits, {
    onRequest,
    onClientError: createClientErrorHandler(() => 'client-error'),
    ...createUpgrade({ dispatch: dispatchOptions, webSockets, relays }, 'http', onRequest),
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const address = { host: '127.0.0.1', port }
  return {
    url,
    address,
    ...counts,
    relays,
    unexpected,
    failures,
    log,
    inFlight,
    decisions,
    load: (...documents) =>
      serving.apply({
        put: documents.map((document, index) => packed(document, index, options.resourceOf)),
        remove: [],
        realms: { put: [], delete: [] },
      }),
    remove: (id) => serving.apply({ put: [], remove: [id], realms: { put: [], delete: [] } }),
    ask: (method, path, more = {}) =>
      request(`${url}${path}`, {
        method,
        ...more,
        // As nearly all clients do: the last response on a connection has a head of its own.
        headers: { host: 'a.test', connection: 'keep-alive', ...more.headers },
      }),
    raw: async (...parts) => {
      const client = await openRawClient(address, 15_000)
      client.send(
        parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
      )
      return client
    },
    connections: () =>
      new Promise((resolve) => {
        server.getConnections((_, count) => {
          resolve(count)
        })
      }),
    [Symbol.asyncDispose]: async () => {
      await relays.closeAll()
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      })
    },
  }
}

const replacement = (type: string, { forward, wamp }: ServedOptions): Perform | undefined =>
  type === 'forward' ? forward : type.startsWith('wamp_') ? wamp : undefined

const withoutRouter = (hasRealm: boolean): WampEnvironment => {
  const uri = hasRealm ? 'wamp.error.net_failure' : 'wamp.error.no_such_realm'
  const away = (): never => {
    throw new WampError(uri, 'there is no router', { wasSent: false })
  }
  const client: WampClient = {
    callTimeoutUnit: undefined,
    awaitSession: () => undefined,
    call: away,
    publish: () => Promise.reject(new WampError(uri, 'there is no router', { wasSent: false })),
    follow: away,
    register: away,
    subscribe: away,
    release: away,
  }
  return {
    realmUri: 'com.acme',
    client: () => client,
    calls: new Limiter(200),
    callTimeoutMs: () => 1000,
    deadlines: createDeadlines(),
    // Never reached: nothing is held without a router.
    callbacks: {} as CallbackPoster,
    realm: () => undefined,
  }
}

const packed = (document: unknown, since: number, resourceOf?: ServedOptions['resourceOf']) => {
  const outcome = compile(document, {
    realm: () => ({ authmethods: ['oidcrp', 'cookie'], oidcProviders: ['default'] }),
  })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  const { compiled } = outcome
  return packDocument(compiled, { since, rank: 0, resource: resourceOf?.(compiled.id) })
}

/** One version at `/` on every host. */
export const apiOf = (
  paths: Readonly<Record<string, unknown>>,
  { version = {}, ...api }: Readonly<Record<string, unknown>> & { readonly version?: object } = {},
): unknown => ({
  id: 'api',
  host: '_',
  realm_uri: 'com.acme',
  ...api,
  versions: { v1: { base_path: '/', paths, ...version } },
})

export const answers = (body: unknown, response: object = {}): object => ({
  action: { type: 'static', body },
  response,
})
