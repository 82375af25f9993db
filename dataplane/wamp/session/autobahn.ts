// Wraps autobahn, of which it types what is used, loads it at first use and turns its console output off. It creates a
// peer that speaks WAMP over a transport of ours; connections, timers and retries of autobahn's own never run.

import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'
import { readError } from './errors.ts'
import type { WampError } from './joined-session.ts'

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

/** Each of these sends its message within the call. */
export interface AutobahnSession {
  call(
    procedure: string,
    args: readonly Value[] | undefined,
    kwargs: ValueMap | undefined,
    options: ValueMap,
  ): PendingRequest
  publish(
    topic: string,
    args: readonly Value[] | undefined,
    kwargs: ValueMap | undefined,
    options: ValueMap,
  ): PendingRequest
  subscribe(topic: string, handler: () => void, options: ValueMap): PendingRequest
  unsubscribe(subscription: unknown): PendingRequest
  register(procedure: string, endpoint: () => void, options: ValueMap): PendingRequest
  unregister(registration: unknown): PendingRequest
  leave(reason: string): void
  resolve: (uri: string) => string
  /** Not part of its public interface; see `createPeer`. */
  _protocol_violation: () => void
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

/** Waits for the response to a request; is called once autobahn has dropped the request. */
export interface ResponseListener {
  /** @param value what autobahn created from the response: a subscription, a registration, a result without details */
  onResponse(response: WampMessage, value: unknown): void
  /** A progressive result; more follows. */
  onProgress(response: WampMessage): void
  onFailure(error: WampError): void
}

type Settlement = 'answered' | 'progressed' | 'failed'
type OnSettled = (request: PendingRequest, settlement: Settlement, value: unknown) => void

const NO_PROMISE = {}

/**
 * Replaces autobahn's deferred (its option `use_deferred`): autobahn finds it by the id of a response and settles it,
 * and `Peer.settle` passes the whole response on to the listener. Promises would cost every call two microtasks, and an
 * unhandled rejection for each one without a listener, and would lose the details of the response.
 */
export class PendingRequest {
  /** Without `then`: autobahn hands out the deferred itself. */
  readonly promise = NO_PROMISE
  /** undefined: nothing waits for the response. */
  listener: ResponseListener | undefined = undefined
  /** Set by autobahn, for calls: sends CANCEL and drops the call. */
  cancel: (options: ValueMap) => void = nothing
  readonly #onSettled: OnSettled

  constructor(onSettled: OnSettled) {
    this.#onSettled = onSettled
  }

  resolve(value: unknown): void {
    this.#onSettled(this, 'answered', value)
  }

  reject(): void {
    this.#onSettled(this, 'failed', undefined)
  }

  notify(): void {
    this.#onSettled(this, 'progressed', undefined)
  }
}

export interface PeerOptions {
  readonly realmUri: string
  readonly authmethods: readonly string[]
  readonly authid: string | undefined
  readonly authextra: ValueMap | undefined
  /** A rejection makes autobahn send ABORT and close. */
  readonly onChallenge: (method: string, extra: ValueMap) => Promise<string>
  /** Never throws: autobahn could not tell which request failed. */
  readonly send: (message: WampMessage) => void
  /** autobahn has nothing more to send. */
  readonly close: () => void
}

/** One life of a session, before and after its WELCOME. */
export interface Peer {
  readonly session: AutobahnSession
  /** Sends HELLO. */
  join(): void
  /** Takes a message whose shape has been checked: autobahn trusts what it receives. */
  readonly receive: (message: WampMessage) => void
  /** Passes a checked response to the listener of its request; false: there is no such request (any more). */
  settle(response: WampMessage): boolean
  /** Ends a request in place of the router; false: there is no such request (any more). */
  fail(type: number, requestId: number, error: WampError): boolean
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
  const delivery = createDelivery(socket)
  const connection = new autobahn.Connection({
    realm: options.realmUri,
    authmethods: options.authmethods,
    authid: options.authid,
    authextra: options.authextra,
    onchallenge: (_session: unknown, method: string, extra: ValueMap) =>
      options.onChallenge(method, extra),
    use_deferred: () => new PendingRequest(delivery.onSettled),
    on_user_error: nothing,
    on_internal_error: nothing,
    retry_if_unreachable: false,
    max_retries: 0,
    transports: [{ type: TRANSPORT, socket }],
  })
  connection.open()
  connection.session.resolve = (uri) => uri
  // In place of one that would close the connection for a late response, and write to globals.
  connection.session._protocol_violation = nothing
  return {
    session: connection.session,
    join: () => {
      socket.onopen()
    },
    receive: (message) => {
      socket.onmessage(message)
    },
    settle: delivery.settle,
    fail: delivery.fail,
  }
}

interface Delivery extends Pick<Peer, 'settle' | 'fail'> {
  readonly onSettled: OnSettled
}

/** Listeners are called after autobahn, not within it: it drops a request only after it has settled it. */
const createDelivery = (socket: AutobahnSocket): Delivery => {
  let settled: PendingRequest | undefined
  let settledAs: Settlement = 'answered'
  let value: unknown

  /** Passes a response to autobahn, and returns the request that autobahn has settled by it. */
  const receive = (response: WampMessage): PendingRequest | undefined => {
    settled = undefined
    socket.onmessage(response)
    const request = settled as PendingRequest | undefined
    settled = undefined
    return request
  }

  const fail = (request: PendingRequest, error: WampError): void => {
    const { listener } = request
    request.listener = undefined
    listener?.onFailure(error)
  }

  return {
    onSettled: (request, settlement, result) => {
      settled = request
      settledAs = settlement
      value = result
    },
    settle: (response) => {
      const request = receive(hasOddProgress(response) ? response.slice(0, 2).concat({}) : response)
      if (request === undefined) return false
      if (settledAs === 'failed') {
        fail(request, readError(response))
        return true
      }
      const { listener } = request
      if (settledAs === 'progressed') listener?.onProgress(response)
      else {
        const result = value
        value = undefined
        request.listener = undefined
        listener?.onResponse(response, result)
      }
      return true
    },
    fail: (type, requestId, error) => {
      const request = receive([MESSAGE.error, type, requestId, {}, error.uri])
      if (request === undefined) return false
      fail(request, error)
      return true
    },
  }
}

/** autobahn takes any truthy mark for that of a progressive result. */
const hasOddProgress = (response: WampMessage): boolean => {
  if (response[0] !== MESSAGE.result) return false
  const { progress } = response[2] as ValueMap
  return progress !== undefined && progress !== true
}

function nothing(): void {
  // Also where autobahn reports what has been processed already.
}
