// What all data planes share and must not use up: rounds at work, bytes under way. Whoever asks waits until
// there is room, the most urgent first; what is small never overtakes what is as urgent and came before.

export interface Asking {
  /** The lower, the sooner. Asked again whenever there is room, as it may change while waiting. */
  readonly urgency: () => number
  /** Ends the waiting: rejects with its reason. */
  readonly signal: AbortSignal
}

interface Waiting extends Asking {
  readonly amount: number
  readonly admit: () => void
}

export class Allowance {
  readonly #total: number
  #used = 0
  readonly #waiting = new Set<Waiting>()

  constructor(total: number) {
    this.#total = total
  }

  get used(): number {
    return this.#used
  }

  /**
   * Resolves with what gives the amount back; calling that twice does no harm. More than the total is let
   * through alone.
   * @example const giveBack = await turns.take(1, { urgency: () => 0, signal })
   */
  take(amount: number, { urgency, signal }: Asking): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#waiting.size === 0 && this.#fits(amount)) return Promise.resolve(this.#admit(amount))
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', onAbort)
        this.#waiting.delete(waiting)
      }
      const onAbort = (): void => {
        leave()
        reject(signal.reason as Error)
        // It may have been what stood before one that fits.
        this.#admitNext()
      }
      const waiting: Waiting = {
        ...{ amount, urgency, signal },
        admit: () => {
          leave()
          resolve(this.#admit(amount))
        },
      }
      signal.addEventListener('abort', onAbort)
      this.#waiting.add(waiting)
    })
  }

  #fits(amount: number): boolean {
    return this.#used === 0 || this.#used + amount <= this.#total
  }

  #admit(amount: number): () => void {
    this.#used += amount
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#used -= amount
      this.#admitNext()
    }
  }

  #admitNext(): void {
    for (;;) {
      const next = mostUrgent(this.#waiting)
      if (next === undefined || !this.#fits(next.amount)) return
      next.admit()
    }
  }
}

/** Of equally urgent ones the first that came. */
const mostUrgent = (waiting: Iterable<Waiting>): Waiting | undefined => {
  let best: Waiting | undefined
  let bestUrgency = Infinity
  for (const each of waiting) {
    const urgency = each.urgency()
    if (urgency < bestUrgency) [best, bestUrgency] = [each, urgency]
  }
  return best
}
