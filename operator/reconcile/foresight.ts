// Defines what is known of all resources, and the questions about one that is about to be stored, or deleted. Types
// only.

import type { ResourceCache } from '../resource/resource-source.ts'
import type { Reconciler, Reconciliation } from './reconciler.ts'

export interface Foresight extends Pick<Reconciler, 'preview' | 'usersOf'> {
  readonly cache: ResourceCache
  /** Another object once something was validated anew. */
  readonly reconciliation: Reconciliation
}
