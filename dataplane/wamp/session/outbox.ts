// Sends the messages of a session to its transport: requests that autobahn creates, whose ids it reads as they pass,
// and responses of our own. It never throws into autobahn.

import type { Transport } from '../protocol/transport.ts'
import { WampError } from './joined-session.ts'
import type { WampMessage } from '../protocol/messages.ts'

export interface Outbox {
  /** Sets the transport; before that, and after `end`, messages are dropped. */
  connect(transport: Transport): void
  end(): void
  /** Sends for autobahn. `request` throws its error; outside of a request it goes to `onUnencodable`. */
  readonly carry: (message: WampMessage) => void
  /**
   * Runs `start`, in which autobahn sends one request; `lastRequestId` is its id then.
   *
   * @throws WampError, unsent, when it can't be encoded: autobahn has dropped it too
   */
  request<T>(start: () => T): T
  /** False: the message can't be encoded, and was not sent. Beyond a bound `onBacklog` is called instead. */
  post(message: WampMessage): boolean
  /** Request ids count up from 1 in each session: there was no request with a higher one. */
  readonly lastRequestId: number
  /** The router is far behind in reading: messages with arguments must be rejected, or they would pile up here. */
  readonly isBacklogged: boolean
  /** Something is being sent: messages received meanwhile must wait, or a handler would run within a call. */
  readonly isBusy: boolean
}

interface OutboxOptions {
  /** Makes autobahn drop a request that was not sent. */
  readonly forget: (type: number, requestId: number, error: WampError) => void
  /** HELLO or AUTHENTICATE can't be encoded. */
  readonly onUnencodable: (cause: unknown) => void
  /** The router sends requests, and does not read the responses. */
  readonly onBacklog: () => void
}

interface Failed {
  readonly message: WampMessage
  readonly cause: unknown
}

export const createOutbox = ({ forget, onUnencodable, onBacklog }: OutboxOptions): Outbox => {
  let transport: Transport | undefined
  let lastRequestId = 0
  let isRequesting = false
  let isBusy = false
  let failed: Failed | undefined

  const send = (message: WampMessage): void => {
    isBusy = true
    try {
      transport?.send(message)
    } finally {
      isBusy = false
    }
  }

  return {
    connect(opened) {
      transport = opened
    },
    end() {
      transport = undefined
    },
    carry(message) {
      // CANCEL carries the id of its call, which is not the newest.
      if (isRequesting) lastRequestId = Number(message[1])
      try {
        send(message)
      } catch (cause) {
        if (isRequesting) failed = { message, cause }
        else onUnencodable(cause)
      }
    },
    request(start) {
      isRequesting = true
      try {
        const started = start()
        if (failed === undefined) return started
      } finally {
        isRequesting = false
      }
      const { message, cause } = failed
      failed = undefined
      const error = unencodableError(cause)
      forget(Number(message[0]), Number(message[1]), error)
      throw error
    },
    post: (message) => {
      const isBacklogged = bufferedIn(transport) > MAX_RESPONSE_BYTES
      if (isBacklogged) onBacklog()
      return isBacklogged || canSend(send, message)
    },
    get lastRequestId() {
      return lastRequestId
    },
    get isBacklogged() {
      return bufferedIn(transport) > MAX_BUFFERED_BYTES || transport?.hasRoom === false
    },
    get isBusy() {
      return isBusy
    },
  }
}

const bufferedIn = (transport: Transport | undefined): number => transport?.bufferedBytes ?? 0

const canSend = (send: (message: WampMessage) => void, message: WampMessage): boolean => {
  try {
    send(message)
    return true
  } catch {
    return false
  }
}

/** Four of the largest messages. The messages of calls that time out remain in the buffer. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024
/** The bound of responses, which nothing else bounds: a router may send requests as fast as it can. */
const MAX_RESPONSE_BYTES = 2 * MAX_BUFFERED_BYTES

const unencodableError = (cause: unknown): WampError => {
  const text = cause instanceof Error ? cause.message : 'The message can’t be encoded.'
  return new WampError('wamp.error.invalid_argument', text, { wasSent: false, cause })
}
