// Limits how many subscriptions, registrations and their ends wait for the router at a time. After a reconnect there
// may be thousands at once, and one real router leaves requests unanswered when more than about 64 responses wait for a
// client.

import { WampError } from '../session/joined-session.ts'

const MAX_PENDING = 16

export class RouterRequestLimiter {
  readonly #acknowledgeMs: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(acknowledgeMs: number) {
    this.#acknowledgeMs = acknowledgeMs
  }

  /**
   * Runs `send` as soon as it gets a permit, in the order of the calls. What comes after the time for an
   * acknowledgement goes to `onLate`.
   * @throws what `send` rejects with; WampError `svc.error.timeout` when the router does not respond
   */
  async run<T>(send: () => Promise<T>, onLate: (value: T) => void): Promise<T> {
    if (this.#running >= MAX_PENDING)
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    else this.#running++
    try {
      return await this.#withinTime(send(), onLate)
    } finally {
      this.#passOn()
    }
  }

  /** The permit goes to the next that waits, or is free. */
  #passOn(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      next()
      return
    }
    this.#running--
  }

  #withinTime<T>(response: Promise<T>, onLate: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        reject(new WampError('svc.error.timeout', 'The router did not answer in time; try again'))
      }, this.#acknowledgeMs).unref()
      response.then(
        (value) => {
          clearTimeout(timer)
          if (isLate) onLate(value)
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
