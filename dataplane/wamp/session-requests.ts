// Requests of a session other than calls: each is settled once, by its answer or by the end of the session.
// What an answer means to whoever asked is not known here.

import type { Value } from '../../spec/expression/value.ts'
import type { Outcome } from './autobahn-door.ts'
import type { Asking } from './session-calls.ts'
import type { WampFault } from './wamp-session.ts'
import { MESSAGE, type WampMessage } from './wire.ts'

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
  /** A checked answer, `[type, request, …]`; false: nobody waits for it. */
  onAnswer(message: WampMessage): boolean
  /** False: nobody waits for it. */
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

export const createRequests = ({
  outbox,
  account,
}: Omit<Asking, 'autobahn' | 'guard'>): Requests => {
  const waiting = new Map<number, Waiting>()

  return {
    ask: (type, start, onAnswer) =>
      new Promise((resolve, reject) => {
        const outcome = outbox.request(start)
        waiting.set(outbox.lastRequestId, {
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
      if (entry === undefined || entry.type !== REQUEST_OF.get(message[0])) return false
      waiting.delete(requestId)
      account(message)
      entry.onAnswer(message)
      return true
    },

    fail: (type, requestId, fault) => {
      const entry = waiting.get(requestId)
      if (entry?.type !== type) return false
      waiting.delete(requestId)
      account([MESSAGE.error, type, requestId, {}, fault.uri])
      entry.onFailure(fault)
      return true
    },

    end: (fault) => {
      const ended = [...waiting.values()]
      waiting.clear()
      for (const entry of ended) entry.onFailure(fault)
    },
  }
}
