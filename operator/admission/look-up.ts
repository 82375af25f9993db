// Reads the Secrets and ConfigMaps that a resource about to be stored names from the API server, as far as no watch has
// them: a watch begins with the first reference. Bounded in number and in time.

import type { Clock } from '../../base/clock.ts'
import { isApiError, type KubernetesApi, TYPES } from '../kubernetes/client/api.ts'
import { readKeyed } from '../source/read-object.ts'
import { edited } from '../edited-map.ts'
import { referencesOf, type WantedObject } from '../source/referenced-objects.ts'
import { wantedObjects } from '../source/wanted-references.ts'
import { isObjectName } from '../resource/object-name.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import type { Resource } from '../resource/resource.ts'
import { withTimeout } from '../../base/timeout.ts'

/** Undefined: it can't be looked up now. Never rejects. */
export type LookUp = (
  resource: Resource,
  cache: ResourceCache,
) => Promise<ResourceCache | undefined>

export interface LookUpOptions {
  readonly api: Pick<KubernetesApi, 'get'>
  readonly clock: Clock
  /** How the owner of a namespace allows the operator to read objects of that kind. */
  readonly remedy: (kind: WantedObject['kind'], namespace: string) => string
}

/** The API server waits for the result meanwhile. */
const WAIT_MS = 700
/** For one resource, and for all at a time. */
const MAX_OBJECTS = 8
const MAX_UNDER_WAY = 32

export const createLookUp = (options: LookUpOptions): LookUp => {
  const underWay = { count: 0 }
  return async (resource, cache) => {
    const open = [...wantedObjects(referencesOf(resource))].filter(
      ([key, wanted]) => !isHeld(cache.resources.get(key), wanted),
    )
    if (open.length === 0) return cache
    if (open.length > MAX_OBJECTS || underWay.count + open.length > MAX_UNDER_WAY) return undefined
    const lookedUp = open.map(async ([key, wanted]) => ({
      key,
      wanted,
      found: await read(wanted, options, underWay),
    }))
    return withFound(cache, await Promise.all(lookedUp), options)
  }
}

type Found = Resource | 'absent' | 'forbidden' | 'unknown'

const read = async (
  wanted: WantedObject,
  { api, clock }: LookUpOptions,
  underWay: { count: number },
): Promise<Found> => {
  const { kind, namespace, name, keys } = wanted
  if (!isObjectName(name)) return 'absent'
  const type = kind === 'Secret' ? TYPES.secrets : TYPES.configMaps
  underWay.count += 1
  // A request ends by itself, later than it is waited for.
  const request = api.get(type, { namespace, name }).finally(() => {
    underWay.count -= 1
  })
  try {
    const object = await withTimeout(request, { ms: WAIT_MS, clock, onTimeout: () => undefined })
    return object === undefined ? 'unknown' : readKeyed(keys)(object)
  } catch (error) {
    if (isApiError(error, 'not_found')) return 'absent'
    return isApiError(error, 'forbidden') ? 'forbidden' : 'unknown'
  }
}

/** With every key that is wanted: the watch keeps no values of other keys. */
const isHeld = (held: Resource | undefined, { keys }: WantedObject): boolean => {
  if (held?.kind !== 'Secret' && held?.kind !== 'ConfigMap') return false
  if (keys === 'all') return held.otherKeys === undefined
  const binary = held.kind === 'ConfigMap' ? held.binaryData : {}
  return [...keys].every((key) => Object.hasOwn(held.data, key) || Object.hasOwn(binary, key))
}

interface LookedUp {
  /** `resourceKey` of what is wanted. */
  readonly key: string
  readonly wanted: WantedObject
  readonly found: Found
}

const withFound = (
  cache: ResourceCache,
  lookedUp: readonly LookedUp[],
  { remedy }: Pick<LookUpOptions, 'remedy'>,
): ResourceCache | undefined => {
  const edits = new Map<string, Resource | undefined>()
  const forbidden = new Map(cache.forbidden)
  for (const { key, wanted, found } of lookedUp) {
    if (found === 'unknown') return undefined
    edits.set(key, undefined)
    forbidden.delete(key)
    if (found === 'forbidden') forbidden.set(key, remedy(wanted.kind, wanted.namespace))
    else if (found !== 'absent') edits.set(key, found)
  }
  return { ...cache, resources: edited(cache.resources, edits), forbidden }
}
