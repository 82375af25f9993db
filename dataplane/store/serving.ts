// Defines the interface between what is loaded (store, management: the control process) and what is served (the route
// table: every serving process, which may be the same one).

import type { RealmRecord } from '../../language/realm/record.ts'
import type { PackedDocument } from './packed/packed-document.ts'

/** One atomic change of what is served: realms put → documents → realms deleted. */
export interface ServingChange {
  readonly put: readonly PackedDocument[]
  readonly remove: readonly string[]
  readonly realms: {
    readonly put: readonly RealmRecord[]
    readonly delete: readonly string[]
  }
  /** The operator that owns this gateway has sent all that it has, for the first time. */
  readonly isComplete?: true
}

/** What the first completed sync changes beside its documents. */
export const COMPLETION: ServingChange = {
  put: [],
  remove: [],
  realms: { put: [], delete: [] },
  isComplete: true,
}

export interface Serving {
  /** Resolves when every serving process has swapped its table. */
  apply(change: ServingChange): Promise<void>
}
