// Lets operations of a realm wait for a session that is being opened, and notifies each of them once, in the order they
// came, when waiting is over. Each operation checks for itself whether a session has joined; nothing is sent from here.

import { guarded } from '../../../base/guarded.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { SessionWait } from './wamp-client.ts'

interface Waiting {
  readonly onOver: () => void
  timer: NodeJS.Timeout | undefined
}

/**
 * It has no bound of its own: each operation that waits has a permit of its version's `pool_size`, and a deadline.
 *
 * @example
 * const wait = waits.add(8000, () => client.call(request, handler))
 * wait.cancel()
 */
export class SessionWaits {
  readonly #realmUri: string
  readonly #log: Log
  readonly #waiting = new Set<Waiting>()

  constructor(realmUri: string, log: Log) {
    this.#realmUri = realmUri
    this.#log = log
  }

  get size(): number {
    return this.#waiting.size
  }

  add(longestMs: number, onOver: () => void): SessionWait {
    const waiting: Waiting = { onOver: guarded(onOver, this.#onError), timer: undefined }
    waiting.timer = setTimeout(() => {
      this.#notify(waiting)
    }, longestMs).unref()
    this.#waiting.add(waiting)
    return {
      cancel: () => {
        this.#remove(waiting)
      },
    }
  }

  /** Those added meanwhile wait on; one that another one's callback cancels is not notified. */
  notifyAll(): void {
    for (const waiting of [...this.#waiting]) this.#notify(waiting)
  }

  #notify(waiting: Waiting): void {
    if (this.#remove(waiting)) waiting.onOver()
  }

  readonly #onError = (error: unknown): void => {
    const realm = this.#realmUri
    this.#log.error('an operation that waited for a WAMP session failed', { realm, error })
  }

  #remove(waiting: Waiting): boolean {
    clearTimeout(waiting.timer)
    return this.#waiting.delete(waiting)
  }
}
