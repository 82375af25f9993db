// The name of a kind in; whether its CustomResourceDefinition stands in the API now, out. One call, no memory.

import { isList, isMap, type ValueMap } from '../../language/expression/value.ts'
import { ownMember } from '../resource/shape.ts'
import { ApiError, type KubernetesApi, type ResourceType, TYPES } from '../kubernetes/client/api.ts'

export type Definition =
  | { readonly state: 'established'; readonly uid: string }
  /** Being deleted: its resources go before it, and are no proof that somebody wanted them gone. */
  | { readonly state: 'leaving' }
  | { readonly state: 'gone' }
  /** We may not ask: in an installation for some namespaces only. */
  | { readonly state: 'untold' }

/** @throws ApiError where the API server gives no answer */
export const lookAtDefinition = async (
  api: KubernetesApi,
  { plural, group }: ResourceType,
): Promise<Definition> => {
  const name = { namespace: '', name: `${plural}.${group}` }
  try {
    return readDefinition(await api.get(TYPES.customResourceDefinitions, name))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 403) return { state: 'untold' }
    if (error.status === 404) return { state: 'gone' }
    throw error
  }
}

/** Nothing has happened to it between two looks. */
export const isSameDefinition = (before: Definition, after: Definition): boolean => {
  if (before.state === 'untold' && after.state === 'untold') return true
  return before.state === 'established' && after.state === 'established' && before.uid === after.uid
}

const readDefinition = (definition: ValueMap): Definition => {
  const metadata = mapMember(definition, 'metadata')
  const conditions = ownMember(mapMember(definition, 'status'), 'conditions')
  const isTrue = (type: string): boolean =>
    isList(conditions) &&
    conditions.some(
      (condition) =>
        isMap(condition) &&
        ownMember(condition, 'type') === type &&
        ownMember(condition, 'status') === 'True',
    )
  if (ownMember(metadata, 'deletionTimestamp') !== undefined || isTrue('Terminating')) {
    return { state: 'leaving' }
  }
  const uid = ownMember(metadata, 'uid')
  return isTrue('Established') && typeof uid === 'string'
    ? { state: 'established', uid }
    : { state: 'gone' }
}

const mapMember = (map: ValueMap, name: string): ValueMap => {
  const member = ownMember(map, name)
  return isMap(member) ? member : {}
}
