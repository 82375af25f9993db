// Looks up whether the CustomResourceDefinition of a kind is in the API now. One call, no memory.

import { mapAt, mapsAt, memberAt, textAt } from '../../language/expression/members.ts'
import type { CustomResourceDefinition } from '../kubernetes/objects.ts'
import {
  isApiError,
  type KubernetesApi,
  type ResourceType,
  TYPES,
} from '../kubernetes/client/api.ts'

export type Definition =
  | { readonly state: 'established'; readonly uid: string }
  /** Being deleted: its resources are deleted first, which does not mean that someone wanted to delete them. */
  | { readonly state: 'leaving' }
  | { readonly state: 'gone' }
  /** We may not read it: in an installation for some namespaces only. */
  | { readonly state: 'unknown' }

/** @throws ApiError where the API server does not respond */
export const fetchDefinition = async (
  api: KubernetesApi,
  { plural, group }: ResourceType,
): Promise<Definition> => {
  const name = { namespace: '', name: `${plural}.${group}` }
  try {
    return readDefinition(await api.get(TYPES.customResourceDefinitions, name))
  } catch (error) {
    if (isApiError(error, 'forbidden')) return { state: 'unknown' }
    if (isApiError(error, 'not_found')) return { state: 'gone' }
    throw error
  }
}

/** Nothing has happened to it between the two reads. */
export const isSameDefinition = (before: Definition, after: Definition): boolean => {
  if (before.state === 'unknown' && after.state === 'unknown') return true
  return before.state === 'established' && after.state === 'established' && before.uid === after.uid
}

const readDefinition = (definition: CustomResourceDefinition): Definition => {
  const metadata = mapAt(definition, 'metadata')
  const conditions = mapsAt(mapAt(definition, 'status'), 'conditions')
  const isTrue = (type: string): boolean =>
    conditions.some((each) => textAt(each, 'type') === type && textAt(each, 'status') === 'True')
  if (memberAt(metadata, 'deletionTimestamp') !== undefined || isTrue('Terminating')) {
    return { state: 'leaving' }
  }
  const uid = textAt(metadata, 'uid')
  return isTrue('Established') && uid !== '' ? { state: 'established', uid } : { state: 'gone' }
}
