// Reads and writes the Lease: as the API has it, as a record for the election, and by compare-and-swap. No call takes
// longer than its time-out; one that timed out may still be carried out later, so every write names the version, or the
// absence, that it was based on.

import { mapAt, numberAt, textAt, type Unvalidated } from '../../../language/expression/members.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { Clock } from '../../../base/clock.ts'
import { withTimeout } from '../../../base/timeout.ts'
import { ApiError, isApiError, type KubernetesApi, type ObjectName, TYPES } from '../client/api.ts'
import { microTime } from '../micro-time.ts'
import type { Lease } from '../objects.ts'

/** What a program adds to its Leases. */
export interface LeaseFormat {
  /** The labels of a Lease that it creates. */
  readonly labels: Readonly<Record<string, string>>
  /** Holds the epoch where `leaseTransitions`, an int32, can't. */
  readonly epochAnnotation: string
}

export interface LeaseRecord {
  /** As it was read or written last. */
  readonly object: Lease
  readonly uid: string
  /** Empty: it was released. */
  readonly holder: string
  /** How long the holder may go without renewing it; undefined where it does not say. */
  readonly durationMs: number | undefined
  /** Unix time by the holder's clock: to be shown, not to be relied on. Undefined where it does not say. */
  readonly acquiredAtMs: number | undefined
  readonly transitions: number
  /** `leaseTransitions`, or the annotation where that is higher. */
  readonly epoch: number
  /** Changes with every renewal, and differs between two Leases. */
  readonly fingerprint: string
}

export interface LeaseClaim {
  /** Empty: released. */
  readonly holder: string
  readonly durationMs: number
  readonly epoch: number
  /** Unix time, milliseconds. Undefined: the holder has not changed. */
  readonly acquiredAtMs?: number
  readonly renewedAtMs: number
}

const MAX_INT32 = 2 ** 31 - 1
/** Leaves later holders numbers to count on with; a higher one was written by mistake, and is ignored. */
const LARGEST_EPOCH = 2 ** 53 - 2 ** 32
const MAX_TIME_LENGTH = 40

/**
 * Never throws, whatever the object contains.
 * @internal exported for tests
 */
export const readLease = (object: Lease, { epochAnnotation }: LeaseFormat): LeaseRecord => {
  const metadata = mapAt(object, 'metadata')
  const spec = mapAt(object, 'spec')
  const uid = textAt(metadata, 'uid')
  const seconds = countAt(spec, 'leaseDurationSeconds')
  const transitions = countAt(spec, 'leaseTransitions')
  const annotated = readEpoch(textAt(mapAt(metadata, 'annotations'), epochAnnotation))
  return {
    object,
    uid,
    holder: textAt(spec, 'holderIdentity'),
    durationMs: seconds > 0 ? seconds * 1000 : undefined,
    acquiredAtMs: readTime(textAt(spec, 'acquireTime')),
    transitions,
    epoch: Math.max(transitions, annotated),
    fingerprint: `${uid} ${JSON.stringify(spec)}`,
  }
}

const readTime = (text: string): number | undefined => {
  const timeMs = text.length <= MAX_TIME_LENGTH ? Date.parse(text) : Number.NaN
  return Number.isNaN(timeMs) ? undefined : timeMs
}

const readEpoch = (text: string): number => {
  const epoch = /^\d{1,16}$/.test(text) ? Number(text) : 0
  return epoch <= LARGEST_EPOCH ? epoch : 0
}

const countAt = <T>(map: Unvalidated<T>, name: keyof T & string): number => {
  const count = numberAt(map, name) ?? 0
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

/** The Lease that a claim is for, its current record, and how ours are marked. */
export interface LeasePlace {
  readonly name: ObjectName
  readonly format: LeaseFormat
  /** Undefined: there is none. */
  readonly before: LeaseRecord | undefined
}

/**
 * Makes the object to create or, where a record stands there, to replace it with by compare-and-swap.
 * @internal exported for tests
 */
export const leaseObject = (claim: LeaseClaim, place: LeasePlace): ValueMap => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: leaseMetadata(claim, place),
  spec: {
    ...mapAt(place.before?.object ?? {}, 'spec'),
    holderIdentity: claim.holder,
    leaseDurationSeconds: Math.ceil(claim.durationMs / 1000),
    leaseTransitions: transitionsFor(claim, place.before),
    renewTime: microTime(claim.renewedAtMs),
    ...(claim.acquiredAtMs !== undefined && { acquireTime: microTime(claim.acquiredAtMs) }),
  },
})

/** Keeps the uid beside the resource version: a PUT that has only the latter creates a Lease where there is none. */
const leaseMetadata = (
  { epoch }: LeaseClaim,
  { name, format: { labels, epochAnnotation }, before }: LeasePlace,
): ValueMap => {
  const metadata = without(mapAt(before?.object ?? {}, 'metadata'), 'managedFields')
  const annotations = without(mapAt(metadata, 'annotations'), epochAnnotation)
  const isLarge = epoch > MAX_INT32
  return {
    ...(before === undefined && { labels }),
    ...metadata,
    ...name,
    annotations: { ...annotations, ...(isLarge && { [epochAnnotation]: String(epoch) }) },
  }
}

/** The epoch as long as that fits; from then on the number of changes of holder, as far as an int32 counts. */
const transitionsFor = (
  { epoch, acquiredAtMs }: LeaseClaim,
  before: LeaseRecord | undefined,
): number => {
  if (epoch <= MAX_INT32) return epoch
  const changes = acquiredAtMs === undefined ? 0 : 1
  return Math.min(MAX_INT32, (before?.transitions ?? 0) + changes)
}

const without = (map: ValueMap, left: string): ValueMap =>
  Object.fromEntries(Object.entries(map).filter(([name]) => name !== left))

export interface LeaseStore {
  /** Undefined: there is none. @throws ApiError */
  read(): Promise<LeaseRecord | undefined>
  /** Undefined: another record is there now. @throws ApiError where it is not known whether it was written */
  write(before: LeaseRecord | undefined, claim: LeaseClaim): Promise<LeaseRecord | undefined>
}

export interface LeaseStoreOptions {
  readonly api: Pick<KubernetesApi, 'get' | 'create' | 'replace'>
  readonly name: ObjectName
  readonly format: LeaseFormat
  readonly clock: Clock
  /** The time-out of each call. */
  readonly timeoutMs: number
}

export const createLeaseStore = (options: LeaseStoreOptions): LeaseStore => {
  const { api, name, format, clock, timeoutMs } = options
  const inTime = <T>(call: Promise<T>): Promise<T> =>
    withTimeout(call, { ms: timeoutMs, clock, onTimeout: () => notInTime(timeoutMs) })
  return {
    read: async () => {
      try {
        const object = await inTime(api.get(TYPES.leases, name))
        return readLease(object, format)
      } catch (error) {
        if (isApiError(error, 'not_found')) return undefined
        throw error
      }
    },
    write: async (before, claim) => {
      const object = leaseObject(claim, { name, format, before })
      const call =
        before === undefined
          ? api.create(TYPES.leases, name.namespace, object)
          : api.replace(TYPES.leases, name, object)
      try {
        return readLease(await inTime(call), format)
      } catch (error) {
        if (
          isApiError(error, 'conflict') ||
          (before !== undefined && isApiError(error, 'not_found'))
        ) {
          return undefined
        }
        throw error
      }
    },
  }
}

const notInTime = (ms: number): never => {
  throw new ApiError(`the API server has not responded within ${ms} ms`, { status: 0 })
}

/** A release that another write has overtaken is tried again at once this often. */
const MAX_RELEASE_TRIES = 3

export interface LeaseHolder {
  readonly identity: string
  readonly durationMs: number
  /** Unix time. */
  readonly nowMs: number
}

/**
 * Releases the Lease where it is held by `identity`, so that another candidate takes it at its next read.
 * @returns false where it is not known whether it was released: others wait until it expires
 */
export const releaseLease = async (
  store: LeaseStore,
  { identity, durationMs, nowMs }: LeaseHolder,
): Promise<boolean> => {
  const claim = { holder: '', durationMs, acquiredAtMs: nowMs, renewedAtMs: nowMs }
  try {
    for (let tries = 0; tries < MAX_RELEASE_TRIES; tries += 1) {
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
