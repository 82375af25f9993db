// The one way into autobahn: what is used of it, typed, loaded at first use, its console output off. It gives
// a peer that speaks WAMP over a wire of ours; connections, timers and retries of autobahn's own never run.

import type { Value, ValueMap } from '../../../language/expression/value.ts'
import type { WampMessage } from '../protocol/messages.ts'

/** What is used of the module. */
export interface Autobahn {
  readonly Connection: new (options: object) => AutobahnConnection
  readonly transports: {
    isRegistered(name: string): boolean
    register(name: string, factory: unknown): void
  }
  readonly log: { debug: () => void; warn: () => void }
}

interface AutobahnConnection {
  readonly session: AutobahnSession
  open(): void
}

/** The message goes out within each of these; its answer is told by the outcome. */
export interface AutobahnSession {
  call(
    procedure: string,
    args: readonly Value[] | undefined,
    kwargs: ValueMap | undefined,
    options: ValueMap,
  ): Outcome
  publish(
    topic: string,
    args: readonly Value[] | undefined,
    kwargs: ValueMap | undefined,
    options: ValueMap,
  ): Outcome
  subscribe(topic: string, handler: () => void, options: ValueMap): Outcome
  unsubscribe(subscription: unknown): Outcome
  register(procedure: string, endpoint: () => void, options: ValueMap): Outcome
  unregister(registration: unknown): Outcome
  leave(reason: string): void
  resolve: (uri: string) => string
}

/** What autobahn calls its transport. */
interface AutobahnSocket {
  readonly info: { readonly type: string; readonly url: null; readonly protocol: string }
  onopen: () => void
  onmessage: (message: WampMessage) => void
  onclose: (event: { readonly wasClean: boolean }) => void
  send(message: WampMessage): void
  close(code?: number, reason?: string): void
}

const NO_PROMISE = {}

/**
 * Stands where autobahn wants a deferred (its option `use_deferred`): it keeps the answer's value and tells
 * nobody. Promises would cost every call two microtasks and an unhandled rejection each time nobody listens,
 * and what autobahn would say is known before it says so.
 */
export class Outcome {
  /** Without `then`: autobahn hands out the deferred itself. */
  readonly promise = NO_PROMISE
  value: unknown = undefined
  /** Set by autobahn, for calls: sends CANCEL and forgets the call. */
  cancel: (options: ValueMap) => void = nothing

  resolve(value: unknown): void {
    this.value = value
  }

  reject = nothing
  notify = nothing
}

export interface PeerOptions {
  readonly realmUri: string
  readonly authmethods: readonly string[]
  readonly authid: string | undefined
  readonly authextra: ValueMap | undefined
  /** A rejection makes autobahn say ABORT and close. */
  readonly onChallenge: (method: string, extra: ValueMap) => Promise<string>
  /** Never throws: autobahn could not say where. */
  readonly send: (message: WampMessage) => void
  /** autobahn has nothing more to say. */
  readonly close: () => void
}

/** One life of a session, before and after its WELCOME. */
export interface Peer {
  readonly session: AutobahnSession
  /** Says HELLO. */
  join(): void
  /** A message whose shape has been checked: autobahn trusts what it is told. */
  readonly receive: (message: WampMessage) => void
}

const TRANSPORT = 'svc-gateway'

/**
 * Loads the library and registers our transport with it, once.
 *
 * @example
 * const peer = createPeer(await loadAutobahn(), options)
 */
export const loadAutobahn = async (): Promise<Autobahn> => {
  const autobahn = (await import('autobahn')).default as Autobahn
  autobahn.log.debug = nothing
  autobahn.log.warn = nothing
  if (!autobahn.transports.isRegistered(TRANSPORT)) {
    autobahn.transports.register(TRANSPORT, createFactory)
  }
  return autobahn
}

/** Called with `new` by autobahn, for each connection. */
function createFactory(options: { readonly socket: AutobahnSocket }): object {
  return { type: TRANSPORT, create: () => options.socket }
}

/** Prefixes are off: `constructor:x` would be looked up among the members of every object. */
export const createPeer = (autobahn: Autobahn, options: PeerOptions): Peer => {
  const socket: AutobahnSocket = {
    info: { type: TRANSPORT, url: null, protocol: TRANSPORT },
    onopen: nothing,
    onmessage: nothing,
    onclose: nothing,
    send: options.send,
    close: options.close,
  }
  const connection = new autobahn.Connection({
    realm: options.realmUri,
    authmethods: options.authmethods,
    authid: options.authid,
    authextra: options.authextra,
    onchallenge: (_session: unknown, method: string, extra: ValueMap) =>
      options.onChallenge(method, extra),
    use_deferred: () => new Outcome(),
    on_user_error: nothing,
    on_internal_error: nothing,
    retry_if_unreachable: false,
    max_retries: 0,
    transports: [{ type: TRANSPORT, socket }],
  })
  connection.open()
  connection.session.resolve = (uri) => uri
  return {
    session: connection.session,
    join: () => {
      socket.onopen()
    },
    receive: (message) => {
      socket.onmessage(message)
    },
  }
}

function nothing(): void {
  // Also where autobahn reports what has been dealt with already.
}
