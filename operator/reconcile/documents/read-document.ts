// Reads the document of an ApiSpecification, from the resource or its ConfigMap, with what names it even where it is
// not valid. Does not validate the document.

import { parseJson } from '../../../base/parse-json.ts'
import { messageOf } from '../../../base/thrown.ts'
import { ownValue } from '../../../language/expression/lookup.ts'
import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import type { Problem, Warning } from '../../../language/problem.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import {
  type ApiSpecificationResource,
  type KeyReference,
  resourceKey,
} from '../../resource/resource.ts'
import { type MissingReference, readConfigMapKey } from '../../resource/secret-value.ts'

export type ReadDocument =
  | {
      readonly document: ValueMap
      readonly id?: string
      readonly host?: string
      readonly realmUri?: string
      /** Where faults of the document are: `/spec/document`, or the ConfigMap, in words. */
      readonly place: DocumentPlace
    }
  | { readonly problems: readonly Problem[] }
  | { readonly tooLarge: Problem }
  | { readonly missing: MissingReference }

export interface DocumentPlace {
  readonly pointer: string
  /** Set before messages where the pointer can't lead into the document. */
  readonly words?: string
}

export const readDocument = (
  resource: ApiSpecificationResource,
  cache: ResourceCache,
): ReadDocument => {
  if ('problems' in resource.checked) return { problems: resource.checked.problems }
  const { document, documentFrom } = resource.checked.spec
  if (documentFrom !== undefined) {
    return fromConfigMap(documentFrom.configMap, resource.metadata.namespace, cache)
  }
  return named(document ?? {}, { pointer: '/spec/document' })
}

/** What `readDocument` depends on beside the resource, for a memo. */
export const documentInput = (
  resource: ApiSpecificationResource,
  cache: ResourceCache,
): unknown => {
  const from = 'spec' in resource.checked ? resource.checked.spec.documentFrom : undefined
  if (from === undefined) return undefined
  const key = resourceKey('ConfigMap', resource.metadata.namespace, from.configMap.name)
  return cache.forbidden?.get(key) ?? cache.resources.get(key)
}

/** Faults of the document, located in the resource. */
export const relocate = <D extends Problem | Warning>(
  diagnostic: D,
  { pointer, words }: DocumentPlace,
): D =>
  words === undefined
    ? { ...diagnostic, path: `${pointer}${diagnostic.path}` }
    : {
        ...diagnostic,
        path: pointer,
        message: `${words} at ${diagnostic.path || '/'}: ${diagnostic.message}`,
      }

const fromConfigMap = (
  reference: KeyReference,
  namespace: string,
  cache: ResourceCache,
): ReadDocument => {
  const text = readConfigMapKey(cache, namespace, reference)
  if ('missing' in text) return text
  const words = `key '${reference.key}' of ConfigMap ${namespace}/${reference.name}`
  const place = { pointer: '/spec/documentFrom/configMap', words }
  if ('tooLarge' in text) {
    return { tooLarge: { code: 'invalid_value', path: place.pointer, message: text.tooLarge } }
  }
  try {
    const document = parseJson(text.found)
    return isMap(document)
      ? named(document, place)
      : { problems: [unfit(place, 'is not a JSON object')] }
  } catch (error) {
    const cause = messageOf(error)
    return { problems: [unfit(place, `is not JSON: ${cause}`)] }
  }
}

const unfit = ({ pointer, words = '' }: DocumentPlace, message: string): Problem => ({
  code: 'invalid_value',
  path: pointer,
  message: `${words} ${message}`,
})

const named = (document: ValueMap, place: DocumentPlace): ReadDocument => {
  const id = documentText(document, 'id')
  const host = documentText(document, 'host')
  const realmUri = documentText(document, 'realm_uri')
  return {
    document,
    place,
    ...(id !== undefined && { id }),
    ...(host !== undefined && { host }),
    ...(realmUri !== undefined && { realmUri }),
  }
}

const documentText = (document: ValueMap, name: string): string | undefined => {
  const value = ownValue(document, name)
  return typeof value === 'string' ? value : undefined
}
