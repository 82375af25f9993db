// Sends requests of a session other than calls: each is settled once, by its response or by the end of the session. It
// does not know what a response means to the caller.

import type { ResponseListener, PendingRequest } from './autobahn.ts'
import { createInFlight, type Linked } from './in-flight.ts'
import type { RequestDeps } from './calls.ts'
import { unansweredError } from './errors.ts'
import type { WampError } from './joined-session.ts'
import type { WampMessage } from '../protocol/messages.ts'

export interface Requests {
  /**
   * `start` makes autobahn send a request of that type. `onResponse` runs before the next message of the router is
   * read: an EVENT may follow SUBSCRIBED at once. Rejects with a WampError.
   */
  send<T>(
    type: number,
    start: () => PendingRequest,
    onResponse: (response: WampMessage, value: unknown) => T,
  ): Promise<T>
  /** Its response comes late; false: there was no such request. */
  isGivenUp(requestId: number): boolean
  end(error: WampError): void
}

interface Waiting extends ResponseListener, Linked<Waiting> {
  readonly type: number
  readonly requestId: number
}

/** Beyond it the oldest one fails. */
const MAX_WAITING = 10_000

export const createRequests = ({ peer, outbox }: Omit<RequestDeps, 'guard'>): Requests => {
  const inFlight = createInFlight<Waiting>()
  /** A response without a pending request is late up to this id, and invented beyond it. */
  let lastGivenUpId = 0

  /** Routers lose acknowledgements, under load above all; the caller has timed out long ago. */
  const giveUpOldest = (): void => {
    const oldest = inFlight.oldest()
    if (oldest === undefined) return
    lastGivenUpId = oldest.requestId
    peer.fail(oldest.type, oldest.requestId, unansweredError())
  }

  return {
    send: (type, start, onResponse) =>
      new Promise((resolve, reject) => {
        if (inFlight.size >= MAX_WAITING) giveUpOldest()
        const pending = outbox.request(start)
        const waiting: Waiting = {
          type,
          requestId: outbox.lastRequestId,
          isInFlight: false,
          older: undefined,
          younger: undefined,
          onResponse: (response, value) => {
            inFlight.remove(waiting)
            resolve(onResponse(response, value))
          },
          onProgress: nothing,
          onFailure: (error) => {
            inFlight.remove(waiting)
            reject(error)
          },
        }
        pending.listener = waiting
        inFlight.add(waiting)
      }),

    isGivenUp: (requestId) => requestId <= lastGivenUpId,

    end: (error) => {
      for (const waiting of inFlight.drain()) waiting.onFailure(error)
    },
  }
}

const nothing = (): void => undefined
