// A store on a serving that only records: what tests of loading start from.

import type { ServingChange } from '../../../dataplane/store/serving.ts'
import { Store, type StoreOptions } from '../../../dataplane/store/store.ts'
import type { SyncCall } from '../../../dataplane/store/sync-call.ts'
import { digestOf } from '../../../language/wire/digest.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { SyncItem } from '../../../language/wire/wire.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'

export const REALM = 'com.acme'

export interface DocumentShape {
  readonly host?: string
  readonly realm?: string
  readonly paths?: readonly string[]
  readonly body?: string
}

/** A valid document with a static GET per path. */
export const makeDocument = (
  id: string,
  { host = 'acme.test', realm = REALM, paths = [`/${id}`], body = id }: DocumentShape = {},
): ValueMap => {
  const operation = { get: { action: { type: 'static', body }, response: {} } }
  return {
    id,
    host,
    realm_uri: realm,
    versions: {
      v1: { base_path: '/v1', paths: Object.fromEntries(paths.map((path) => [path, operation])) },
    },
  }
}

export interface Rig {
  readonly store: Store
  readonly changes: ServingChange[]
  readonly items: SyncItem[]
  readonly clock: ManualClock
  /** The ids of every document served, as the changes add up. */
  readonly served: () => readonly string[]
  /** Makes the next `apply` fail. */
  readonly failNext: () => void
  readonly load: (...documents: readonly unknown[]) => Promise<readonly SyncItem[]>
}

export const makeRig = (options: Partial<StoreOptions> = {}): Rig => {
  const changes: ServingChange[] = []
  const items: SyncItem[] = []
  const clock = createManualClock()
  let isFailing = false
  const store = new Store({
    serving: {
      apply: (change) => {
        if (isFailing) {
          isFailing = false
          return Promise.reject(new Error('a worker is gone'))
        }
        changes.push(change)
        return Promise.resolve()
      },
    },
    log: createSilentLog(),
    now: () => clock.now(),
    bootId: 'boot-1',
    manager: null,
    allowUnmanaged: false,
    ...options,
    observer: { item: (item) => items.push(item), ...options.observer },
  })
  return {
    store,
    changes,
    items,
    clock,
    served: () => {
      const ids = new Set<string>()
      for (const { put, remove } of changes) {
        for (const { id } of put) ids.add(id)
        for (const id of remove) ids.delete(id)
      }
      return [...ids].sort()
    },
    failNext: () => {
      isFailing = true
    },
    load: async (...documents) => {
      const results = await store.load(documents.map((document) => () => document))
      return results.map(({ item }) => item)
    },
  }
}

export const realmPut = (uri: string, more: ValueMap = {}): (() => unknown) => {
  const realm = { uri, ...more }
  return () => ({ uri, digest: digestOf(realm), realm })
}

export const specPut = (document: ValueMap, since: number, more: object = {}): (() => unknown) => {
  return () => ({
    id: document['id'],
    digest: digestOf(document),
    since,
    spec: document,
    ...more,
  })
}

/** A call of the operator `op` in epoch 1 on what the store holds. */
export const syncCall = (store: Store, more: Partial<SyncCall> = {}): SyncCall => ({
  managedBy: 'op',
  epoch: 1,
  base: rootOf(store),
  realms: { put: [], delete: [] },
  specs: { put: [], delete: [] },
  ...more,
})

export interface ParsedState {
  readonly version: number
  readonly epoch: number
  readonly manager: string | null
  readonly complete: boolean
  readonly rootDigest: string
  readonly gatewayVersion?: string
  readonly specs: Readonly<
    Record<
      string,
      {
        digest: string
        managedBy: string | null
        resource?: string
        warnings: { code: string }[]
      }
    >
  >
  readonly realms: Readonly<Record<string, { digest: string; managedBy: string | null }>>
}

export const stateOf = (store: Store): ParsedState =>
  JSON.parse(store.state().text()) as ParsedState

export const rootOf = (store: Store): string => stateOf(store).rootDigest
