// A Lease as the API has it in, what election reads of it out; a claim to it in, the object to write out. Pure.

import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { GROUP } from '../../resource/resource.ts'
import { LEASE_LABELS } from '../../resource/roles-for.ts'
import { microTime } from '../micro-time.ts'

/**
 * Holds the epoch where `leaseTransitions`, an int32, can't: epochs of an operator without Kubernetes are milliseconds
 * since 1970, and data planes keep the highest they have seen.
 * @internal exported for tests
 */
export const EPOCH_ANNOTATION = `${GROUP}/epoch`

export interface LeaseRecord {
  /** As it was read or written last. */
  readonly object: ValueMap
  readonly uid: string
  /** Empty: nobody, it was given back. */
  readonly holder: string
  /** How long the holder may go without renewing it; undefined where it does not say. */
  readonly durationMs: number | undefined
  /** Unix time by the holder's clock: to be shown, not to count on. Undefined where it does not say. */
  readonly acquiredAtMs: number | undefined
  readonly transitions: number
  /** `leaseTransitions`, or the annotation where that is higher. */
  readonly epoch: number
  /** Another one after every renewal, and of every other Lease. */
  readonly fingerprint: string
}

export interface LeaseClaim {
  /** Empty: given back. */
  readonly holder: string
  readonly durationMs: number
  readonly epoch: number
  /** Unix time, milliseconds. Undefined: the holder has not changed. */
  readonly acquiredAtMs?: number
  readonly renewedAtMs: number
}

const MAX_INT32 = 2 ** 31 - 1
/** What leaves later holders room to count on; written by a person who erred, where it is more. */
const LARGEST_EPOCH = 2 ** 53 - 2 ** 32

export const readLease = (object: ValueMap): LeaseRecord => {
  const metadata = mapAt(object, 'metadata')
  const spec = mapAt(object, 'spec')
  const uid = textAt(metadata, 'uid')
  const seconds = numberAt(spec, 'leaseDurationSeconds')
  const transitions = numberAt(spec, 'leaseTransitions')
  return {
    object,
    uid,
    holder: textAt(spec, 'holderIdentity'),
    durationMs: seconds > 0 ? seconds * 1000 : undefined,
    acquiredAtMs: readTime(textAt(spec, 'acquireTime')),
    transitions,
    epoch: Math.max(
      transitions,
      readEpoch(textAt(mapAt(metadata, 'annotations'), EPOCH_ANNOTATION)),
    ),
    fingerprint: `${uid} ${JSON.stringify(spec)}`,
  }
}

/** The object to create or, with the record that stands there, to replace it by compare-and-swap. */
export const leaseObject = (
  name: { readonly namespace: string; readonly name: string },
  claim: LeaseClaim,
  before: LeaseRecord | undefined,
): ValueMap => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: metadataOf(name, claim, before),
  spec: {
    ...mapAt(before?.object ?? {}, 'spec'),
    holderIdentity: claim.holder,
    leaseDurationSeconds: Math.ceil(claim.durationMs / 1000),
    leaseTransitions: transitionsOf(claim, before),
    renewTime: microTime(claim.renewedAtMs),
    ...(claim.acquiredAtMs !== undefined && { acquireTime: microTime(claim.acquiredAtMs) }),
  },
})

/** The uid too: a Lease that is not there is made by a PUT which has only a resource version. */
const metadataOf = (
  name: { readonly namespace: string; readonly name: string },
  { epoch }: LeaseClaim,
  before: LeaseRecord | undefined,
): ValueMap => {
  const metadata = without(mapAt(before?.object ?? {}, 'metadata'), 'managedFields')
  const annotations = without(mapAt(metadata, 'annotations'), EPOCH_ANNOTATION)
  const isLarge = epoch > MAX_INT32
  return {
    ...(before === undefined && { labels: LEASE_LABELS }),
    ...metadata,
    ...name,
    annotations: { ...annotations, ...(isLarge && { [EPOCH_ANNOTATION]: String(epoch) }) },
  }
}

/** It is the epoch as long as that fits; then it counts the changes of holder, as far as it can. */
const transitionsOf = (
  { epoch, acquiredAtMs }: LeaseClaim,
  before: LeaseRecord | undefined,
): number => {
  if (epoch <= MAX_INT32) return epoch
  const changes = acquiredAtMs === undefined ? 0 : 1
  return Math.min(MAX_INT32, (before?.transitions ?? 0) + changes)
}

const readTime = (text: string): number | undefined => {
  const timeMs = text.length <= MAX_TIME_LENGTH ? Date.parse(text) : Number.NaN
  return Number.isNaN(timeMs) ? undefined : timeMs
}

const MAX_TIME_LENGTH = 40

const readEpoch = (text: string): number => {
  const epoch = /^\d{1,16}$/.test(text) ? Number(text) : 0
  return epoch <= LARGEST_EPOCH ? epoch : 0
}

const without = (map: ValueMap, left: string): ValueMap =>
  Object.fromEntries(Object.entries(map).filter(([key]) => key !== left))

const at = (map: ValueMap, key: string): Value | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined

const mapAt = (map: ValueMap, key: string): ValueMap => {
  const value = at(map, key)
  return isMap(value) ? value : {}
}

const textAt = (map: ValueMap, key: string): string => {
  const value = at(map, key)
  return typeof value === 'string' ? value : ''
}

const numberAt = (map: ValueMap, key: string): number => {
  const value = at(map, key)
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
