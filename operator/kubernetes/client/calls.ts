// Builds the HTTP calls for what the operator asks of the API. Pure.

import type { ValueMap } from '../../../language/expression/value.ts'
import {
  type ApplyOptions,
  type ListOptions,
  type ObjectName,
  type ResourceType,
  TYPES,
  type WatchOptions,
  type WriteOptions,
} from './api.ts'
import { collectionPath, objectPath, queryOf, type Query } from './path.ts'
import type { Call } from './request.ts'

export type ApiCall = Omit<Call, 'signal'>

const ONLY_METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const ONLY_METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

export const getCall = (type: ResourceType, name: ObjectName): ApiCall => ({
  ...asking(type, 'get', name.namespace),
  path: objectPath(type, name),
})

export const listCall = (type: ResourceType, options: ListOptions): ApiCall => {
  const { namespace, labelSelector, fieldSelector, onlyMetadata, ...rest } = options
  const query = queryOf({ labelSelector, fieldSelector, ...rest } satisfies Query)
  return {
    ...asking(type, 'list', namespace),
    path: collectionPath(type, namespace) + query,
    ...(onlyMetadata === true && { accept: ONLY_METADATA_LIST }),
    ...(options.resourceVersionMatch === 'NotOlderThan' && { retriedAs: 'check' }),
  }
}

export const watchCall = (type: ResourceType, options: WatchOptions): ApiCall => {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options
  const query = queryOf({
    labelSelector,
    fieldSelector,
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    timeoutSeconds,
  })
  const path = collectionPath(type, namespace) + query
  return { ...asking(type, 'watch'), pool: 'watch', path }
}

export const createCall = (type: ResourceType, namespace: string, object: ValueMap): ApiCall => ({
  ...writing(type, object),
  verb: 'create',
  method: 'POST',
  path: collectionPath(type, namespace),
})

export const replaceCall = (type: ResourceType, name: ObjectName, object: ValueMap): ApiCall => ({
  ...writing(type, object),
  verb: 'update',
  method: 'PUT',
  path: objectPath(type, name),
})

/** Field manager and subresource of a server-side apply. */
export interface Applied extends ApplyOptions {
  readonly name: ObjectName
  readonly object: ValueMap
}

export const applyCall = (type: ResourceType, applied: Applied): ApiCall => ({
  ...writing(type, applied.object),
  verb: 'apply',
  method: 'PATCH',
  path: objectPath(type, applied.name) + under(applied) + queryOf(applyQuery(applied)),
  // JSON is YAML.
  contentType: 'application/apply-patch+yaml',
  ...(applied.returns !== 'object' && { accept: ONLY_METADATA }),
  ...(applied.onWarning !== undefined && { onWarning: applied.onWarning }),
})

export interface Patched extends WriteOptions {
  readonly name: ObjectName
  readonly patch: ValueMap
}

export const patchCall = (type: ResourceType, patched: Patched): ApiCall => ({
  ...writing(type, patched.patch),
  verb: 'patch',
  method: 'PATCH',
  path: objectPath(type, patched.name) + under(patched),
  contentType: 'application/merge-patch+json',
})

export const deleteCall = (type: ResourceType, name: ObjectName, uid?: string): ApiCall => ({
  ...asking(type, 'get'),
  verb: 'delete',
  method: 'DELETE',
  path: objectPath(type, name),
  ...(uid !== undefined && { body: JSON.stringify({ preconditions: { uid } }) }),
})

const asking = (
  type: ResourceType,
  verb: 'get' | 'list' | 'watch',
  namespace = '',
): Pick<ApiCall, 'type' | 'verb' | 'method' | 'pool' | 'group'> => ({
  type,
  verb,
  method: 'GET',
  pool: poolOf(type),
  // Documents decide how many of these are looked up, so each namespace gets its share.
  ...(REFERRED.has(type) && namespace !== '' && { group: namespace }),
  // Finding the Pods of a Service is less urgent than reading the parts of documents; no namespace has a slash in its
  // name.
  ...(BALANCED.has(type) && namespace !== '' && { group: `services/${namespace}` }),
})

const REFERRED: ReadonlySet<ResourceType> = new Set([TYPES.secrets, TYPES.configMaps])
const BALANCED: ReadonlySet<ResourceType> = new Set([TYPES.services, TYPES.endpointSlices])

const writing = (
  type: ResourceType,
  object: ValueMap,
): Pick<ApiCall, 'type' | 'pool' | 'body'> => ({
  type,
  pool: poolOf(type),
  body: JSON.stringify(object),
})

/** A Lease that is not renewed in time is lost: its calls never wait behind a thousand writes of status. */
const poolOf = (type: ResourceType): 'shared' | 'own' =>
  type.group === 'coordination.k8s.io' ? 'own' : 'shared'

const under = ({ subresource }: WriteOptions): string =>
  subresource === undefined ? '' : `/${subresource}`

const applyQuery = ({ fieldManager, force, dryRun, fieldValidation }: ApplyOptions): Query => ({
  fieldManager,
  force: force ?? true,
  dryRun: dryRun === true ? 'All' : undefined,
  fieldValidation,
})
