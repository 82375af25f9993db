// Limits how many subscriptions, registrations and their ends wait for the router at a time. After a reconnect there
// may be thousands at once, and one real router leaves requests unanswered when more than about 64 responses wait for a
// client.

import { WampFault } from '../session/joined-session.ts'

const AT_ONCE = 16

export class RouterRequestLimiter {
  readonly #acknowledgeMs: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(acknowledgeMs: number) {
    this.#acknowledgeMs = acknowledgeMs
  }

  /**
   * Runs `ask` when its turn comes, in the order of the calls, at once if one is free. What comes after the
   * time for an acknowledgement goes to `late`.
   * @throws what `ask` rejects with; WampFault `svc.error.timeout` when the router does not answer
   */
  async run<T>(ask: () => Promise<T>, late: (value: T) => void): Promise<T> {
    if (this.#running >= AT_ONCE)
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    else this.#running++
    try {
      return await this.#withinTime(ask(), late)
    } finally {
      this.#passOn()
    }
  }

  /** The turn goes to the next in line, or is free. */
  #passOn(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      next()
      return
    }
    this.#running--
  }

  #withinTime<T>(answer: Promise<T>, late: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        reject(new WampFault('svc.error.timeout', 'The router did not answer in time; try again'))
      }, this.#acknowledgeMs).unref()
      answer.then(
        (value) => {
          clearTimeout(timer)
          if (isLate) late(value)
          else resolve(value)
        },
        (error: unknown) => {
          clearTimeout(timer)
          reject(error instanceof Error ? error : new Error('rejected', { cause: error }))
        },
      )
    })
  }
}
