// Builds the path and query of a request. A name can never lead to another path: the API server decodes `%2F` before it
// reads a path.

import { ApiError, type ObjectName, type ResourceType } from './api.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** @example collectionPath(TYPES.pods, 'shop') // /api/v1/namespaces/shop/pods */
export const collectionPath = (type: ResourceType, namespace: string | undefined): string => {
  const base = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`
  if (namespace === undefined || !type.isNamespaced) return `${base}/${type.plural}`
  return `${base}/namespaces/${segment(type, namespace)}/${type.plural}`
}

/** @throws ApiError 400 where no object can have that name */
export const objectPath = (type: ResourceType, { namespace, name }: ObjectName): string =>
  `${collectionPath(type, namespace)}/${segment(type, name)}`

/** @example queryOf({ limit: 1, continue: undefined }) // ?limit=1 */
export const queryOf = (query: Query): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}

/** Names that the API server accepts (IsValidPathSegmentName), without characters that it would have to decode. */
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9:._~-]{1,253}$/

const segment = (type: ResourceType, name: string): string => {
  if (SEGMENT.test(name)) return name
  throw new ApiError(`no ${type.kind} can be named ${JSON.stringify(name.slice(0, 100))}`, {
    status: 400,
    reason: 'Invalid',
  })
}
