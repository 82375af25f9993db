// Requests of a session other than calls: each is settled once, by its answer or by the end of the session.
// What an answer means to whoever asked is not known here.

import type { Value } from '../../../language/expression/value.ts'
import type { Outcome } from './autobahn.ts'
import { createInFlight } from './in-flight.ts'
import type { Asking } from './calls.ts'
import { unansweredFault } from './errors.ts'
import type { WampFault } from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

export interface Requests {
  /**
   * `start` makes autobahn send a request of that type. `onAnswer` runs before the next message of the router is
   * looked at: an EVENT may follow SUBSCRIBED at once. Rejects with a WampFault.
   */
  ask<T>(
    type: number,
    start: () => Outcome,
    onAnswer: (answer: WampMessage, outcome: Outcome) => T,
  ): Promise<T>
  /** A checked answer, `[type, request, …]`; false: nobody has asked. */
  onAnswer(message: WampMessage): boolean
  /** False: nobody has asked. */
  fail(type: number, requestId: number, fault: WampFault): boolean
  end(fault: WampFault): void
}

interface Waiting {
  readonly type: number
  onAnswer(message: WampMessage): void
  onFailure(fault: WampFault): void
}

/** Type of the answer → of the request. */
const REQUEST_OF: ReadonlyMap<Value | undefined, number> = new Map([
  [MESSAGE.published, MESSAGE.publish],
  [MESSAGE.subscribed, MESSAGE.subscribe],
  [MESSAGE.unsubscribed, MESSAGE.unsubscribe],
  [MESSAGE.registered, MESSAGE.register],
  [MESSAGE.unregistered, MESSAGE.unregister],
])

/** Beyond it the oldest is given up. */
const MOST_WAITING = 10_000

export const createRequests = ({
  outbox,
  account,
}: Omit<Asking, 'autobahn' | 'guard'>): Requests => {
  const waiting = createInFlight<Waiting>()
  /** Answers to what is not waited for any more are late up to this id, and invented beyond it. */
  let lastForgottenId = 0

  const fail = (requestId: number, entry: Waiting, fault: WampFault): void => {
    waiting.remove(requestId)
    account([MESSAGE.error, entry.type, requestId, {}, fault.uri])
    entry.onFailure(fault)
  }

  /** Routers lose acknowledgements, under load above all; who asked has given up long ago. */
  const forgetOldest = (): void => {
    const requestId = waiting.oldestId()
    const entry = requestId === undefined ? undefined : waiting.get(requestId)
    if (requestId === undefined || entry === undefined) return
    lastForgottenId = requestId
    fail(requestId, entry, unansweredFault())
  }

  return {
    ask: (type, start, onAnswer) =>
      new Promise((resolve, reject) => {
        if (waiting.size >= MOST_WAITING) forgetOldest()
        const outcome = outbox.request(start)
        waiting.add(outbox.lastRequestId, {
          type,
          onAnswer: (message) => {
            resolve(onAnswer(message, outcome))
          },
          onFailure: reject,
        })
      }),

    onAnswer: (message) => {
      const requestId = message[1] as number
      const entry = waiting.get(requestId)
      if (entry === undefined) return requestId <= lastForgottenId
      if (entry.type !== REQUEST_OF.get(message[0])) return false
      waiting.remove(requestId)
      account(message)
      entry.onAnswer(message)
      return true
    },

    fail: (type, requestId, fault) => {
      const entry = waiting.get(requestId)
      if (entry === undefined) return requestId <= lastForgottenId
      if (entry.type !== type) return false
      fail(requestId, entry, fault)
      return true
    },

    end: (fault) => {
      for (const entry of waiting.drain()) entry.onFailure(fault)
    },
  }
}
