// Schedules the next attempt at a subscription or registration that the router has rejected or revoked, one at a time
// and with back-off.

import { backOffMs } from '../../../../base/back-off.ts'
import { routerBackOff } from '../../session/back-off.ts'
import type { BridgeSetup } from '../bridge-setup.ts'

export class SessionRetry {
  readonly #setup: Pick<BridgeSetup, 'random' | 'times'>
  #refusals = 0
  #timer: NodeJS.Timeout | undefined

  constructor(setup: Pick<BridgeSetup, 'random' | 'times'>) {
    this.#setup = setup
  }

  /** True for the first time in a row: worth a line of the log. */
  schedule(again: () => void): boolean {
    const { random, times } = this.#setup
    this.#refusals++
    clearTimeout(this.#timer)
    const pauseMs = backOffMs(this.#refusals, routerBackOff(times.retryLongestMs), random())
    this.#timer = setTimeout(again, pauseMs).unref()
    return this.#refusals === 1
  }

  /** It is there. Only what lasts counts: a router may take back each time what it has just given. */
  succeed(): void {
    clearTimeout(this.#timer)
    if (this.#refusals === 0) return
    this.#timer = setTimeout(() => {
      this.#refusals = 0
    }, this.#setup.times.retryLongestMs).unref()
  }

  /** Nothing waits any more, and the next pause is the shortest. */
  reset(): void {
    clearTimeout(this.#timer)
    this.#refusals = 0
  }
}
