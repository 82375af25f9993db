// Creates a source of resources that is always synced and has the cache that a test gives it.

import type { ResourceCache, ResourceSource } from '../../operator/resource/resource-source.ts'

/** @example const source = standingSource(() => cache) */
export const standingSource = (current: () => ResourceCache): ResourceSource => ({
  start: () => Promise.resolve(),
  synced: () => true,
  current,
  confirm: () => Promise.resolve(true),
  stop: () => Promise.resolve(),
})
