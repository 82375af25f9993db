// Starts a small management server that keeps what it is sent and misbehaves as a test sets. It records every call. It
// never validates a document.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  createServer as createSecureServer,
  type Server as SecureServer,
  type ServerOptions,
} from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { rootDigest } from '../../language/wire/digest.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import type {
  EndpointsRequest,
  ServiceEndpoints,
  SyncItem,
  SyncRequest,
} from '../../language/wire/wire.ts'

export interface FakeCall {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** Of a sync call. */
  readonly sync?: SyncRequest
  readonly status: number
}

/** What the next call gets in place of its response. */
export interface Misbehaviour {
  readonly status?: number
  readonly body?: unknown
  readonly etag?: string
  /** Validated and answered no sooner than this. */
  readonly until?: Promise<unknown>
  /** Break the connection. */
  readonly reset?: boolean
  /** `state` or `sync` calls only. */
  readonly on?: 'state' | 'sync'
}

interface FakeEntry {
  digest: string
  managedBy: string | null
  resource?: string
  warnings: readonly Warning[]
}

export class FakeDataPlane {
  readonly calls: FakeCall[] = []
  readonly specs = new Map<string, FakeEntry>()
  readonly realms = new Map<string, FakeEntry>()
  /** Ids that are refused, with the reason. */
  readonly refuses = new Map<string, Problem>()
  readonly misbehaviours: Misbehaviour[] = []
  manager: string | null = 'svc-operator'
  epoch = 0
  complete = false
  /** As submitted, by id: what `view=source` answers. */
  readonly sources = new Map<string, unknown>()
  /** What it was told of Services, by name, and every such call that it took. */
  readonly services = new Map<string, ServiceEndpoints>()
  readonly endpointCalls: EndpointsRequest[] = []
  /** It knows no such call: 404. */
  isBeforeEndpoints = false
  endpointCalls404 = 0
  /** What the next such calls get in place of their response. */
  readonly endpointFaults: Misbehaviour[] = []
  /** Told in the state view. */
  gatewayVersion: string | undefined
  /** It keeps what resource a document comes from, and tells in the state view. */
  isNaming = false
  /** Told in the state view. */
  upstreams: unknown
  /** Told of every realm. */
  sessions: readonly unknown[] = []
  /** Each call needs a connection of its own. */
  isForgetful = false
  /** Calls arrive and are never answered. */
  isHanging = false
  /** Called, and waited for, when a call has arrived whole and when its response is about to be written. */
  onMoment: (moment: 'arrived' | 'done') => void | Promise<void> = () => undefined
  /** Items that are left out of responses to sync calls. */
  readonly forgets = new Set<string>()
  #port = 0
  #boot = 1
  #version = 0
  readonly #server: Server

  readonly #scheme: 'http' | 'https'

  constructor(tls?: ServerOptions) {
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      void this.#answer(request, response)
    }
    this.#scheme = tls === undefined ? 'http' : 'https'
    this.#server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer)
    // As a gateway has it: between two polls a connection stays open.
    this.#server.keepAliveTimeout = 65_000
  }

  static async start(port = 0, tls?: ServerOptions): Promise<FakeDataPlane> {
    const plane = new FakeDataPlane(tls)
    await plane.listen(port)
    return plane
  }

  async listen(port = 0): Promise<void> {
    await once(this.#server.listen(port, '127.0.0.1'), 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Of the last time that it listened. */
  get port(): number {
    return this.#port
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`
  }

  get syncs(): readonly SyncRequest[] {
    return this.calls.flatMap(({ sync }) => (sync === undefined ? [] : [sync]))
  }

  /** From now on TLS is spoken like this; connections that are open go on as they are. */
  renewTls(tls: ServerOptions): void {
    if ('setSecureContext' in this.#server) (this.#server as SecureServer).setSecureContext(tls)
  }

  /** Another process with the same address: empty, unless it kept what it had. */
  restart({ keeps = false }: { readonly keeps?: boolean } = {}): void {
    this.#boot += 1
    this.complete = false
    this.services.clear()
    if (keeps) return
    this.specs.clear()
    this.realms.clear()
  }

  /** Somebody else changes something. */
  touch(): void {
    this.#version += 1
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve()
      })
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  rootDigest(): string {
    const lines = (kind: 'realm' | 'spec', entries: ReadonlyMap<string, FakeEntry>) =>
      [...entries]
        .filter(([, { managedBy }]) => managedBy !== null && managedBy === this.manager)
        .map(([key, { digest }]) => ({ kind, key, digest }))
    return rootDigest([...lines('realm', this.realms), ...lines('spec', this.specs)])
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request).catch(() => undefined)
    // Broken off by the caller.
    if (body === undefined) return
    if (request.url === '/service_endpoints') {
      const result = this.#tellEndpoints(JSON.parse(body) as EndpointsRequest)
      await this.#write(response, { etag: '', ...result })
      return
    }
    const sync = body === '' ? undefined : (JSON.parse(body) as SyncRequest)
    await this.onMoment('arrived')
    if (this.isHanging) return
    const odd = this.#take(sync === undefined ? 'state' : 'sync') ?? {}
    await odd.until
    if (odd.reset === true) {
      request.socket.destroy()
      return
    }
    const chosen = odd.status === undefined ? this.#usual(request, sync) : odd
    this.#note(request, sync, chosen)
    await this.#write(response, { etag: this.#etag(), ...chosen })
  }

  #note(
    { method = '', url: path = '', headers }: IncomingMessage,
    sync: SyncRequest | undefined,
    { status = 200 }: Misbehaviour,
  ): void {
    this.calls.push({ method, path, headers, ...(sync && { sync }), status })
  }

  async #write(
    response: ServerResponse,
    { status = 200, etag, body }: Misbehaviour,
  ): Promise<void> {
    const text = body === undefined ? '' : JSON.stringify(body)
    await this.onMoment('done')
    response.writeHead(status, {
      'content-type': 'application/json',
      etag,
      ...(this.isForgetful && { connection: 'close' }),
    })
    response.end(text)
  }

  #take(kind: 'state' | 'sync'): Misbehaviour | undefined {
    const index = this.misbehaviours.findIndex(({ on }) => on === undefined || on === kind)
    return index < 0 ? undefined : this.misbehaviours.splice(index, 1)[0]
  }

  #usual(request: IncomingMessage, sync: SyncRequest | undefined): Misbehaviour {
    if (sync !== undefined) return this.#sync(sync)
    const [, id] = /^\/api_specs\/([^?]+)\?view=source$/.exec(request.url ?? '') ?? []
    if (id !== undefined) return this.#source(decodeURIComponent(id))
    if (request.headers['if-none-match'] === this.#etag()) return { status: 304 }
    return {
      status: 200,
      body: {
        bootId: `boot-${this.#boot}`,
        version: this.#version,
        ...(this.gatewayVersion !== undefined && { gatewayVersion: this.gatewayVersion }),
        manager: this.manager,
        epoch: this.epoch,
        rootDigest: this.rootDigest(),
        complete: this.complete,
        ...(this.upstreams !== undefined && { upstreams: this.upstreams }),
        specs: Object.fromEntries(this.specs),
        realms: Object.fromEntries(
          [...this.realms].map(([uri, entry]) => [uri, { ...entry, sessions: this.sessions }]),
        ),
      },
    }
  }

  #tellEndpoints(call: EndpointsRequest): Misbehaviour {
    if (this.isBeforeEndpoints) {
      this.endpointCalls404 += 1
      return refusal(404, 'svc.error.not_found', {})
    }
    const fault = this.endpointFaults.shift()
    if (fault !== undefined) return fault
    if (call.epoch < this.epoch) return refusal(409, 'svc.error.stale_epoch', { epoch: this.epoch })
    this.endpointCalls.push(call)
    for (const each of call.put ?? []) this.services.set(each.service, each)
    for (const key of call.delete ?? []) this.services.delete(key)
    for (const key of this.services.keys())
      if (call.only?.includes(key) === false) this.services.delete(key)
    return { status: 200, body: { services: this.services.size } }
  }

  #source(id: string): Misbehaviour {
    const digest = this.specs.get(id)?.digest
    if (digest === undefined) return refusal(404, 'svc.error.not_found', {})
    return { status: 200, body: this.sources.get(id), etag: `"${digest}"` }
  }

  #etag(): string {
    return `"boot-${this.#boot}-${this.#version}-${String(this.complete)}"`
  }

  #sync(sync: SyncRequest): Misbehaviour {
    if (sync.managedBy !== this.manager) return refusal(403, 'svc.error.not_owner', {})
    if (sync.epoch < this.epoch) return refusal(409, 'svc.error.stale_epoch', { epoch: this.epoch })
    if (sync.base !== this.rootDigest()) return refusal(412, 'svc.error.stale_base', {})
    this.epoch = sync.epoch
    for (const { id, spec } of sync.specs?.put ?? []) {
      if (!this.refuses.has(id)) this.sources.set(id, spec)
    }
    const items = this.#apply(sync)
    if (items.length > 0) this.#version += 1
    const held = this.rootDigest()
    if (sync.complete !== undefined && sync.complete !== held) {
      return refusal(409, 'svc.error.incomplete', { rootDigest: held })
    }
    if (sync.complete !== undefined) this.complete = true
    const told = items.filter(({ id }) => !this.forgets.has(id))
    return { status: 200, body: { rootDigest: held, items: told } }
  }

  #apply({ realms, specs, managedBy }: SyncRequest): readonly SyncItem[] {
    return [
      ...(realms?.put ?? []).map(({ uri, digest }) =>
        this.#put(this.realms, { kind: 'realm', id: uri, digest, managedBy }),
      ),
      ...(specs?.delete ?? []).map((id) => remove(this.specs, 'spec', id)),
      ...(specs?.put ?? []).map(({ id, digest, resource = '' }) => {
        const item = this.#put(this.specs, { kind: 'spec', id, digest, managedBy })
        const entry = this.specs.get(id)
        if (this.isNaming && entry !== undefined && item.result !== 'rejected')
          entry.resource = resource
        return item
      }),
      ...(realms?.delete ?? []).map((uri) => remove(this.realms, 'realm', uri)),
    ]
  }

  #put(
    entries: Map<string, FakeEntry>,
    put: {
      readonly kind: SyncItem['kind']
      readonly id: string
      readonly digest: string
      readonly managedBy: string
    },
  ): SyncItem {
    const { kind, id, digest, managedBy } = put
    const problem = this.refuses.get(id)
    if (problem !== undefined)
      return { id, kind, result: 'rejected', errors: [problem], warnings: [] }
    const isSame = entries.get(id)?.digest === digest
    entries.set(id, { digest, managedBy, warnings: [] })
    return { id, kind, result: isSame ? 'unchanged' : 'loaded', errors: [], warnings: [] }
  }
}

const remove = (entries: Map<string, FakeEntry>, kind: SyncItem['kind'], id: string): SyncItem => {
  entries.delete(id)
  return { id, kind, result: 'deleted', errors: [], warnings: [] }
}

const refusal = (status: number, code: string, more: object): Misbehaviour => ({
  status,
  body: { code, message: 'refused by the fake', description: '', ...more },
})

const readBody = (request: IncomingMessage): Promise<string> =>
  request.headers['content-encoding'] === 'gzip'
    ? text(request.pipe(createGunzip()))
    : text(request)
