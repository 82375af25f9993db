// Remembers to which namespace each loaded document is confined, for callbacks, which outlive the version that
// registered them.

import type { ServedVersion } from './served.ts'
import type { ServingChange } from './store/serving.ts'

export interface Confinements {
  follow(change: Pick<ServingChange, 'put' | 'remove'>): void
  /** As the document is now, or as it was if it has been removed. */
  of(version: Pick<ServedVersion, 'apiId' | 'confinedTo'>): string | undefined
}

/** @example createConfinements().of(version) // version.confinedTo */
export const createConfinements = (): Confinements => {
  const now = new Map<string, string | undefined>()
  return {
    follow({ put, remove }) {
      for (const id of remove) now.delete(id)
      for (const { id, confinedTo } of put) now.set(id, confinedTo)
    },
    of: ({ apiId, confinedTo }) => (now.has(apiId) ? now.get(apiId) : confinedTo),
  }
}
