// Merges changes into one notification: what arrives in one piece from the network is notified once. Errors of a
// listener are logged; they never reach the code that makes changes.

import { guarded } from '../../../base/guarded.ts'
import type { Log } from '../../../telemetry/log.ts'

export interface Changes {
  /** Notifies soon, once for all changes until then. */
  note(): void
  /** Notifies now, including the changes before. */
  notify(): void
  /** No more notifications. */
  stop(): void
}

export interface ChangesOptions {
  readonly onChange: () => void
  /** Called before the notification of a change; false: there is nothing to notify of. */
  readonly publish: () => boolean
  readonly log: Log
}

export const createChanges = ({ onChange, publish, log }: ChangesOptions): Changes => {
  const notifyListener = guarded(onChange, (error) => {
    log.error('a listener failed', { error })
  })
  let noted: NodeJS.Immediate | undefined
  let isStopped = false

  const forget = (): void => {
    clearImmediate(noted)
    noted = undefined
  }

  const notify = (): void => {
    forget()
    if (!isStopped) notifyListener()
  }

  return {
    note: () => {
      // All events of one piece have been processed before an immediate runs: between them are only microtasks.
      noted ??= setImmediate(() => {
        noted = undefined
        if (publish()) notify()
      })
    },
    notify: () => {
      publish()
      notify()
    },
    stop: () => {
      isStopped = true
      forget()
    },
  }
}
