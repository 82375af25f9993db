// A manual clock measures how long the peer of a transport has been silent.

import type { Every } from '../../../dataplane/wamp/transport/keep-alive.ts'
import type { ManualClock } from '../../support/manual-clock.ts'

/**
 * @example
 * createTransportOpener({ dial, every: everyOf(clock) })
 */
export const everyOf =
  (clock: ManualClock): Every =>
  (ms, callback) => {
    let cancel: () => void
    const again = (): void => {
      cancel = clock.after(ms, () => {
        again()
        callback()
      })
    }
    again()
    return () => {
      cancel()
    }
  }
