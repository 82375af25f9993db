// Sends requests of a session other than calls: each is settled once, by its answer or by the end of the session.
// What an answer means to whoever asked is not known here.

import type { AnswerListener, PendingRequest } from './autobahn.ts'
import { createInFlight, type Linked } from './in-flight.ts'
import type { RequestDeps } from './calls.ts'
import { unansweredFault } from './errors.ts'
import type { WampFault } from './joined-session.ts'
import type { WampMessage } from '../protocol/messages.ts'

export interface Requests {
  /**
   * `start` makes autobahn send a request of that type. `onAnswer` runs before the next message of the router is
   * looked at: an EVENT may follow SUBSCRIBED at once. Rejects with a WampFault.
   */
  ask<T>(
    type: number,
    start: () => PendingRequest,
    onAnswer: (answer: WampMessage, value: unknown) => T,
  ): Promise<T>
  /** An answer to it comes late; false: nobody has asked. */
  isGivenUp(requestId: number): boolean
  end(fault: WampFault): void
}

interface Waiting extends AnswerListener, Linked<Waiting> {
  readonly type: number
  readonly requestId: number
}

/** Beyond it the oldest is given up. */
const MOST_WAITING = 10_000

export const createRequests = ({ peer, outbox }: Omit<RequestDeps, 'guard'>): Requests => {
  const inFlight = createInFlight<Waiting>()
  /** Answers to what is not waited for any more are late up to this id, and invented beyond it. */
  let lastGivenUpId = 0

  /** Routers lose acknowledgements, under load above all; who asked has given up long ago. */
  const giveUpOldest = (): void => {
    const oldest = inFlight.oldest()
    if (oldest === undefined) return
    lastGivenUpId = oldest.requestId
    peer.fail(oldest.type, oldest.requestId, unansweredFault())
  }

  return {
    ask: (type, start, onAnswer) =>
      new Promise((resolve, reject) => {
        if (inFlight.size >= MOST_WAITING) giveUpOldest()
        const pending = outbox.request(start)
        const waiting: Waiting = {
          type,
          requestId: outbox.lastRequestId,
          isInFlight: false,
          older: undefined,
          younger: undefined,
          onAnswer: (answer, value) => {
            inFlight.remove(waiting)
            resolve(onAnswer(answer, value))
          },
          onProgress: nothing,
          onFailure: (fault) => {
            inFlight.remove(waiting)
            reject(fault)
          },
        }
        pending.listener = waiting
        inFlight.add(waiting)
      }),

    isGivenUp: (requestId) => requestId <= lastGivenUpId,

    end: (fault) => {
      for (const waiting of inFlight.drain()) waiting.onFailure(fault)
    },
  }
}

const nothing = (): void => undefined
