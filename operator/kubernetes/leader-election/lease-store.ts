// The Lease in the API: read live, and written by compare-and-swap. No call takes longer than it is given; one that was
// given up may still be carried out later, so every write names the version, or the absence, that it was decided on.

import type { Clock } from '../../../base/clock.ts'
import { ApiError, type KubernetesApi, type ObjectName, TYPES } from '../client/api.ts'
import { type LeaseClaim, leaseObject, type LeaseRecord, readLease } from './lease.ts'

export interface LeaseStore {
  /** Undefined: there is none. @throws ApiError */
  read(): Promise<LeaseRecord | undefined>
  /** Undefined: something else stands there now. @throws ApiError where it can't be told what was done */
  write(before: LeaseRecord | undefined, claim: LeaseClaim): Promise<LeaseRecord | undefined>
}

export interface LeaseStoreOptions {
  readonly api: Pick<KubernetesApi, 'get' | 'create' | 'replace'>
  readonly name: ObjectName
  readonly clock: Clock
  readonly timeoutMs: number
}

export const createLeaseStore = ({
  api,
  name,
  clock,
  timeoutMs,
}: LeaseStoreOptions): LeaseStore => ({
  read: async () => {
    try {
      return readLease(await withinTime(api.get(TYPES.leases, name), timeoutMs, clock))
    } catch (error) {
      if (hasStatus(error, 404)) return undefined
      throw error
    }
  },
  write: async (before, claim) => {
    const object = leaseObject(name, claim, before)
    const call =
      before === undefined
        ? api.create(TYPES.leases, name.namespace, object)
        : api.replace(TYPES.leases, name, object)
    try {
      return readLease(await withinTime(call, timeoutMs, clock))
    } catch (error) {
      if (hasStatus(error, 409) || (before !== undefined && hasStatus(error, 404))) return undefined
      throw error
    }
  },
})

const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiError && error.status === status

const withinTime = async <T>(call: Promise<T>, ms: number, clock: Clock): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(ms, () => {
    reject(new ApiError(`the API server has not answered within ${ms} ms`, { status: 0 }))
  })
  try {
    return await Promise.race([call, late])
  } finally {
    cancel()
  }
}
