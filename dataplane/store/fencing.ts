// Decides whether a sync call may change anything, by its owner, the epoch of its sender and the base it was computed
// on.

import type { SyncCall } from './sync-call.ts'
import type { Ownership } from './loaded-content.ts'

export type SyncRefusalReason =
  | { readonly reason: 'not_owner'; readonly manager: string | null }
  | { readonly reason: 'stale_epoch'; readonly epoch: number }
  | { readonly reason: 'stale_base'; readonly rootDigest: string }

export type Fencing =
  | { readonly pass: true; readonly epoch: number }
  /** `epoch` is adopted even if the call is rejected for its base, as its sender leads. */
  | { readonly pass: false; readonly refusal: SyncRefusalReason; readonly epoch: number }

/**
 * `heldRootDigest` is called only if the other checks pass: it costs a pass over the holdings.
 * @example fence({ manager: 'op', epoch: 3, complete: false }, call, () => held.rootDigest('op'))
 */
export const fence = (
  { manager, epoch }: Ownership,
  call: Pick<SyncCall, 'managedBy' | 'epoch' | 'base'>,
  heldRootDigest: () => string,
): Fencing => {
  if (manager === null || call.managedBy !== manager)
    return { pass: false, refusal: { reason: 'not_owner', manager }, epoch }
  if (call.epoch < epoch) return { pass: false, refusal: { reason: 'stale_epoch', epoch }, epoch }
  const rootDigest = heldRootDigest()
  if (call.base !== rootDigest)
    return { pass: false, refusal: { reason: 'stale_base', rootDigest }, epoch: call.epoch }
  return { pass: true, epoch: call.epoch }
}
