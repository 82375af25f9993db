// Advises on a request that is allowed: what will keep the resource out of service, that no operator serves its class,
// which documents use a Realm that is deleted. Rejects nothing, and says nothing of others' resources that their
// conditions would not say.

import { mapAt, memberAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Foresight } from '../reconcile/foresight.ts'
import { ANNOTATIONS, resourceKey } from '../resource/resource.ts'
import { createForecast, type ForecastOptions, type MakeForecast } from './forecast.ts'
import type { AdmissionRequest } from './review.ts'
import type { IsClassServed } from './served-classes.ts'

export interface Adviser {
  readonly forecast: MakeForecast
  /** For a resource of another class than ours. */
  adviseClass(className: string): Promise<readonly string[]>
  adviseDelete(request: AdmissionRequest): readonly string[]
}

export interface AdviserOptions extends ForecastOptions {
  readonly isClassServed: IsClassServed
  /** `--deleted-realm-seconds`. */
  readonly deletedRealmSeconds: number
}

export const createAdviser = (options: AdviserOptions): Adviser => {
  const { className: ours, isClassServed, deletedRealmSeconds, foresight } = options
  return {
    forecast: createForecast(options),
    adviseClass: async (className) =>
      (await isClassServed(className)) === false ? [unservedWords(className, ours)] : [],
    adviseDelete: (request) => realmAdvice(request, foresight(), deletedRealmSeconds),
  }
}

const unservedWords = (className: string, ours: string): string =>
  `no operator serves it: no known release in the cluster has the class '${className.slice(0, 63)}' ` +
  `(spec.gatewayClassName); this one has the class '${ours.slice(0, 63)}'`

const MAX_NAMES = 3

/** Documents of other namespaces are counted, never named. */
const realmAdvice = (
  { namespace, name, oldObject }: AdmissionRequest,
  foresight: Foresight | undefined,
  servedSeconds: number,
): readonly string[] => {
  const users = foresight?.usersOf(resourceKey('Realm', namespace, name)) ?? []
  if (users.length === 0) return []
  const neighbours = users.flatMap(({ metadata }) =>
    metadata.namespace === namespace ? [metadata.name] : [],
  )
  const others = users.length - neighbours.length
  const parts = [
    ...(neighbours.length === 0 ? [] : [named(neighbours)]),
    ...(others === 0 ? [] : [`${others} of other namespaces`]),
  ]
  const count = users.length === 1 ? '1 document uses' : `${users.length} documents use`
  return [
    `${count} this Realm (${parts.join('; ')}): ${consequence(oldObject ?? {}, servedSeconds)}`,
  ]
}

const named = (names: readonly string[]): string => {
  const shown = [...names].sort().slice(0, MAX_NAMES)
  const more = names.length - shown.length
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more of this namespace`}`
}

const consequence = (realm: ValueMap, servedSeconds: number): string => {
  const annotations = mapAt(mapAt(realm, 'metadata'), 'annotations')
  if (memberAt(annotations, ANNOTATIONS.deleteNow) === 'true')
    return `they go out of service at once, as it is annotated ${ANNOTATIONS.deleteNow}`
  if (servedSeconds === 0) return 'they go out of service at once (--deleted-realm-seconds 0)'
  return (
    `its last valid version serves for ${servedSeconds} s, then they go out of service (RealmDeleted) until it is ` +
    `created again; to take it out of service at once, annotate it with ${ANNOTATIONS.deleteNow}: "true" first`
  )
}
