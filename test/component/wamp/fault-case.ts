// What one fault is: something is done to a router, its peers, a document or a client of a running gateway, and
// what the gateway's clients and its operator see of it is the same whatever router it is.

import type { RealmRecord, RouterRecord } from '../../../language/realm/record.ts'
import type { SessionState } from '../../../language/wire/wire.ts'
import { eventually } from '../../support/eventually.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { type HttpOptions, request } from '../../support/http-request.ts'
import { openRawPeer, type RawPeer, type RawPeerOptions } from '../../support/raw-wamp-peer.ts'
import { OPEN_REALM } from '../../support/routers/router-config.ts'
import type {
  RouterName,
  RouterSuite,
  RouterUnderTest,
} from '../../support/routers/router-under-test.ts'
import { startTcpRelay, type TcpRelay } from '../../support/tcp-relay.ts'
import { call } from '../../support/wamp-peer.ts'
import { ABLE_CALLEE } from '../../contract/router/contract-case.ts'
import { type EventClient, openEventClient } from '../../dataplane/http/sse/event-client.ts'
import { addressOf } from '../../support/raw-client.ts'
import type { Operation } from '../gateway-client.ts'
import { NEIGHBOUR_PATH, type Neighbour } from './neighbour.ts'

export type Transport = 'ws' | 'rawsocket'

/** Methods of each path. */
export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

export interface ReceivedResponse {
  readonly status: number
  /** The `code` of an error record, the whole body of anything else. */
  readonly body: unknown
}

export interface FaultWorld {
  readonly router: RouterUnderTest
  readonly gateway: GatewayProcess
  readonly neighbour: Neighbour
  /** Sessions that the router has on the open realm with itself. */
  readonly routerSessions: number
}

/** Everything that a case opens, loads or puts is gone after it; a router that it has stopped it starts again. */
export class FaultContext implements AsyncDisposable {
  readonly router: RouterUnderTest
  readonly gateway: GatewayProcess
  /** Of this case only: the beginning of its URIs. */
  readonly uri: string
  /** Of this case only: its document, served below that path. */
  readonly id: string
  readonly #own = new AsyncDisposableStack()
  readonly #world: FaultWorld
  readonly #peers: RawPeer[] = []

  constructor(world: FaultWorld, id: string) {
    this.#world = world
    this.router = world.router
    this.gateway = world.gateway
    this.id = id
    this.uri = `com.example.fault.${id}`
  }

  /** Another one of this case, for those that end it. */
  use<T extends AsyncDisposable>(own: T): T {
    return this.#own.use(own)
  }

  /** A session that shares nothing with the gateway; on the open realm, by RawSocket, able to be interrupted. */
  async open(options: Partial<RawPeerOptions> = {}): Promise<RawPeer> {
    const standard = { url: this.router.rawsocket, realm: OPEN_REALM, roles: ABLE_CALLEE }
    const peer = this.#own.use(await openRawPeer({ ...standard, ...options }))
    if (options.realm === undefined) this.#peers.push(peer)
    return peer
  }

  /** Resolves when the gateway has so many sessions on the open realm, by the router's own count. */
  async untilSessions(wanted: number): Promise<number> {
    const peer = await this.open()
    return eventually(async () => {
      const peers = this.#peers.filter(({ hasEnded }) => !hasEnded).length
      const count = (await sessionCount(peer)) - this.#world.routerSessions - peers
      if (count !== wanted) throw new Error(`the gateway has ${count} sessions, not ${wanted}`)
      return count
    })
  }

  /** A relay in front of the router; its URL is for a realm record. */
  async relayTo(transport: Transport): Promise<{ readonly relay: TcpRelay; readonly url: string }> {
    const url = new URL(this.router[transport])
    const relay = this.#own.use(await startTcpRelay(Number(url.port)))
    url.port = String(relay.port)
    return { relay, url: url.href }
  }

  /** Puts the realm of this case. */
  async realm(router: RouterRecord, more: Partial<RealmRecord> = {}): Promise<void> {
    const record: RealmRecord = { uri: OPEN_REALM, router, ...more }
    await this.manage('POST', '/realms', record)
    this.#own.defer(() => this.manage('DELETE', `/realms/${record.uri}`))
  }

  /** Loads the document of this case; again replaces it. */
  async serve(paths: Paths, more: { realmUri?: string; version?: object } = {}): Promise<void> {
    const { id } = this
    const version = { base_path: `/${id}`, paths, ...more.version }
    const realmUri = more.realmUri ?? OPEN_REALM
    await this.manage('POST', '/api_specs', {
      id,
      host: '_',
      realm_uri: realmUri,
      versions: { v1: version },
    })
    this.#own.defer(() => this.manage('DELETE', `/api_specs/${id}`))
  }

  /** @throws Error unless it is answered with 204 */
  async manage(method: string, path: string, json?: object): Promise<void> {
    const { status, text } = await request(this.gateway.management + path, {
      method,
      ...(json !== undefined && { json }),
    })
    if (status !== 204) throw new Error(`${method} ${path}: ${status} ${text}`)
  }

  async read(path: string): Promise<unknown> {
    return (await request(this.gateway.management + path)).json()
  }

  async sessions(realmUri = OPEN_REALM): Promise<readonly SessionState[]> {
    const { sessions } = (await this.read(`/realms/${realmUri}`)) as {
      readonly sessions: readonly SessionState[]
    }
    return sessions
  }

  /** Resolves when all sessions of the realm, and there are some, are in that state. */
  become(state: SessionState['state'], realmUri = OPEN_REALM): Promise<SessionState> {
    return eventually(
      async () => {
        const sessions = await this.sessions(realmUri)
        const [first] = sessions
        if (first === undefined || sessions.some((session) => session.state !== state))
          throw new Error(`not all sessions are ${state}: ${JSON.stringify(sessions)}`)
        return first
      },
      { everyMs: 10, withinMs: 15_000 },
    )
  }

  /** Labels and values of a metric. */
  async metric(name: string): Promise<readonly string[]> {
    const { text } = await request(`${this.gateway.management}/metrics`)
    return text.split('\n').filter((line) => line.startsWith(name))
  }

  url(path: string): string {
    return `${this.gateway.public}/${this.id}${path}`
  }

  async ask(path: string, options: HttpOptions = {}): Promise<ReceivedResponse> {
    return answered(this.url(path), options)
  }

  /** POST of arguments. */
  call(
    path: string,
    args: readonly unknown[] = [],
    options: HttpOptions = {},
  ): Promise<ReceivedResponse> {
    return this.ask(path, { method: 'POST', json: { args }, timeoutMs: 30_000, ...options })
  }

  async listen(path: string, reads = true): Promise<EventClient> {
    const client = this.#own.use(
      await openEventClient(addressOf(this.gateway.public), {
        path: `/${this.id}${path}`,
        headers: { accept: 'text/event-stream' },
        reads,
      }),
    )
    return client
  }

  /** Of a realm with a router of its own. */
  async neighbour(): Promise<ReceivedResponse> {
    await this.#world.neighbour.serveOn(this.gateway)
    return answered(`${this.gateway.public}${NEIGHBOUR_PATH}`, { method: 'POST' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#own.disposeAsync()
  }
}

export const sessionCount = async (peer: RawPeer): Promise<number> => {
  const { args } = await call(peer, 'wamp.session.count')
  return Array.isArray(args) ? Number(args[0]) : NaN
}

const answered = async (url: string, options: HttpOptions): Promise<ReceivedResponse> => {
  const response = await request(url, options)
  const { status, text } = response
  if (status < 400) return { status, body: text === '' ? '' : response.json() }
  const { code } = response.json() as { readonly code?: unknown }
  return { status, body: code }
}

interface CaseBase {
  readonly name: string
  /** The others are slow at it, and have shown the same in another case; all if left out. */
  readonly on?: readonly RouterName[]
  /** Plain data, to be compared. */
  readonly run: (context: FaultContext) => Promise<unknown>
}

export type FaultCase = CaseBase &
  ({ readonly same: unknown } | { readonly each: Readonly<Record<RouterName, unknown>> })

export interface FaultRow {
  readonly title: string
  readonly expected: unknown
  readonly observe: () => unknown
}

export const rowsOf = (
  group: string,
  cases: readonly FaultCase[],
  { name }: RouterSuite,
  open: (id: string) => FaultContext,
): readonly FaultRow[] =>
  cases
    .filter(({ on }) => on?.includes(name) ?? true)
    .map((faultCase, index) => ({
      title: `${group}: ${faultCase.name}`,
      expected: 'same' in faultCase ? faultCase.same : faultCase.each[name],
      observe: async () => {
        await using context = open(`${group}${index}`)
        return await faultCase.run(context)
      },
    }))
