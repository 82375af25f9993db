// Objects of one kind, kept as they stand in the API: what a reflector gives to those who read them. Types only.

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
   * What is kept of an object; the rest is not held in memory. Undefined: it is not kept. Called once per version of
   * an object; what it throws is logged and the object left out.
   * @param before what is kept of an object of that name: what has not changed need not be kept twice
   */
  readonly read: (object: ValueMap, before: T | undefined) => T | undefined
  /** After the first list, and after every change of `items` or `trouble`. What it throws is logged. */
  readonly onChange: () => void
  /** Whether what is kept now says something else than what was kept before; absent: it always does. */
  readonly isNews?: (before: T, now: T) => boolean
  /** Says the same: no change that `onChange` tells of. What it throws is logged. */
  readonly onRenewed?: (now: T) => void
  /** It was deleted while it was watched: as it was at the end. What it throws is logged. */
  readonly onDeleted?: (last: T) => void
  readonly clock: Clock
  readonly log: Log
  /** Of several watches together; absent: of this one alone. */
  readonly watchLog?: WatchLog
}

export interface Watched<T> {
  start(): void
  /** Listed once at least. */
  readonly hasSynced: boolean
  /** By `namespace/name`; another map after every change, with the same values for what has not changed. */
  readonly items: ReadonlyMap<string, T>
  /** Why `items` may be out of date; undefined where they are not. */
  readonly trouble: WatchTrouble | undefined
  /** Lists live, from the storage, and takes it in. False: it can't be told now. */
  relist(): Promise<boolean>
  stop(): Promise<void>
}

export interface WatchTrouble {
  /** Unix time, milliseconds: nothing has been heard since. */
  readonly sinceMs: number
  /** HTTP status of the last failure; 404: the API does not know the kind; 403: not allowed; 0: no answer. */
  readonly status: number
  /** For a person. */
  readonly message: string
}
