// Wraps autobahn, of which it types what is used, loads it at first use and turns its console output off. It creates a
// peer that speaks WAMP over a transport of ours; connections, timers and retries of autobahn's own never run.

import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'
import { faultOf } from './errors.ts'
import type { WampFault } from './joined-session.ts'

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

/** The message goes out within each of these. */
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
  /** Not of its public surface; see `createPeer`. */
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

/** Waits for the answer to a request; is called once autobahn has forgotten the request. */
export interface AnswerListener {
  /** @param value what autobahn made of the answer: a subscription, a registration, a result without details */
  onAnswer(answer: WampMessage, value: unknown): void
  /** A progressive result; more follows. */
  onProgress(answer: WampMessage): void
  onFailure(fault: WampFault): void
}

type Settlement = 'answered' | 'progressed' | 'failed'
type OnSettled = (request: PendingRequest, settlement: Settlement, value: unknown) => void

const NO_PROMISE = {}

/**
 * Stands where autobahn wants a deferred (its option `use_deferred`): autobahn finds it by the id of an answer and
 * settles it, and `Peer.settle` passes the whole answer on to who waits. Promises would cost every call two
 * microtasks and an unhandled rejection each time nobody listens, and would lose the details of the answer.
 */
export class PendingRequest {
  /** Without `then`: autobahn hands out the deferred itself. */
  readonly promise = NO_PROMISE
  /** undefined: nobody waits for the answer. */
  listener: AnswerListener | undefined = undefined
  /** Set by autobahn, for calls: sends CANCEL and forgets the call. */
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
  /** A checked answer to a request, for whoever waits for it; false: there is no such request (any more). */
  settle(answer: WampMessage): boolean
  /** Ends a request in place of the router; false: there is no such request (any more). */
  fail(type: number, requestId: number, fault: WampFault): boolean
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
  const answers = createAnswers(socket)
  const connection = new autobahn.Connection({
    realm: options.realmUri,
    authmethods: options.authmethods,
    authid: options.authid,
    authextra: options.authextra,
    onchallenge: (_session: unknown, method: string, extra: ValueMap) =>
      options.onChallenge(method, extra),
    use_deferred: () => new PendingRequest(answers.onSettled),
    on_user_error: nothing,
    on_internal_error: nothing,
    retry_if_unreachable: false,
    max_retries: 0,
    transports: [{ type: TRANSPORT, socket }],
  })
  connection.open()
  connection.session.resolve = (uri) => uri
  // In place of one that would close the connection for a late answer, and write to globals.
  connection.session._protocol_violation = nothing
  return {
    session: connection.session,
    join: () => {
      socket.onopen()
    },
    receive: (message) => {
      socket.onmessage(message)
    },
    settle: answers.settle,
    fail: answers.fail,
  }
}

interface Answers extends Pick<Peer, 'settle' | 'fail'> {
  readonly onSettled: OnSettled
}

/** Who waits is called after autobahn, not within it: it drops a request only when it has told of its answer. */
const createAnswers = (socket: AutobahnSocket): Answers => {
  let settled: PendingRequest | undefined
  let settledAs: Settlement = 'answered'
  let value: unknown

  /** Lets autobahn have an answer; gives the request that it has settled by it. */
  const receive = (answer: WampMessage): PendingRequest | undefined => {
    settled = undefined
    socket.onmessage(answer)
    const request = settled as PendingRequest | undefined
    settled = undefined
    return request
  }

  const fail = (request: PendingRequest, fault: WampFault): void => {
    const { listener } = request
    request.listener = undefined
    listener?.onFailure(fault)
  }

  return {
    onSettled: (request, settlement, given) => {
      settled = request
      settledAs = settlement
      value = given
    },
    settle: (answer) => {
      const request = receive(hasOddProgress(answer) ? answer.slice(0, 2).concat({}) : answer)
      if (request === undefined) return false
      if (settledAs === 'failed') {
        fail(request, faultOf(answer))
        return true
      }
      const { listener } = request
      if (settledAs === 'progressed') listener?.onProgress(answer)
      else {
        const given = value
        value = undefined
        request.listener = undefined
        listener?.onAnswer(answer, given)
      }
      return true
    },
    fail: (type, requestId, fault) => {
      const request = receive([MESSAGE.error, type, requestId, {}, fault.uri])
      if (request === undefined) return false
      fail(request, fault)
      return true
    },
  }
}

/** autobahn takes any truthy mark for that of a progressive result. */
const hasOddProgress = (answer: WampMessage): boolean => {
  if (answer[0] !== MESSAGE.result) return false
  const { progress } = answer[2] as ValueMap
  return progress !== undefined && progress !== true
}

function nothing(): void {
  // Also where autobahn reports what has been dealt with already.
}
