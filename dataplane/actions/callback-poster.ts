// The door of callbacks: what a router brings (invocations, events) goes to HTTP URLs, and what they
// reply comes back as payloads.

import type { InvocationHandler, WampEvent } from '../wamp/wamp-session.ts'
import type { CallbackRules, CallbackUrl } from './callback-url.ts'

export interface CallbackTarget {
  readonly url: CallbackUrl
  /** Asked at each delivery: an origin that the realm has withdrawn is called back no more. */
  readonly rules: () => CallbackRules | undefined
  /** Of the whole delivery, its retries included; at most 30 s count. */
  readonly timeoutMs: () => number
}

export interface CallbackPoster {
  /** For a registration: so many posts at once, so many that wait; beyond, `svc.error.overloaded`. */
  invocations(target: CallbackTarget): InvocationHandler
  /** For a subscription: one post at a time, in order; what does not fit in the queue is dropped and counted. */
  events(target: CallbackTarget): (event: WampEvent) => void
}
