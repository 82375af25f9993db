// The time that a WAMP operation is under way for one exchange: it holds a permit of its version, a deadline
// on the shared wheel, an ear at the client and a place among those that wait for a session, and lets all go together, once.

import type { Limiter } from '../../../base/limiter.ts'
import type { Deadlines, Timed } from '../../deadlines.ts'
import type { SessionWait, WampClient } from '../../wamp/realm/wamp-client.ts'
import type { Exchange } from '../performer.ts'

export interface SpanOwner {
  /** Time is up; the span has ended. */
  onOverdue(): void
  /** The client has gone, or the gateway gives up; the span has ended. Nothing is written any more. */
  onGone(): void
}

export interface SpanTools {
  readonly client: () => Pick<WampClient, 'awaitSession'>
  readonly calls: Limiter
  readonly deadlines: Deadlines
}

export class Span implements Timed {
  due = 0
  slot = -1
  readonly #exchange: Exchange
  readonly #owner: SpanOwner
  readonly #tools: SpanTools
  #isOpen = false
  #wait: SessionWait | undefined

  constructor(exchange: Exchange, tools: SpanTools, owner: SpanOwner) {
    this.#exchange = exchange
    this.#tools = tools
    this.#owner = owner
  }

  /** False: all permits are in use, and nothing has begun. */
  begin(timeoutMs: number): boolean {
    const { calls, deadlines } = this.#tools
    if (!calls.tryAcquire()) return false
    this.#isOpen = true
    this.due = deadlines.dueIn(timeoutMs)
    deadlines.add(this)
    this.#exchange.onCancel(this.#onCancel)
    return true
  }

  /**
   * Runs `start` at once, or where a session is being opened, when that is over, within the span: what has ended meanwhile
   * is never started.
   */
  whenJoined(longestMs: number, start: () => void): void {
    this.#wait = this.#tools.client().awaitSession(longestMs, () => {
      this.#wait = undefined
      start()
    })
    if (this.#wait === undefined) start()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Time starts anew. */
  extend(timeoutMs: number): void {
    this.due = this.#tools.deadlines.dueIn(timeoutMs)
  }

  /** True once: the outcome may be reported. */
  end(): boolean {
    if (!this.#isOpen) return false
    this.#isOpen = false
    this.#wait?.cancel()
    this.#tools.deadlines.remove(this)
    this.#tools.calls.release()
    this.#exchange.onCancel(undefined)
    return true
  }

  expire(): void {
    if (this.end()) this.#owner.onOverdue()
  }

  readonly #onCancel = (): void => {
    if (this.end()) this.#owner.onGone()
  }
}
