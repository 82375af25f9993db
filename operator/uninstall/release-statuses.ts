// Writes into the status of an operator's resources that it has released them, and counts them. Never overwrites what
// another operator has written.

import { inParallel } from '../../base/in-parallel.ts'
import { messageOf } from '../../base/thrown.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Clock } from '../../base/clock.ts'
import {
  isApiError,
  type KubernetesApi,
  type ResourceType,
  type Scope,
} from '../kubernetes/client/api.ts'
import { OWN_TYPES } from '../resource/own-types.ts'
import { readOfAnyClass } from '../source/read-object.ts'
import { isReleased, releasedConditions } from '../resource/released.ts'
import {
  API_VERSION,
  type ApiSpecificationResource,
  NONE_SERVES,
  type RealmResource,
} from '../resource/resource.ts'
import { DEFAULT_CLASS } from '../resource/resource-schema.ts'
import { applyStatus, STATUS_FIELD_MANAGER } from '../status/kubernetes-status-apply.ts'
import { recordedStatus, type StatusObject } from '../status/kubernetes-status-object.ts'

export interface ReleaseOptions {
  readonly api: Pick<KubernetesApi, 'list' | 'get' | 'apply'>
  readonly clock: Pick<Clock, 'now' | 'after'>
  /** Its namespace and Lease: only what it has written itself is written over. */
  readonly operator: string
  /** Where to look. */
  readonly namespaces: readonly string[] | 'all'
  /** Which of those that are found there are meant; by their namespace. */
  readonly isMeant: (namespace: string) => boolean
  /** No request is begun later than this; for ever if left out. */
  readonly withinMs?: number
  /** For a person: why. */
  readonly message: (namespace: string) => string
}

export interface Released {
  readonly released: number
  /** What could not be written, or listed; the first error of each kind. */
  readonly failed: number
  readonly errors: readonly string[]
  /** Time was over before all were seen. */
  readonly isCut: boolean
}

type Owned = ApiSpecificationResource | RealmResource

/** Requests at once; the client keeps them to 50 in a second: a thousand take half a minute. */
const MAX_AT_ONCE = 10
/** What etcd takes is 1.5 MB each: the response stays far below the 64 MiB that the client reads of one. */
const PAGE = 20
const MAX_ERRORS = 3

/** Level-triggered: what is released already is left alone, so it may be run again. Nothing is thrown for what the API says. */
export const releaseStatuses = async (options: ReleaseOptions): Promise<Released> => {
  const { namespaces, clock, withinMs } = options
  const tally: Tally = { released: 0, failed: 0, errors: new Set(), isOver: false, isCut: false }
  const cancel =
    withinMs === undefined
      ? undefined
      : clock.after(withinMs, () => {
          tally.isOver = true
        })
  const scopes: readonly Scope[] =
    namespaces === 'all' ? [{}] : namespaces.map((namespace) => ({ namespace }))
  for (const type of [OWN_TYPES.apiSpecifications, OWN_TYPES.realms]) {
    for (const scope of scopes) await releaseScope(type, scope, { options, tally })
  }
  cancel?.()
  const { released, failed, errors, isCut } = tally
  return { released, failed, errors: [...errors].slice(0, MAX_ERRORS), isCut }
}

const releaseScope = async (
  type: ResourceType,
  scope: Scope,
  { options, tally }: { readonly options: ReleaseOptions; readonly tally: Tally },
): Promise<void> => {
  try {
    if (isCutShort(tally)) return
    for await (const page of pagesOf(options.api, type, scope, tally)) {
      await releasePage(page.flatMap(readOwned), options, tally)
    }
  } catch (error) {
    // Without its CRD there is nothing to release.
    if (!isMissing(error)) note(tally, error)
  }
}

const isMissing = (error: unknown): boolean => isApiError(error, 'not_found')

interface Tally {
  released: number
  failed: number
  readonly errors: Set<string>
  /** No request is begun any more. */
  isOver: boolean
  isCut: boolean
}

/** To be asked only where there is more to do. */
const isCutShort = (tally: Tally): boolean => {
  if (tally.isOver) tally.isCut = true
  return tally.isOver
}

const note = (tally: Tally, error: unknown): void => {
  tally.failed += 1
  tally.errors.add(messageOf(error))
}

const readOwned = (object: ValueMap): readonly Owned[] => {
  const resource = readOfAnyClass(object)
  return resource.kind === 'ApiSpecification' || resource.kind === 'Realm' ? [resource] : []
}

async function* pagesOf(
  api: ReleaseOptions['api'],
  type: ResourceType,
  scope: Scope,
  tally: Tally,
): AsyncGenerator<readonly ValueMap[]> {
  let next: string | undefined
  do {
    const list = await api.list(type, { ...scope, limit: PAGE, ...(next && { continue: next }) })
    yield list.items
    next = list.continue
  } while (next !== undefined && next !== '' && !isCutShort(tally))
}

const releasePage = async (
  resources: readonly Owned[],
  options: ReleaseOptions,
  tally: Tally,
): Promise<void> => {
  const { operator, isMeant } = options
  const owned = resources.filter(
    ({ writtenBy, conditions = [], metadata: { namespace } }) =>
      writtenBy === operator && !isReleased(conditions) && isMeant(namespace),
  )
  await inParallel(owned, MAX_AT_ONCE, async (resource) => {
    if (isCutShort(tally)) return
    try {
      await release(resource, options)
      tally.released += 1
    } catch (error) {
      if (!isMissing(error)) note(tally, error)
    }
  })
}

const release = async (
  resource: Owned,
  { api, clock, operator, message }: ReleaseOptions,
): Promise<void> => {
  const { kind, metadata, className = DEFAULT_CLASS } = resource
  const { namespace, name, uid, resourceVersion, generation } = metadata
  const recorded = recordedStatus(resource)
  if (recorded === undefined) return
  const status: StatusObject = {
    ...recorded,
    observedGeneration: generation,
    conditions: releasedConditions(recorded.conditions, {
      kind,
      generation,
      message: message(namespace),
      nowMs: clock.now(),
    }),
    // What gateways were last seen to have loaded stays: an operator that takes the resource over needs it.
    ...(kind === 'ApiSpecification' && { serving: NONE_SERVES, gateways: NONE_SERVES }),
  }
  await applyStatus(
    {
      kind,
      className,
      isRelease: true,
      status,
      metadata,
      name: { namespace, name },
      object: {
        apiVersion: API_VERSION,
        kind,
        metadata: { namespace, name, uid, resourceVersion },
        // Data of interfaces; JSON all the same.
        status: status as unknown as ValueMap,
      },
    },
    { api, fieldManager: STATUS_FIELD_MANAGER, operator, isOurTerm: () => true },
  )
}

/** Lines for a person. Failures do not keep the uninstall from going on, as outdated statuses do no harm. */
export const releaseLines = ({ released, failed, errors, isCut }: Released): readonly string[] => [
  `released  ${released} resources: their status says that no operator manages them any more`,
  ...errors.map((error) => `failed    status of some resources (${failed} in all): ${error}`),
  ...(isCut ? ['left      the status of the others: the time was up'] : []),
]
