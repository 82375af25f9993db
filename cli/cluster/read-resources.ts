// Reads from a cluster what the routes of its documents depend on: ApiSpecifications, Realms, Namespaces and the
// ConfigMaps that documents come from. Never reads a Secret.

import { inParallel } from '../../base/in-parallel.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import {
  isApiError,
  type KubernetesApi,
  type ResourceType,
  type Scope,
  TYPES,
} from '../../operator/kubernetes/client/api.ts'
import { OWN_TYPES } from '../../operator/resource/own-types.ts'
import { keyOf, type Resource, resourceKey } from '../../operator/resource/resource.ts'
import { readKeyed, readNamespace, readOfAnyClass } from '../../operator/source/read-object.ts'

interface ClusterResources {
  /** Resources by key. */
  readonly resources: ReadonlyMap<string, Resource>
  /** What could not be read, and what follows of it. */
  readonly notes: readonly string[]
}

type Api = Pick<KubernetesApi, 'get' | 'list'>

/**
 * All that there are; where the rights do not go so far, those of the namespaces that are named.
 * @throws ApiError where not even these can be read
 */
export const readClusterResources = async (
  api: Api,
  namespaces: readonly string[],
): Promise<ClusterResources> => {
  const unread: string[] = []
  const resources = new Map<string, Resource>()
  const add = (resource: Resource): void => void resources.set(keyOf(resource), resource)
  for (const type of [OWN_TYPES.apiSpecifications, OWN_TYPES.realms]) {
    const { objects, isWhole } = await readWherePermitted(api, type, namespaces)
    for (const object of objects) add(readOfAnyClass(object))
    if (!isWhole) unread.push(`${type.kind}s of other namespaces`)
  }
  try {
    for (const object of await readAll(api, TYPES.namespaces, {})) add(readNamespace(object))
  } catch (error) {
    if (!isApiError(error, 'forbidden')) throw error
    unread.push('labels of namespaces')
  }
  await readConfigMaps(api, resources, add)
  const notes =
    unread.length === 0
      ? []
      : [`your rights do not reach ${unread.join(', ')}: what depends on them is not compared`]
  return { resources, notes }
}

const readWherePermitted = async (
  api: Api,
  type: ResourceType,
  namespaces: readonly string[],
): Promise<{ readonly objects: readonly ValueMap[]; readonly isWhole: boolean }> => {
  try {
    return { objects: await readAll(api, type, {}), isWhole: true }
  } catch (error) {
    if (!isApiError(error, 'forbidden') || namespaces.length === 0) throw error
    const lists = namespaces.map((namespace) => readAll(api, type, { namespace }))
    return { objects: (await Promise.all(lists)).flat(), isWhole: false }
  }
}

/** What etcd takes of one object is 1.5 MB: a page stays below the 64 MiB that the client reads at once. */
const PAGE = 40

/** Every object of a kind, page by page. */
export const readAll = async (
  api: Pick<KubernetesApi, 'list'>,
  type: ResourceType,
  scope: Scope,
): Promise<readonly ValueMap[]> => {
  const objects: ValueMap[] = []
  let next: string | undefined
  do {
    const list = await api.list(type, {
      ...scope,
      limit: PAGE,
      ...(next !== undefined && { continue: next }),
    })
    objects.push(...list.items)
    next = list.continue
  } while (next !== undefined)
  return objects
}

const AT_ONCE = 8

const readConfigMaps = async (
  api: Api,
  resources: ReadonlyMap<string, Resource>,
  add: (resource: Resource) => void,
): Promise<void> => {
  const wanted = new Map(
    [...resources.values()].flatMap((resource) => {
      if (resource.kind !== 'ApiSpecification' || !('spec' in resource.checked)) return []
      const { namespace } = resource.metadata
      const name = resource.checked.spec.documentFrom?.configMap.name
      return name === undefined
        ? []
        : [[resourceKey('ConfigMap', namespace, name), { namespace, name }] as const]
    }),
  )
  await inParallel([...wanted.values()], AT_ONCE, async (name) => {
    try {
      add(readKeyed('all')(await api.get(TYPES.configMaps, name)))
    } catch (error) {
      // The document that comes from it is then left out, which says why.
      if (!isApiError(error, 'forbidden', 'not_found')) throw error
    }
  })
}
