// Sends the messages of a session to its transport: requests that autobahn creates, whose ids it reads as they pass,
// and responses of our own. It never throws into autobahn.

import type { Transport } from '../protocol/transport.ts'
import { WampFault } from './joined-session.ts'
import type { WampMessage } from '../protocol/messages.ts'

export interface Outbox {
  /** Set once the transport is there; before it and after `end` messages go nowhere. */
  connect(transport: Transport): void
  end(): void
  /** For autobahn. A fault is kept for `request`; without one it is told to `onFault`. */
  readonly carry: (message: WampMessage) => void
  /**
   * Runs `start`, in which autobahn sends one request; `lastRequestId` is its id then.
   *
   * @throws WampFault, unsent, when it can't be encoded: autobahn has forgotten it too
   */
  request<T>(start: () => T): T
  /** False: the message can't be encoded, and was not sent. Beyond a bound `onStuffed` is told instead. */
  post(message: WampMessage): boolean
  /** Request ids count up from 1 in each session: what is above was never asked. */
  readonly lastRequestId: number
  /** The router is far behind in reading: what carries arguments must be refused, or it would pile up here. */
  readonly isStuffed: boolean
  /** Something is being sent: what comes in meanwhile must wait, or a handler would run within a call. */
  readonly isBusy: boolean
}

interface OutboxOptions {
  /** Makes autobahn forget a request that was not sent. */
  readonly forget: (type: number, requestId: number, fault: WampFault) => void
  /** HELLO or AUTHENTICATE can't be encoded. */
  readonly onFault: (cause: unknown) => void
  /** The router makes us answer, and does not read the answers. */
  readonly onStuffed: () => void
}

interface Failed {
  readonly message: WampMessage
  readonly cause: unknown
}

export const createOutbox = ({ forget, onFault, onStuffed }: OutboxOptions): Outbox => {
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
        else onFault(cause)
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
      const fault = unencodable(cause)
      forget(Number(message[0]), Number(message[1]), fault)
      throw fault
    },
    post: (message) => {
      const isStuffed = bufferedIn(transport) > MOST_ANSWER_BYTES
      if (isStuffed) onStuffed()
      return isStuffed || canSend(send, message)
    },
    get lastRequestId() {
      return lastRequestId
    },
    get isStuffed() {
      return bufferedIn(transport) > MOST_BUFFERED_BYTES || transport?.hasRoom === false
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

/** Four of the largest messages. Calls that time out leave theirs behind. */
const MOST_BUFFERED_BYTES = 64 * 1024 * 1024
/** Of answers that nothing else bounds: a router may ask as fast as it can. */
const MOST_ANSWER_BYTES = 2 * MOST_BUFFERED_BYTES

const unencodable = (cause: unknown): WampFault => {
  const text = cause instanceof Error ? cause.message : 'The message can’t be encoded.'
  return new WampFault('wamp.error.invalid_argument', text, { wasSent: false, cause })
}
