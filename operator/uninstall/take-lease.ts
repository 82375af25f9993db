// Takes the Lease of an operator, so that its leader writes nothing any more and no other replica becomes the leader. It
// does not wait until they have noticed, and deletes nothing.

import { mapAt, textAt } from '../../language/expression/members.ts'
import type { Clock } from '../../base/clock.ts'
import { type KubernetesApi, type ObjectName, TYPES } from '../kubernetes/client/api.ts'
import {
  createLeaseStore,
  type LeaseRecord,
  type LeaseStore,
} from '../kubernetes/leader-election/lease.ts'
import type { Lease } from '../kubernetes/objects.ts'
import { LEASE_FORMAT } from '../resource/lease-format.ts'

/**
 * Also for how long an operator that still runs does nothing once the Lease is deleted: it takes the last holder for
 * one that may act for as long. By then its Deployment is gone.
 */
const HELD_MS = 180_000
/** One that renews every two seconds overtakes us once or twice. */
const MAX_TRIES = 10
const RESPONSE_MS = 15_000

export interface TakenLease {
  /** An operator may have led until now. */
  readonly wasHeld: boolean
  readonly uid: string
}

export interface LeaseTaking {
  readonly api: KubernetesApi
  readonly name: ObjectName
  readonly clock: Clock
}

/** @throws ApiError where it can't be had */
export const takeLease = async ({ api, name, clock }: LeaseTaking): Promise<TakenLease> => {
  const store = createLeaseStore({
    api,
    name,
    format: LEASE_FORMAT,
    clock,
    timeoutMs: RESPONSE_MS,
  })
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const before = await store.read()
    const taken = await writeHolder(store, before, clock)
    if (taken !== undefined) return { uid: taken.uid, wasHeld: before?.holder !== '' }
  }
  throw new Error(`another process wrote it ${MAX_TRIES} times while this one tried to take it`)
}

/** Writes by compare and swap: the next renewal of the operator that led is rejected, and so it notices. */
const writeHolder = async (
  store: LeaseStore,
  before: LeaseRecord | undefined,
  clock: Clock,
): Promise<LeaseRecord | undefined> => {
  const nowMs = clock.now()
  return store.write(before, {
    holder: `uninstall_${Math.floor(clock.random() * 2 ** 32).toString(16)}`,
    durationMs: HELD_MS,
    epoch: (before?.epoch ?? 0) + 1,
    acquiredAtMs: nowMs,
    renewedAtMs: nowMs,
  })
}

/** Other operators of the namespace, by their Leases: they share its Secrets. @throws ApiError */
export const otherLeases = async (
  { api, name: { namespace, name } }: LeaseTaking,
  labelSelector: string,
): Promise<readonly string[]> => {
  const { items } = await api.list(TYPES.leases, { namespace, labelSelector })
  return items.flatMap((lease: Lease) => {
    const other = textAt(mapAt(lease, 'metadata'), 'name')
    const isHeld = textAt(mapAt(lease, 'spec'), 'holderIdentity') !== ''
    return other !== name && isHeld ? [`${namespace}/${other}`] : []
  })
}
