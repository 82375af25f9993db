// What stands in the Lease, and for how long it has, in; what a candidate or a holder does next out. Pure.

import type { LeaseRecord } from './lease.ts'

export interface LeaseView {
  /** Undefined: there is no Lease. */
  readonly record: LeaseRecord | undefined
  readonly identity: string
  readonly isLeading: boolean
  /** Of the Lease that we have seen before we came to be its holder. */
  readonly trustedUid: string | undefined
  /** For how long we have seen it like this, by our own clock. */
  readonly unchangedMs: number
  /** After so long without a change its holder has stopped acting. */
  readonly expiresMs: number
  /** Its holder makes a Lease that has gone again within this time. */
  readonly remadeMs: number
}

export type LeaseStep =
  /** Another one holds it, or may. */
  | 'wait'
  /** It is ours: written again under the same epoch. */
  | 'renew'
  /** Its holder changes: written under the next epoch. */
  | 'acquire'

/**
 * Our own name on a Lease that we have never seen before was put there by a request we had given up: it proves nothing
 * of the time since, so it is waited for like a stranger's.
 */
export const nextStep = ({ record, identity, ...view }: LeaseView): LeaseStep => {
  if (record === undefined) {
    if (view.isLeading) return 'renew'
    return view.unchangedMs >= view.remadeMs ? 'acquire' : 'wait'
  }
  if (record.holder === '') return 'acquire'
  if (record.holder === identity && (view.isLeading || record.uid === view.trustedUid)) {
    return 'renew'
  }
  return view.unchangedMs >= view.expiresMs ? 'acquire' : 'wait'
}
