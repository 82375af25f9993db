// Schedules the next attempt at a subscription or registration that the router has rejected or revoked, one at a time
// and with back-off.

import { backOffMs } from '../../../../base/back-off.ts'
import { routerBackOff } from '../../session/back-off.ts'
import type { BridgeSetup } from '../bridge-setup.ts'

export class SessionRetry {
  readonly #setup: Pick<BridgeSetup, 'random' | 'times'>
  #rejections = 0
  #timer: NodeJS.Timeout | undefined

  constructor(setup: Pick<BridgeSetup, 'random' | 'times'>) {
    this.#setup = setup
  }

  /** @returns true for the first time in a row, which is to be logged */
  schedule(again: () => void): boolean {
    const { random, times } = this.#setup
    this.#rejections++
    clearTimeout(this.#timer)
    const waitMs = backOffMs(this.#rejections, routerBackOff(times.retryLongestMs), random())
    this.#timer = setTimeout(again, waitMs).unref()
    return this.#rejections === 1
  }

  /**
   * The router has acknowledged. Only what lasts resets the back-off: a router may revoke each time what it has just
   * acknowledged.
   */
  succeed(): void {
    clearTimeout(this.#timer)
    if (this.#rejections === 0) return
    this.#timer = setTimeout(() => {
      this.#rejections = 0
    }, this.#setup.times.retryLongestMs).unref()
  }

  /** Cancels the next attempt and resets the back-off. */
  reset(): void {
    clearTimeout(this.#timer)
    this.#rejections = 0
  }
}
