// Holds what a running WAMP operation uses: a permit of its version, a deadline on the shared list, a disconnect
// listener, and a place among those that wait for a session. It releases all of them together, once.

import type { Limiter } from '../../../base/limiter.ts'
import type { Deadlines, Timed } from '../../deadlines.ts'
import type { SessionWait, WampClient } from '../../wamp/realm/wamp-client.ts'
import type { Exchange } from '../performer.ts'

export interface LifetimeOwner {
  /** Called when time is up; the lifetime has ended. */
  onOverdue(): void
  /**
   * Called when the client has disconnected, or the gateway aborts the request; the lifetime has ended, and nothing
   * more is written.
   */
  onGone(): void
}

export interface LifetimeDeps {
  readonly client: () => Pick<WampClient, 'awaitSession'>
  readonly calls: Limiter
  readonly deadlines: Deadlines
}

export class OperationLifetime implements Timed {
  due = 0
  slot = -1
  readonly #exchange: Exchange
  readonly #owner: LifetimeOwner
  readonly #tools: LifetimeDeps
  #isOpen = false
  #wait: SessionWait | undefined

  constructor(exchange: Exchange, tools: LifetimeDeps, owner: LifetimeOwner) {
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
   * Calls `start` synchronously or, while a session is being opened, when that is over. An operation that has ended
   * meanwhile is never started.
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

  /** Restarts the deadline. */
  extend(timeoutMs: number): void {
    this.due = this.#tools.deadlines.dueIn(timeoutMs)
  }

  /** True once: the result may be reported. */
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
