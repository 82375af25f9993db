// Changes in, one word of them out: what comes in one piece from the network is told once. What a listener throws
// is logged; it never reaches those who change something.

import { guarded } from '../../../base/guarded.ts'
import type { Log } from '../../../telemetry/log.ts'

export interface Changes {
  /** Tells soon, once for all that is noted until then. */
  note(): void
  /** Tells now; what was noted is told with it. */
  tell(): void
  /** Nothing is told any more. */
  stop(): void
}

export interface ChangesOptions {
  readonly onChange: () => void
  /** Before a noted change is told; false: there is nothing to tell. */
  readonly publish: () => boolean
  readonly log: Log
}

export const createChanges = ({ onChange, publish, log }: ChangesOptions): Changes => {
  const tellListener = guarded(onChange, (error) => {
    log.error('a listener failed', { error })
  })
  let noted: NodeJS.Immediate | undefined
  let isStopped = false

  const forget = (): void => {
    clearImmediate(noted)
    noted = undefined
  }

  const tell = (): void => {
    forget()
    if (!isStopped) tellListener()
  }

  return {
    note: () => {
      // All events of one piece have been taken before an immediate runs: between them are only microtasks.
      noted ??= setImmediate(() => {
        noted = undefined
        if (publish()) tell()
      })
    },
    tell: () => {
      publish()
      tell()
    },
    stop: () => {
      isStopped = true
      forget()
    },
  }
}
