// A router that is nothing but a script: links and sessions as the bridge sees them, moved by a test.

import type { Value, ValueMap } from '../../../language/expression/value.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { SessionState } from '../../../language/wire/wire.ts'
import { createSilentLog, type Log } from '../../../telemetry/log.ts'
import { createBridge } from '../../../dataplane/wamp/realm/bridge.ts'
import type { BridgeOptions } from '../../../dataplane/wamp/realm/bridge-setup.ts'
import type {
  BridgeChange,
  Follower,
  DurableKind,
  WampBridge,
} from '../../../dataplane/wamp/realm/wamp-client.ts'
import {
  WampError,
  type CallHandler,
  type CallRequest,
  type InvocationHandler,
  type Link,
  type LinkObserver,
  type LinkOptions,
  type PendingCall,
  type SessionHold,
  type WampEvent,
  type WampSession,
} from '../../../dataplane/wamp/session/joined-session.ts'

type Operation = 'subscribe' | 'unsubscribe' | 'register' | 'unregister' | 'publish'

/** What the router answers; undefined: yes. A promise that stays open: nothing. */
export type Respond = (operation: Operation, uri: string) => Promise<void> | WampError | undefined

const lostError = (): WampError =>
  new WampError('wamp.error.net_failure', 'The session has ended', { wasSent: true })

export class ScriptedSession implements WampSession {
  readonly id: number
  pendingCalls = 0
  /** `subscribe com.acme.topic`, in the order they came. */
  readonly asked: string[] = []
  readonly calls: { readonly request: CallRequest; readonly handler: CallHandler }[] = []
  readonly options: ValueMap[] = []
  readonly #answer: Respond
  readonly #events = new Map<string, (event: WampEvent) => void>()
  readonly #handlers = new Map<string, InvocationHandler>()
  readonly #open = new Set<(error: WampError) => void>()
  readonly #revocations = new Map<string, () => void>()
  #nextId = 1
  #isOver = false

  constructor(id: number, respond: Respond) {
    this.id = id
    this.#answer = respond
  }

  call(request: CallRequest, handler: CallHandler): PendingCall {
    this.calls.push({ request, handler })
    this.pendingCalls++
    return { cancel: () => undefined }
  }

  async publish(topic: string): Promise<{ publicationId: number }> {
    await this.#ask('publish', topic)
    return { publicationId: this.id * 1000 }
  }

  async subscribe(
    topic: string,
    options: ValueMap,
    onEvent: (event: WampEvent) => void,
  ): Promise<SessionHold> {
    this.options.push(options)
    // As a session does it: events are handed on from the acknowledgement on, before the promise is heard.
    await this.#ask('subscribe', topic)
    this.#events.set(topic, onEvent)
    return this.#hold('unsubscribe', topic, this.#events)
  }

  async register(
    procedure: string,
    _options: ValueMap,
    handler: InvocationHandler,
  ): Promise<SessionHold> {
    await this.#ask('register', procedure)
    this.#handlers.set(procedure, handler)
    return this.#hold('unregister', procedure, this.#handlers)
  }

  emit(topic: string, ...args: Value[]): WampEvent {
    const event = { publicationId: this.#nextId++, args, kwargs: {}, details: { topic } }
    this.#events.get(topic)?.(event)
    return event
  }

  /** Of the router's registration; undefined when there is none. */
  invoke(procedure: string): ReturnType<InvocationHandler> | undefined {
    return this.#handlers.get(procedure)?.({ args: [], kwargs: {}, details: { procedure } })
  }

  /** As the router does it by itself. */
  revoke(uri: string): void {
    this.#events.delete(uri)
    this.#handlers.delete(uri)
    this.#revocations.get(uri)?.()
  }

  end(): void {
    this.#isOver = true
    for (const reject of this.#open) reject(lostError())
    this.#open.clear()
  }

  #hold(
    operation: 'unsubscribe' | 'unregister',
    uri: string,
    all: Map<string, unknown>,
  ): SessionHold {
    const revoked = Promise.withResolvers<undefined>()
    this.#revocations.set(uri, () => {
      revoked.resolve(undefined)
    })
    return {
      id: this.id * 1000 + this.#nextId++,
      revoked: revoked.promise,
      release: async () => {
        if (this.#isOver) return
        await this.#ask(operation, uri)
        all.delete(uri)
      },
    }
  }

  #ask(operation: Operation, uri: string): Promise<void> {
    if (this.#isOver) return Promise.reject(lostError())
    this.asked.push(`${operation} ${uri}`)
    const response = this.#answer(operation, uri)
    if (response instanceof WampError) return Promise.reject(response)
    if (response === undefined) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#open.add(reject)
      response.then(resolve, reject)
    })
  }
}

export class ScriptedLink implements Link {
  readonly options: LinkOptions
  state: SessionState
  session: ScriptedSession | undefined
  isClosed = false
  isBackingOff = false
  /** How long `close()` takes; a promise that stays open: for ever. */
  closing: Promise<void> = Promise.resolve()
  readonly #observer: LinkObserver
  readonly #nextSession: () => ScriptedSession

  constructor(options: LinkOptions, observer: LinkObserver, nextSession: () => ScriptedSession) {
    this.options = options
    this.#observer = observer
    this.#nextSession = nextSession
    this.state = { url: options.urls[0] ?? '', state: 'connecting' }
  }

  join(): ScriptedSession {
    const session = this.#nextSession()
    this.session = session
    this.isBackingOff = false
    this.state = { url: this.options.urls[0] ?? '', state: 'open' }
    this.#observer.onState()
    this.#observer.onJoined(session)
    return session
  }

  lose(): void {
    this.#endSession()
    this.turn('waiting', 'lost')
  }

  /** An attempt has failed. */
  backOff(state: 'waiting' | 'refused' = 'waiting', reason = 'away'): void {
    this.turn(state, reason)
    this.isBackingOff = true
    this.#observer.onBackOff()
  }

  /** The pause is over. */
  tryAgain(): void {
    this.isBackingOff = false
  }

  turn(state: SessionState['state'], reason: string): void {
    this.state = { url: this.options.urls[0] ?? '', state, reason }
    this.#observer.onState()
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.closing
    this.#endSession()
  }

  #endSession(): void {
    const { session } = this
    if (session === undefined) return
    session.end()
    this.session = undefined
    this.#observer.onLost()
  }
}

export interface Scene {
  readonly bridge: WampBridge
  /** In the order they were opened. */
  readonly links: readonly ScriptedLink[]
  /** URLs of the links that are open. */
  open(): readonly string[]
  /** How often `onStatus` was called. */
  statusCalls(): number
  readonly logged: string[]
  readonly elsewhere: string[]
  answer: Respond
}

/** A bridge on scripted links; times short enough for tests, but for those that a test sets. */
export const createScene = (
  times: BridgeOptions['times'] = {},
  more: { readonly openLink?: BridgeOptions['openLink']; readonly random?: () => number } = {},
): Scene => {
  const links: ScriptedLink[] = []
  const logged: string[] = []
  const elsewhere: string[] = []
  let statusCalls = 0
  let sessions = 0
  const scene: { answer: Respond } = { answer: () => undefined }
  const log: Log = {
    ...createSilentLog(),
    info: (message) => logged.push(message),
    warn: (message) => logged.push(message),
    error: (message) => logged.push(message),
  }
  const bridge = createBridge({
    openLink: (options, observer) => {
      const link = new ScriptedLink(
        options,
        observer,
        () => new ScriptedSession(++sessions, (operation, uri) => scene.answer(operation, uri)),
      )
      links.push(link)
      return link
    },
    log,
    onStatus: () => {
      statusCalls++
    },
    releaseElsewhere: (realmUri: string, kind: DurableKind, id: number) => {
      elsewhere.push(`${realmUri} ${kind} ${id}`)
      return Promise.resolve(id === 4711)
    },
    times: { lingerMs: 40, settleMs: 20, drainMs: 2000, handoverMs: 2000, ...times },
    ...more,
  })
  return Object.assign(scene, {
    bridge,
    links,
    open: () => links.flatMap(({ isClosed, options }) => (isClosed ? [] : [options.urls.join()])),
    statusCalls: () => statusCalls,
    logged,
    elsewhere,
  })
}

export const REALM = 'com.acme'
export const URL_ONE = 'ws://one:8080/ws'
export const URL_TWO = 'ws://two:8080/ws'

export const realm = (url: string | undefined = URL_ONE, uri = REALM): RealmRecord => ({
  uri,
  router: { url },
})

export const document = (
  id = 'orders',
  realmUri = REALM,
  versions: readonly unknown[] = [{}],
): BridgeChange['put'][number] => ({ id, realmUri, versions })

export const change = ({
  put = [],
  remove = [],
  realms = [],
  deleted = [],
}: {
  readonly put?: BridgeChange['put']
  readonly remove?: readonly string[]
  readonly realms?: readonly RealmRecord[]
  readonly deleted?: readonly string[]
}): BridgeChange => ({ put, remove, realms: { put: realms, delete: deleted } })

/** A scene with one document in a realm, its only link joined. */
export const joinedScene = (
  ...given: Parameters<typeof createScene>
): Scene & { readonly link: ScriptedLink; readonly session: ScriptedSession } => {
  const scene = createScene(...given)
  scene.bridge.follow(change({ put: [document()], realms: [realm()] }))
  const link = linkAt(scene, 0)
  return Object.assign(scene, { link, session: link.join() })
}

export const linkAt = (scene: Scene, index: number): ScriptedLink => {
  const link = scene.links.at(index)
  if (link === undefined) throw new Error(`link ${index} has not been opened`)
  return link
}

/** Everything a follower has been told, as words. */
export interface Heard extends Follower {
  readonly heard: string[]
  readonly events: WampEvent[]
}

export const hear = (): Heard => {
  const heard: string[] = []
  const events: WampEvent[] = []
  return {
    heard,
    events,
    onFollowed: (id) => heard.push(`followed ${id}`),
    onEvent: (event) => {
      events.push(event)
      heard.push(`event ${JSON.stringify(event.args[0])}`)
    },
    onInterrupted: () => heard.push('interrupted'),
    onResumed: () => heard.push('resumed'),
    onFailure: (error) => heard.push(`failure ${error.uri}`),
  }
}

/** What a function throws, or rejects with. */
export const errorOf = async (run: () => unknown): Promise<WampError> => {
  try {
    await run()
  } catch (error) {
    if (error instanceof WampError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
