// Runs one session with a router, from the first byte of its transport to its end, which is reported once. It is used
// once: each attempt opens another. Everything that waits is settled before the end is reported.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { Log } from '../../../telemetry/log.ts'
import { createPeer, type Autobahn, type Peer } from './autobahn.ts'
import type { Authentication } from './authentication.ts'
import { readHead, readMessage, type SessionParts } from './inbox.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { createSessionParts, createSession, endSessionParts } from './operations.ts'
import { checkShape } from '../protocol/message-shapes.ts'
import type {
  OpenTransport,
  Transport,
  TransportEnd,
  TransportTarget,
} from '../protocol/transport.ts'
import type { WampSession } from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

export interface SessionOptions {
  readonly autobahn: Autobahn
  readonly openTransport: OpenTransport
  readonly target: TransportTarget
  readonly realmUri: string
  readonly authentication: Authentication
  readonly log: Log
}

export interface SessionObserver {
  onJoined(session: WampSession): void
  /** Called once, also when it never joined or `close` was called; never within `openSession`. */
  onEnd(end: SessionEnd): void
}

export interface SessionEnd {
  /** `failed`: never joined; `refused`: rejected by the router; `lost`: was joined; `closed`: by us. */
  readonly kind: 'failed' | 'refused' | 'lost' | 'closed'
  /** The router's reason, or `wamp.error.net_failure`, `wamp.error.protocol_violation`, … of ours. */
  readonly uri: string
  /** For people, as it was received: neither cut nor masked. */
  readonly text: string
}

export interface OpenSession {
  /** Sends GOODBYE if it is joined, and waits at most a second for the router to end it. */
  close(): Promise<void>
}

type Phase = 'opening' | 'joining' | 'open' | 'leaving' | 'ended'

// From the open transport to WELCOME: a CHALLENGE and its response, or a router that calls a service of its own.
const JOIN_TIMEOUT_MS = 5000
const GOODBYE_TIMEOUT_MS = 1000

/**
 * @example
 * const opened = openSession(options, { onJoined: (session) => session.call(…), onEnd })
 */
export const openSession = (options: SessionOptions, observer: SessionObserver): OpenSession =>
  new SessionLife(options, observer)

class SessionLife implements OpenSession {
  #phase: Phase = 'opening'
  #transport: Transport | undefined
  #timer: NodeJS.Timeout | undefined
  #wasChallenged = false
  #challengeError: Error | undefined
  #left: PromiseWithResolvers<void> | undefined
  readonly #peer: Peer
  readonly #outbox: Outbox
  readonly #parts: SessionParts
  readonly #authentication: Authentication
  readonly #observer: SessionObserver

  constructor(options: SessionOptions, observer: SessionObserver) {
    this.#observer = observer
    this.#authentication = options.authentication
    this.#outbox = createOutbox({
      forget: (type, requestId, error) => {
        this.#peer.fail(type, requestId, error)
      },
      onUnencodable: (cause) => {
        const text = cause instanceof Error ? cause.message : 'it can’t be encoded'
        this.#end({ kind: 'refused', uri: 'wamp.error.cannot_authenticate', text })
      },
      onBacklog: () => {
        this.#end({ kind: 'lost', uri: NET_FAILURE, text: 'the router reads no responses' })
      },
    })
    const { authmethods, authid, authextra } = options.authentication
    this.#peer = createPeer(options.autobahn, {
      realmUri: options.realmUri,
      authmethods,
      authid,
      authextra,
      onChallenge: (method, extra) => this.#answerChallenge(method, extra),
      send: this.#outbox.carry,
      close: () => {
        this.#onPeerCloses()
      },
    })
    this.#parts = createSessionParts(this.#peer, this.#outbox, options.log)
    this.#transport = options.openTransport(options.target, {
      onOpen: () => {
        this.#later(() => {
          this.#join()
        })
      },
      onMessage: (message) => {
        if (this.#mustWait()) {
          this.#later(() => {
            this.#receive(message)
          })
        } else this.#receive(message)
      },
      onUnreadable: (head, why) => {
        this.#later(() => {
          this.#receiveHead(head, why)
        })
      },
      onQuiet: () => {
        if (this.#phase === 'open') this.#parts.calls.probe()
      },
      onClose: (end) => {
        this.#later(() => {
          this.#onTransportEnd(end)
        })
      },
    })
    this.#outbox.connect(this.#transport)
  }

  close(): Promise<void> {
    if (this.#left !== undefined) return this.#left.promise
    this.#left = Promise.withResolvers()
    if (this.#phase === 'open') this.#leave()
    else {
      this.#end(CLOSED)
      this.#left.resolve()
    }
    return this.#left.promise
  }

  /** Nothing is reported while something is being sent: a handler would run within the call it belongs to. */
  #mustWait(): boolean {
    return this.#transport === undefined || this.#outbox.isBusy
  }

  #later(run: () => void): void {
    if (this.#mustWait()) queueMicrotask(run)
    else run()
  }

  #join(): void {
    if (this.#phase !== 'opening') return
    this.#phase = 'joining'
    this.#timer = setTimeout(() => {
      this.#end({ kind: 'failed', uri: NET_FAILURE, text: 'the router does not answer HELLO' })
    }, JOIN_TIMEOUT_MS).unref()
    this.#peer.join()
  }

  async #answerChallenge(method: string, extra: ValueMap): Promise<string> {
    try {
      return await this.#authentication.answer(method, extra)
    } catch (error) {
      this.#challengeError =
        error instanceof Error ? error : new Error('the challenge could not be answered')
      throw error
    }
  }

  #receive(message: WampMessage): void {
    if (this.#phase === 'ended') return
    const shape = checkShape(message)
    if (shape === 'malformed') this.#violated(`a message of type ${nameOf(message)} is not one`)
    else if (this.#phase === 'joining') this.#receiveJoining(message)
    else if (this.#phase === 'leaving') this.#receiveLeaving(message)
    else if (message[0] === MESSAGE.goodbye) this.#onGoodbye(message)
    else if (message[0] === MESSAGE.abort) this.#end(endOf('lost', message))
    else if (shape === 'payload') this.#receiveHead(message, 'its arguments are no list and map')
    else this.#violated(readMessage(this.#parts, message))
  }

  #receiveHead(head: WampMessage, why: string): void {
    if (this.#phase === 'open') this.#violated(readHead(this.#parts, head, why))
    else if (this.#phase === 'joining') this.#violated(`what can't be read: ${why}`)
  }

  #receiveJoining(message: WampMessage): void {
    const type = message[0]
    if (type === MESSAGE.abort)
      this.#end(endOf(isShutdown(message) ? 'failed' : 'refused', message))
    else if (type === MESSAGE.challenge && !this.#wasChallenged) {
      this.#wasChallenged = true
      this.#peer.receive(message)
    } else if (type === MESSAGE.welcome) this.#onWelcome(message)
    else this.#violated(`a message of type ${nameOf(message)} before WELCOME`)
  }

  #onWelcome(message: WampMessage): void {
    clearTimeout(this.#timer)
    this.#peer.receive(message)
    this.#phase = 'open'
    const isOpen = (): boolean => this.#phase === 'open'
    this.#observer.onJoined(createSession(message[1] as number, this.#parts, isOpen))
  }

  #onGoodbye(message: WampMessage): void {
    this.#phase = 'leaving'
    this.#peer.receive(message)
    this.#end(endOf('lost', message))
  }

  #receiveLeaving(message: WampMessage): void {
    if (message[0] === MESSAGE.goodbye) this.#transport?.close()
  }

  /** autobahn closes after GOODBYE, and when it could not respond to a CHALLENGE. */
  #onPeerCloses(): void {
    if (this.#challengeError !== undefined) {
      const text = this.#challengeError.message
      this.#end({ kind: 'refused', uri: 'wamp.error.cannot_authenticate', text })
    } else if (this.#phase !== 'leaving') this.#violated('a message out of place')
  }

  #onTransportEnd({ kind, reason }: TransportEnd): void {
    const wasOpen = this.#phase === 'open'
    this.#end({ kind: wasOpen ? 'lost' : 'failed', uri: NET_FAILURE, text: `${kind}, ${reason}` })
    this.#left?.resolve()
  }

  #violated(why: string | undefined): void {
    if (why === undefined || this.#phase === 'leaving') return
    const uri = 'wamp.error.protocol_violation'
    this.#outbox.post([MESSAGE.abort, { message: why }, uri])
    this.#end({ kind: this.#phase === 'open' ? 'lost' : 'failed', uri, text: why })
  }

  #leave(): void {
    this.#phase = 'leaving'
    this.#peer.session.leave('wamp.close.normal')
    this.#report(CLOSED)
    this.#timer = setTimeout(() => {
      this.#phase = 'ended'
      this.#transport?.close()
      this.#left?.resolve()
    }, GOODBYE_TIMEOUT_MS).unref()
  }

  #end(end: SessionEnd): void {
    clearTimeout(this.#timer)
    const isReported =
      this.#phase === 'ended' || (this.#phase === 'leaving' && this.#left !== undefined)
    this.#phase = 'ended'
    this.#transport?.close()
    if (!isReported) this.#report(end)
  }

  #report(end: SessionEnd): void {
    this.#outbox.end()
    endSessionParts(this.#parts)
    this.#observer.onEnd(end)
  }
}

const NET_FAILURE = 'wamp.error.net_failure'
const CLOSED: SessionEnd = {
  kind: 'closed',
  uri: 'wamp.close.normal',
  text: 'closed by the gateway',
}

/** Reads the end of a session from ABORT or GOODBYE, `[type, details, reason]`. */
const endOf = (kind: SessionEnd['kind'], [, details, uri]: WampMessage): SessionEnd => {
  const text = (details as ValueMap)['message']
  return { kind, uri: uri as string, text: typeof text === 'string' ? text : '' }
}

/** A router that shuts down will be back: that is no rejection. */
const isShutdown = ([, , uri]: WampMessage): boolean => (uri as string).startsWith('wamp.close.')

const nameOf = ([type]: WampMessage): string => String(Number(type))
