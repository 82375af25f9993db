// Waits until every gateway serves what was applied, or until the operator has said that it never will as it is.

import type { Clock } from '../../base/clock.ts'
import { inParallel } from '../../base/in-parallel.ts'
import { memberAt } from '../../language/expression/members.ts'
import { ApiError, isApiError, type KubernetesApi } from '../../operator/kubernetes/client/api.ts'
import { conditionOf } from '../../operator/resource/condition.ts'
import { readRecordedStatus, type RecordedStatus } from '../../operator/resource/recorded-status.ts'
import type { AppliedObject } from './applied-object.ts'

export type Served =
  | { readonly served: true; readonly gateways: string | undefined }
  | {
      readonly served: false
      /** It stays so until the object is changed. */
      readonly isFinal: boolean
      /** @example 'Invalid' */
      readonly reason: string
      readonly message: string
      /** With their pointers; the first eight. */
      readonly errors: RecordedStatus['errors']
    }

interface WaitOptions {
  readonly api: Pick<KubernetesApi, 'get'>
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly timeoutMs: number
  /** Called once if not everything is served at once. */
  readonly onWait: () => void
}

type WaitedFor = AppliedObject & { readonly generation: number }

const AT_ONCE = 8
/** What was applied a moment before, such as its Realm, may not have been read yet. */
const FINAL_AFTER_MS = 2_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 3_000

/** @returns how each object stood when it was looked at last */
export const waitUntilServed = async <T extends WaitedFor>(
  objects: readonly T[],
  { api, clock, timeoutMs, onWait }: WaitOptions,
): Promise<ReadonlyMap<T, Served>> => {
  const endMs = clock.now() + timeoutMs
  const known = new Map<T, Served>()
  const finalSince = new Map<T, number>()
  const isSettled = (object: T): boolean => {
    const served = known.get(object)
    if (served === undefined || served.served) return served !== undefined
    return served.isFinal && clock.now() - (finalSince.get(object) ?? Infinity) >= FINAL_AFTER_MS
  }
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
    const open = objects.filter((object) => !isSettled(object))
    await inParallel(open, AT_ONCE, async (object) => {
      const served = (await look(api, object)) ?? known.get(object) ?? UNSEEN
      known.set(object, served)
      if (served.served || !served.isFinal) finalSince.delete(object)
      else if (!finalSince.has(object)) finalSince.set(object, clock.now())
    })
    const leftMs = endMs - clock.now()
    if (objects.every(isSettled) || leftMs <= 0) return known
    if (pauseMs === FIRST_PAUSE_MS) onWait()
    await new Promise<void>((resolve) => {
      clock.after(Math.min(pauseMs, leftMs), resolve)
    })
  }
}

const UNSEEN: Served = {
  served: false,
  isFinal: false,
  reason: 'Unknown',
  message: 'its status could not be read',
  errors: [],
}

/** Undefined: the API server did not answer this time. */
const look = async (
  api: WaitOptions['api'],
  { type, name, generation }: WaitedFor,
): Promise<Served | undefined> => {
  try {
    const object = await api.get(type, name)
    return servedOf(readRecordedStatus(memberAt(object, 'status')), generation)
  } catch (error) {
    if (isApiError(error, 'not_found'))
      return { ...UNSEEN, isFinal: true, reason: 'Deleted', message: 'it was deleted meanwhile' }
    if (isApiError(error, 'forbidden', 'unauthorized'))
      return { ...UNSEEN, isFinal: true, message: `its status can't be read: ${error.message}` }
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/**
 * How a resource stands.
 * @param generation the least that must have been validated
 */
export const servedOf = (status: RecordedStatus | undefined, generation: number): Served => {
  const { conditions = [], errors = [] } = status ?? {}
  const ready = conditionOf(conditions, 'Ready')
  if (ready === undefined)
    return {
      ...UNSEEN,
      reason: 'Pending',
      message: 'no operator of its class has validated it yet: is one running?',
    }
  if (ready.observedGeneration < generation)
    return { ...UNSEEN, reason: 'Pending', message: 'the operator has not validated it yet' }
  if (ready.status === 'True') return { served: true, gateways: status?.summary?.gateways }
  const stalled = conditionOf(conditions, 'Stalled')
  const isFinal = stalled?.status === 'True' && stalled.observedGeneration >= generation
  return { served: false, isFinal, reason: ready.reason, message: ready.message, errors }
}
