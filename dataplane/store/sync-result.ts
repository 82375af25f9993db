// Defines the results of a sync call: done, done but not what was expected, or rejected with nothing changed.

import type { LoadedEntry } from '../../language/wire/digest.ts'
import type { StateStep, SyncItem } from '../../language/wire/wire.ts'
import type { SyncRefusalReason } from './fencing.ts'

export type SyncResult =
  | {
      readonly reason: 'done'
      readonly rootDigest: string
      readonly items: readonly SyncItem[]
      readonly state?: StateStep
    }
  | {
      /** The entries are in force, but `complete` named another root digest. */
      readonly reason: 'incomplete'
      readonly rootDigest: string
      readonly items: readonly SyncItem[]
      readonly held: readonly LoadedEntry[]
    }
  | SyncRefusalReason
