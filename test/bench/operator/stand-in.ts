// A data plane that is light enough for a hundred in one process: it answers the management API, keeps digests and
// no document, and validates nothing. What is sent to many alike is read once, and what they hold alike is kept once.

import { gunzipSync } from 'node:zlib'
import { hash } from 'node:crypto'
import { rootDigest } from '../../../language/wire/digest.ts'
import type { SyncItem, SyncReply, SyncRequest } from '../../../language/wire/wire.ts'

export interface StandInCall {
  readonly method: string
  readonly path: string
  readonly etag: string | undefined
  readonly body: Buffer
  readonly isGzip: boolean
  readonly atMs: number
}

export interface StandInResponse {
  readonly status: number
  readonly etag?: string
  readonly text: string
}

export interface StandInFacts {
  /** GETs that were answered with 304. */
  readonly polls: number
  /** GETs that were answered with the whole state. */
  readonly observations: number
  /** Sync calls that put or delete something. */
  readonly pushes: number
  /** Calls that tell of the Pods of Services. */
  readonly endpointCalls: number
  readonly observedAtMs: number | undefined
  /** A sync call of this boot has completed it. */
  readonly completedAtMs: number | undefined
}

/** Told of each document that a data plane takes. */
export type OnTaken = (id: string, digest: string, atMs: number) => void

/** What data planes hold: never changed, shared by all that hold the same. */
interface Contents {
  readonly root: string
  readonly specs: ReadonlyMap<string, string>
  readonly realms: ReadonlyMap<string, string>
}

/** What a sync call means to a data plane that holds its base. */
interface Transition {
  readonly request: Pick<SyncRequest, 'managedBy' | 'epoch' | 'base'> & {
    readonly complete: string | undefined
  }
  readonly after: Contents
  readonly taken: readonly { readonly id: string; readonly digest: string }[]
  readonly text: string
  readonly isPush: boolean
  /** Nothing but documents is put. */
  readonly isPlain: boolean
}

const NOTHING: Contents = { root: rootDigest([]), specs: new Map(), realms: new Map() }
const MAX_KEPT = 64

/** What all stand-ins of a process share. */
export class SharedTransitions {
  readonly #known = new Map<string, Transition>()
  readonly #states = new WeakMap<Contents, string>()

  read({ body, isGzip }: StandInCall, before: Contents): Transition {
    const key = hash('sha256', body)
    const known = this.#known.get(key)
    // The same bytes name the same base: a data plane that holds another one learns so before it matters.
    if (known !== undefined) return known
    const text = (isGzip ? gunzipSync(body) : body).toString()
    const made = transitionOf(JSON.parse(text) as SyncRequest, before)
    if (made.request.base !== before.root) return made
    this.#known.set(key, made)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KEPT) break
      this.#known.delete(oldest)
    }
    return made
  }

  /** Members of a state view that say what is held. */
  stateOf(contents: Contents, manager: string): string {
    const known = this.#states.get(contents)
    if (known !== undefined) return known
    const entries = (held: ReadonlyMap<string, string>, more: object): string =>
      JSON.stringify(
        Object.fromEntries(
          Array.from(held, ([key, digest]) => [key, { digest, managedBy: manager, ...more }]),
        ),
      )
    const specs = entries(contents.specs, { warnings: [] })
    const text = `"specs":${specs},"realms":${entries(contents.realms, { sessions: [] })}`
    this.#states.set(contents, text)
    return text
  }
}

export class StandIn {
  readonly #name: string
  readonly #manager: string
  readonly #shared: SharedTransitions
  readonly #onTaken: OnTaken
  #boot = 0
  #version = 0
  #epoch = 0
  #contents = NOTHING
  #facts: StandInFacts = NO_FACTS

  constructor(
    name: string,
    options: {
      readonly manager: string
      readonly shared: SharedTransitions
      readonly onTaken: OnTaken
    },
  ) {
    this.#name = name
    this.#manager = options.manager
    this.#shared = options.shared
    this.#onTaken = options.onTaken
  }

  get facts(): StandInFacts {
    return this.#facts
  }

  /** Counts from zero; whether it is complete stays. */
  mark(): void {
    this.#facts = { ...NO_FACTS, completedAtMs: this.#facts.completedAtMs }
  }

  /** Another process by the same address, empty. */
  restart(): void {
    this.#boot += 1
    this.#contents = NOTHING
    this.#facts = NO_FACTS
  }

  answer(call: StandInCall): StandInResponse {
    if (call.path === '/service_endpoints') return this.#endpoints()
    return call.method === 'POST' ? this.#sync(call) : this.#state(call)
  }

  #state({ etag, atMs }: StandInCall): StandInResponse {
    const own = this.#etag()
    if (etag === own) {
      this.#note({ polls: this.#facts.polls + 1 })
      return { status: 304, etag: own, text: '' }
    }
    this.#note({ observations: this.#facts.observations + 1, observedAtMs: atMs })
    const head = JSON.stringify({
      bootId: this.#bootId(),
      version: this.#version,
      manager: this.#manager,
      epoch: this.#epoch,
      rootDigest: this.#contents.root,
      complete: this.#facts.completedAtMs !== undefined,
    })
    const held = this.#shared.stateOf(this.#contents, this.#manager)
    return { status: 200, etag: own, text: `${head.slice(0, -1)},${held}}` }
  }

  #sync(call: StandInCall): StandInResponse {
    const { request, after, taken, text, isPush, isPlain } = this.#shared.read(call, this.#contents)
    if (request.managedBy !== this.#manager) return refusal(403, 'svc.error.not_owner', {})
    if (request.epoch < this.#epoch)
      return refusal(409, 'svc.error.stale_epoch', { epoch: this.#epoch })
    if (request.base !== this.#contents.root) return refusal(412, 'svc.error.stale_base', {})
    const etag = this.#etag()
    const isTold = request.epoch === this.#epoch && isPlain
    this.#epoch = request.epoch
    this.#contents = after
    this.#version += 1
    const step = JSON.stringify({ before: etag, after: this.#etag() })
    const reply = isTold ? `${text.slice(0, -1)},"state":${step}}` : text
    if (isPush) this.#note({ pushes: this.#facts.pushes + 1 })
    for (const { id, digest } of taken) this.#onTaken(id, digest, call.atMs)
    if (request.complete === undefined) return { status: 200, etag: this.#etag(), text: reply }
    if (request.complete !== after.root)
      return refusal(409, 'svc.error.incomplete', { rootDigest: after.root })
    this.#note({ completedAtMs: call.atMs })
    return { status: 200, etag: this.#etag(), text: reply }
  }

  #endpoints(): StandInResponse {
    this.#note({ endpointCalls: this.#facts.endpointCalls + 1 })
    return { status: 200, text: '{"services":0}' }
  }

  #note(facts: Partial<StandInFacts>): void {
    this.#facts = { ...this.#facts, ...facts }
  }

  #bootId(): string {
    return `${this.#name}-${this.#boot}`
  }

  #etag(): string {
    return `"${this.#bootId()}-${this.#version}"`
  }
}

const NO_FACTS: StandInFacts = {
  polls: 0,
  observations: 0,
  pushes: 0,
  endpointCalls: 0,
  observedAtMs: undefined,
  completedAtMs: undefined,
}

const transitionOf = (request: SyncRequest, before: Contents): Transition => {
  const { managedBy, epoch, base, complete } = request
  const { put: puts = [], delete: deletes = [] } = request.specs ?? NOT_SENT
  const { put: realmPuts = [], delete: realmDeletes = [] } = request.realms ?? NOT_SENT
  const items: SyncItem[] = []
  const held = { realms: new Map(before.realms), specs: new Map(before.specs) }
  const put = (kind: SyncItem['kind'], id: string, digest: string): void => {
    held[ROOMS[kind]].set(id, digest)
    items.push({ id, kind, result: 'loaded', ...SILENT })
  }
  const remove = (kind: SyncItem['kind'], id: string): void => {
    held[ROOMS[kind]].delete(id)
    items.push({ id, kind, result: 'deleted', ...SILENT })
  }
  for (const { uri, digest } of realmPuts) put('realm', uri, digest)
  for (const id of deletes) remove('spec', id)
  for (const { id, digest } of puts) put('spec', id, digest)
  for (const uri of realmDeletes) remove('realm', uri)
  const isPush = items.length > 0
  const after = isPush ? { ...held, root: rootOf(held) } : before
  const reply: SyncReply = { rootDigest: after.root, items }
  return {
    after,
    isPush,
    isPlain: realmPuts.length + realmDeletes.length + deletes.length === 0,
    request: { managedBy, epoch, base, complete },
    taken: puts.map(({ id, digest }) => ({ id, digest })),
    text: JSON.stringify(reply),
  }
}

const NOT_SENT: { readonly put?: undefined; readonly delete?: undefined } = {}
const ROOMS = { realm: 'realms', spec: 'specs' } as const
const SILENT = { errors: [], warnings: [] }

const rootOf = ({ realms, specs }: Omit<Contents, 'root'>): string =>
  rootDigest([
    ...Array.from(realms, ([key, digest]) => ({ kind: 'realm', key, digest }) as const),
    ...Array.from(specs, ([key, digest]) => ({ kind: 'spec', key, digest }) as const),
  ])

const refusal = (status: number, code: string, more: object): StandInResponse => ({
  status,
  text: JSON.stringify({ code, message: 'refused by the stand-in', description: '', ...more }),
})
