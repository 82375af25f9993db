// Posts invocations and events of a router as JSON to HTTP URLs (behaviour §4), within bounds, and returns the
// responses as payloads. At each delivery the destination guard of the upstream and the realm's list of origins
// decide whether it may be sent.

import { toJson } from '../../../../language/expression/json.ts'
import { ownValue } from '../../../../language/expression/lookup.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'
import type { MemoryBudget } from '../../../memory/memory-budget.ts'
import { createOncePerMinute } from '../../../once-a-minute.ts'
import type { InvocationHandler, WampEvent } from '../../../wamp/session/joined-session.ts'
import type { Payload } from '../../../wamp/protocol/messages.ts'
import { messageOf } from '../../../../base/thrown.ts'
import { deliver, type DeliveryTools } from './delivery.ts'
import { BoundedQueue } from './bounded-queue.ts'
import { callbackError, type CallbackReply, readReply } from './reply.ts'
import { type CallbackRules, type CallbackUrl, isAllowed } from './url.ts'

export interface CallbackTarget {
  readonly url: CallbackUrl
  /** Read at each delivery: the namespace of a document that may reach no other one of the cluster. */
  readonly confinedTo?: (() => string | undefined) | undefined
  /** Read at each delivery: an origin that the realm has removed gets no more callbacks. */
  readonly rules: () => CallbackRules | undefined
  /** For the whole delivery, its retries included; capped at 30 s. */
  readonly timeoutMs: () => number
}

export interface CallbackPoster {
  /** For a registration: 64 posts at once, 256 that wait, 64 MiB in all; beyond that `svc.error.overloaded`. */
  invocations(target: CallbackTarget): InvocationHandler
  /** For a subscription: one post at a time, in order, 256 that wait, 64 MiB in all; lost events are counted. */
  events(target: CallbackTarget): EventPoster
}

export interface EventPoster {
  readonly onEvent: (event: WampEvent) => void
  /** Drops the events that still wait. */
  readonly onEnd: () => void
}

export interface CallbackPosterOptions extends DeliveryTools {
  /** Creates the id of a delivery. */
  readonly newId: () => string
  /** Called for an event that could not be delivered. */
  readonly onLost: (loss: LostEvent) => void
  readonly memory: MemoryBudget
}

export interface LostEvent {
  /** The queue was full, or the delivery failed. */
  readonly why: 'overloaded' | 'failed'
  /** For people. */
  readonly reason: string
  /** Origin and path. */
  readonly callback: string
  /** The first of its kind for this subscription within a minute. */
  readonly isNews: boolean
}

const MAX_TIMEOUT_MS = 30_000
const POSTS_AT_ONCE = 64
/** Bodies are encoded before they wait, so that their size is known. */
const BOUNDS = { maxWaiting: 256, maxBytes: 64 * 1024 * 1024 }

/**
 * @example
 * const callbacks = createCallbackPoster({
 *   upstream, clock: SYSTEM_CLOCK, wallClock: Date.now, newId: randomUUID, onLost, memory,
 * })
 */
export const createCallbackPoster = (options: CallbackPosterOptions): CallbackPoster => {
  const { newId, memory } = options

  const post = (target: CallbackTarget, body: Buffer): Promise<CallbackReply> => {
    const rules = target.rules()
    if (!isAllowed(target.url, rules)) throw withdrawn()
    const delivery = {
      url: target.url,
      confinedTo: target.confinedTo?.(),
      id: newId(),
      body,
      secret: rules?.callback_secret,
      timeoutMs: Math.min(target.timeoutMs(), MAX_TIMEOUT_MS),
    }
    return deliver(delivery, options)
  }

  return {
    invocations(target) {
      const queue = new BoundedQueue({ ...BOUNDS, atOnce: POSTS_AT_ONCE, memory: memory.open() })
      const answer = async (body: Buffer): Promise<Payload> =>
        readWithin(memory, await post(target, body))
      return async ({ args, kwargs, details }) => {
        const body = toBody({ args, kwargs, details })
        const answered = queue.run(body.length, () => answer(body))
        if (answered === undefined) throw overloaded()
        return answered
      }
    },
    events(target) {
      const queue = new BoundedQueue({ ...BOUNDS, atOnce: 1, memory: memory.open() })
      const lose = createLoss(target.url, options)
      let isEnded = false
      const deliver = async (body: Buffer): Promise<void> => {
        if (isEnded) return
        const { statusCode } = await post(target, body)
        if (statusCode >= 300) lose('failed', `It responded with status ${statusCode}.`)
      }
      return {
        onEvent: (event) => {
          const body = toBody(viewOf(event))
          const delivered = queue.run(body.length, () => deliver(body))
          if (delivered === undefined) lose('overloaded', 'Too many events are waiting for it.')
          else {
            delivered.catch((error: unknown) => {
              lose('failed', messageOf(error))
            })
          }
        },
        onEnd: () => {
          isEnded = true
        },
      }
    },
  }
}

/** Reads a reply, which is sent to the router immediately, within the memory budget. */
const readWithin = (memory: MemoryBudget, reply: CallbackReply): Payload => {
  const holding = memory.open()
  try {
    return readReply(reply, holding)
  } finally {
    holding.release()
  }
}

/** Reports the lost events of one subscription. */
const createLoss = (
  { shown: callback }: CallbackUrl,
  { onLost, clock }: CallbackPosterOptions,
): ((why: LostEvent['why'], reason: string) => void) => {
  const isNews = createOncePerMinute(() => clock.now())
  return (why, reason) => {
    onLost({ why, reason, callback, isNews: isNews(why) })
  }
}

const toBody = (view: ValueMap): Buffer => Buffer.from(toJson(view))

const viewOf = ({ args, kwargs, details, publicationId }: WampEvent): ValueMap => ({
  args,
  kwargs,
  details,
  publication_id: publicationId,
  topic: ownValue(details, 'topic') ?? '',
})

const withdrawn = (): Error =>
  callbackError('wamp.error.not_authorized', 'The realm no longer allows this callback.')

const overloaded = (): Error =>
  callbackError('svc.error.overloaded', 'Too many invocations are waiting for this callback.')
