// Opens a joined WAMP session at a router's URL, which sends exactly what a test says and keeps every message that
// comes. It is no part of the gateway, and it may misbehave.

import type { Value, ValueMap } from '../../language/expression/value.ts'
import { isMap } from '../../language/expression/value.ts'
import {
  MESSAGE,
  type SerializerName,
  type WampMessage,
} from '../../dataplane/wamp/protocol/messages.ts'
import { openRawWampWire, type RawWampWire } from './raw-wamp-wire.ts'
import { WAMP_CODECS, type WampCodec } from './wamp-codec.ts'

export interface RawPeerOptions {
  /** `ws://…` or `rs://host:port`. */
  readonly url: string
  readonly realm: string
  readonly serializer?: SerializerName
  /** Features by role; all four roles without any otherwise. */
  readonly roles?: ValueMap
  /** More of HELLO.Details: `authmethods`, `authid`, … */
  readonly hello?: ValueMap
  readonly onChallenge?: (method: string, extra: ValueMap) => string
}

/** The router's ABORT. */
class AbortedError extends Error {
  readonly uri: string
  readonly details: ValueMap

  constructor(uri: string, details: ValueMap) {
    super(`the router refused: ${uri} ${JSON.stringify(details)}`)
    this.name = 'AbortedError'
    this.uri = uri
    this.details = details
  }
}

/** Nothing of the kind came in time, or the session ended before. */
export class NothingCameError extends Error {
  override readonly name = 'NothingCameError'
}

const ROLES: ValueMap = { caller: {}, callee: {}, publisher: {}, subscriber: {} }
/** Of a router on a machine that has much else to do. */
const PATIENCE_MS = 15_000

/** Joins. Rejects with AbortedError, or NothingCameError when the router hangs up. */
export const openRawPeer = async (options: RawPeerOptions): Promise<RawPeer> => {
  const { realm, roles = ROLES, hello = {}, onChallenge } = options
  const peer = await connectRawPeer(options)
  peer.send([MESSAGE.hello, realm, { roles, ...hello }])
  try {
    await join(peer, onChallenge)
  } catch (error) {
    peer.close()
    throw error
  }
  return peer
}

/** Without HELLO. */
export const connectRawPeer = async ({
  url,
  serializer = 'json',
}: Pick<RawPeerOptions, 'url' | 'serializer'>): Promise<RawPeer> => {
  const inbox = new Inbox(WAMP_CODECS[serializer])
  const wire = await openRawWampWire(url, serializer, inbox)
  return new RawPeer(wire, inbox, WAMP_CODECS[serializer])
}

const join = async (peer: RawPeer, onChallenge: RawPeerOptions['onChallenge']): Promise<void> => {
  const [type, first, second] = await peer.next(
    ([code]) => code === MESSAGE.welcome || code === MESSAGE.abort || code === MESSAGE.challenge,
  )
  if (type === MESSAGE.abort) throw new AbortedError(textOf(second), isMap(first) ? first : {})
  if (type === MESSAGE.welcome) {
    peer.joined(Number(first), isMap(second) ? second : {})
    return
  }
  if (onChallenge === undefined) throw new Error('the router sent a challenge')
  peer.send([MESSAGE.authenticate, onChallenge(textOf(first), isMap(second) ? second : {}), {}])
  await join(peer, onChallenge)
}

const textOf = (value: Value | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

export class RawPeer implements AsyncDisposable {
  /** 0 before WELCOME. */
  sessionId = 0
  welcome: ValueMap = {}
  readonly #wire: RawWampWire
  readonly #inbox: Inbox
  readonly #codec: WampCodec
  #requests = 0

  constructor(wire: RawWampWire, inbox: Inbox, codec: WampCodec) {
    this.#wire = wire
    this.#inbox = inbox
    this.#codec = codec
  }

  joined(sessionId: number, welcome: ValueMap): void {
    this.sessionId = sessionId
    this.welcome = welcome
  }

  get hasEnded(): boolean {
    return this.#inbox.hasEnded
  }

  /** The next request id of this session. */
  nextId(): number {
    this.#requests += 1
    return this.#requests
  }

  send(message: WampMessage): void {
    this.#wire.send(this.#codec.encode(message))
  }

  /** A body that no serializer would make. */
  sendBytes(body: Uint8Array): void {
    this.#wire.send(body)
  }

  /** The first message, come already or to come, that was not taken yet; rejects with NothingCameError. */
  next(isIt: (message: WampMessage) => boolean, withinMs = PATIENCE_MS): Promise<WampMessage> {
    return this.#inbox.next(isIt, withinMs)
  }

  /** Sends a request `[type, id, …]`; its response, an ERROR too. */
  async ask(request: WampMessage): Promise<WampMessage> {
    this.send(request)
    return await this.responseTo(request)
  }

  /** Progressive results are no responses. */
  responseTo([type, id]: WampMessage, withinMs = PATIENCE_MS): Promise<WampMessage> {
    return this.next(
      (message) =>
        (message[0] === MESSAGE.error && message[1] === type && message[2] === id) ||
        (message[0] === responseType(type) && message[1] === id && !isProgress(message)),
      withinMs,
    )
  }

  /** Called for each message before it is kept, the newest listener first; true: it is taken, and not kept. */
  listen(take: (message: WampMessage) => boolean): void {
    this.#inbox.takers.unshift(take)
  }

  /** Resolves with true at the end of the connection, with false when it is still open after that time. */
  endsWithin(ms: number): Promise<boolean> {
    return this.#inbox.endsWithin(ms)
  }

  /** Messages that were not taken. */
  get unread(): readonly WampMessage[] {
    return this.#inbox.unread
  }

  pause(): void {
    this.#wire.pause()
  }

  /** Without GOODBYE. */
  close(): void {
    this.#wire.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    await this.endsWithin(PATIENCE_MS)
  }
}

/** CALL → RESULT, …: the response's code is the request's plus one, but for CALL. */
const responseType = (type: Value | undefined): number =>
  type === MESSAGE.call ? MESSAGE.result : Number(type) + 1

const isProgress = ([type, , details]: WampMessage): boolean =>
  type === MESSAGE.result && isMap(details) && details['progress'] === true

interface Waiter {
  readonly isIt: (message: WampMessage) => boolean
  readonly resolve: (message: WampMessage) => void
  readonly reject: (error: Error) => void
}

class Inbox {
  readonly takers: ((message: WampMessage) => boolean)[] = []
  readonly unread: WampMessage[] = []
  hasEnded = false
  readonly #codec: WampCodec
  readonly #waiters = new Set<Waiter>()
  readonly #onEnd = new Set<() => void>()

  constructor(codec: WampCodec) {
    this.#codec = codec
  }

  onBody(body: Buffer): void {
    const message = this.#codec.decode(body)
    if (this.takers.some((take) => take(message))) return
    for (const waiter of this.#waiters) {
      if (!waiter.isIt(message)) continue
      this.#waiters.delete(waiter)
      waiter.resolve(message)
      return
    }
    this.unread.push(message)
  }

  onEnd(): void {
    this.hasEnded = true
    for (const waiter of this.#waiters) waiter.reject(new NothingCameError('the session ended'))
    this.#waiters.clear()
    for (const tell of this.#onEnd) tell()
  }

  next(isIt: (message: WampMessage) => boolean, withinMs: number): Promise<WampMessage> {
    const at = this.unread.findIndex(isIt)
    const [message] = at < 0 ? [] : this.unread.splice(at, 1)
    if (message !== undefined) return Promise.resolve(message)
    if (this.hasEnded) return Promise.reject(new NothingCameError('the session has ended'))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        reject(new NothingCameError(`nothing came within ${withinMs} ms`))
      }, withinMs)
      const waiter: Waiter = {
        isIt,
        resolve: (found) => {
          clearTimeout(timer)
          resolve(found)
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      this.#waiters.add(waiter)
    })
  }

  endsWithin(ms: number): Promise<boolean> {
    if (this.hasEnded) return Promise.resolve(true)
    return new Promise((resolve) => {
      const tell = (): void => {
        clearTimeout(timer)
        this.#onEnd.delete(tell)
        resolve(this.hasEnded)
      }
      const timer = setTimeout(tell, ms)
      this.#onEnd.add(tell)
    })
  }
}
