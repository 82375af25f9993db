// How a Lease came to be ours in; whether whoever held it before may still act, and for how long, out.

export interface LeaseHoldOptions {
  readonly durationMs: number
  readonly renewDeadlineMs: number
  readonly monotonicMs: () => number
}

export class LeaseHold {
  readonly #options: LeaseHoldOptions
  /** By the monotonic clock. */
  #actsFromMs = Number.NEGATIVE_INFINITY

  constructor(options: LeaseHoldOptions) {
    this.#options = options
  }

  /**
   * A Lease that was there proves that its holder had stopped. Where there was none, whoever held it may still act, for
   * a renew deadline at most: it can't renew what is ours. So it is held for longer than that before we act.
   */
  begin({ wasThere, expiresMs }: { readonly wasThere: boolean; readonly expiresMs: number }): void {
    const { durationMs, renewDeadlineMs, monotonicMs } = this.#options
    const holdMs = (Math.max(durationMs, expiresMs) + renewDeadlineMs) / 2
    this.#actsFromMs = wasThere ? Number.NEGATIVE_INFINITY : monotonicMs() + holdMs
  }

  /** 0 or less: we may act. */
  get leftMs(): number {
    return this.#actsFromMs - this.#options.monotonicMs()
  }
}
