// Defines the objects of one kind, kept as they are in the API: what a reflector provides to its readers. Types only.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'
import type { KubernetesApi, ResourceType, Scope } from '../client/api.ts'
import type { WatchLog } from './watch-log.ts'

export interface WatchedOptions<T> extends Scope {
  readonly api: KubernetesApi
  readonly type: ResourceType
  /** Objects of a page of a list: 50 for documents, 500 for what is small. */
  readonly pageSize: number
  /**
   * The part of an object to keep; the rest is not held in memory. Undefined: it is not kept. Called once per version
   * of an object; what it throws is logged and the object left out.
   * @param before what is kept of an object of that name: what has not changed need not be kept twice
   */
  readonly read: (object: ValueMap, before: T | undefined) => T | undefined
  /** After the first list, and after every change of `items` or `failure`. What it throws is logged. */
  readonly onChange: () => void
  /** Whether the kept part differs from the one before; absent: it always does. */
  readonly hasChanged?: (before: T, now: T) => boolean
  /** The kept part is the same: a change that `onChange` is not called for. What it throws is logged. */
  readonly onRenewed?: (now: T) => void
  /** It was deleted while it was watched; `last` is its last state. What it throws is logged. */
  readonly onDeleted?: (last: T) => void
  readonly clock: Clock
  readonly log: Log
  /** The log of several watches together; absent: this one has its own. */
  readonly watchLog?: WatchLog
}

export interface Watched<T> {
  start(): void
  /** Listed once at least. */
  readonly hasSynced: boolean
  /**
   * Objects by `namespace/name`; another map after every change, with the same values for what has not changed: `changedKeys`
   * finds where two of them differ at the cost of the difference.
   */
  readonly items: ReadonlyMap<string, T>
  /** Why `items` may be out of date; undefined where they are not. */
  readonly failure: WatchFailure | undefined
  /** Lists live, from the storage, and applies the list. False: it failed. */
  relist(): Promise<boolean>
  stop(): Promise<void>
}

export interface WatchFailure {
  /** Unix time, milliseconds: nothing has been received since. */
  readonly sinceMs: number
  /** HTTP status of the last failure; 404: the API does not know the kind; 403: not allowed; 0: no response. */
  readonly status: number
  /** For a person. */
  readonly message: string
}
