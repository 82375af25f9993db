// Adds the keys of Realms, and problems with them, to the caches of a source of resources. Not synced before it is
// known whether there are keys; delays nothing otherwise.

import type { ResourceCache, ResourceSource } from '../resource/resource-source.ts'
import type { RealmKeyManager } from './realm-key-manager.ts'

type Manager = Pick<RealmKeyManager, 'ring' | 'isKnown' | 'failure' | 'revision' | 'start' | 'stop'>

/** Starts and stops the manager of the keys too. */
export const withRealmKeys = (source: ResourceSource, manager: Manager): ResourceSource => {
  let made: { readonly of: ResourceCache; readonly cache: ResourceCache } | undefined
  return {
    start: (onChange, onRenewed) => {
      manager.start(onChange)
      return source.start(onChange, onRenewed)
    },
    synced: () => manager.isKnown && source.synced(),
    current: () => {
      const of = source.current()
      const version = of.version + manager.revision
      if (made?.of !== of || made.cache.version !== version)
        made = { of, cache: keyed(of, version, manager) }
      return made.cache
    },
    confirm: () => source.confirm(),
    stop: () => {
      manager.stop()
      return source.stop()
    },
  }
}

const keyed = (
  cache: ResourceCache,
  version: number,
  { ring, failure }: Manager,
): ResourceCache => ({
  ...cache,
  version,
  ...(ring !== undefined && { realmKeys: ring }),
  notes:
    failure === undefined ? cache.notes : [...cache.notes, { severity: 'error', message: failure }],
})
