// A Lease that we may hold in; nobody's Lease out, so that another candidate begins at its next look.

import { ApiError } from '../client/api.ts'
import type { LeaseStore } from './lease-store.ts'

export interface Leaver {
  readonly identity: string
  readonly durationMs: number
  /** Unix time. */
  readonly nowMs: number
}

const MAX_TRIES = 3

/** False: it could not be told; it expires. Never throws for what the API answers. */
export const releaseLease = async (
  store: LeaseStore,
  { identity, durationMs, nowMs }: Leaver,
): Promise<boolean> => {
  const claim = { holder: '', durationMs, acquiredAtMs: nowMs, renewedAtMs: nowMs }
  try {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const record = await store.read()
      if (record?.holder !== identity) return true
      const { epoch } = record
      if ((await store.write(record, { ...claim, epoch })) !== undefined) return true
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
  return false
}
