// Defines what the admission webhook can ask about a resource that is about to be stored or deleted. Types only.

import type { ResourceCache } from '../resource/resource-source.ts'
import type { Reconciler, Reconciliation } from './reconciler.ts'

export interface Foresight extends Pick<Reconciler, 'preview' | 'usersOf'> {
  readonly cache: ResourceCache
  /** Another object after each reconciliation that has changed something. */
  readonly reconciliation: Reconciliation
}
