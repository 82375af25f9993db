// Applies one status to its resource, and gives the resource version after that. It never writes a status into another
// resource of the same name.

import { mapAt, memberAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import {
  ApiError,
  isApiError,
  type KubernetesApi,
  type ResourceType,
} from '../kubernetes/client/api.ts'
import { OWN_TYPES } from '../resource/own-types.ts'
import { DEFAULT_CLASS } from '../resource/resource-schema.ts'
import type { StatusWrite } from './kubernetes-status-entry.ts'

export interface ApplyContext {
  readonly api: Pick<KubernetesApi, 'apply' | 'get'>
  readonly fieldManager: string
  /** The operator that writes: its namespace and Lease. */
  readonly operator?: string | undefined
  /** False: our leader term is over, and nothing may be written any more. */
  readonly isOurTerm: () => boolean
}

/** One name for all operators, so that an operator that takes a resource over takes over the fields of its status too. */
export const STATUS_FIELD_MANAGER = 'svc-operator'

/**
 * The name by which a status says which operator has written it: no other operator of the cluster has this Lease.
 * @example operatorName({ lease: 'svc-operator' }, 'svc-gateway-system') // 'svc-gateway-system/svc-operator'
 */
export const operatorName = ({ lease }: { readonly lease: string }, namespace: string): string =>
  `${namespace}/${lease}`

const KINDS = {
  ApiSpecification: OWN_TYPES.apiSpecifications,
  Realm: OWN_TYPES.realms,
} as const satisfies Readonly<Record<StatusWrite['kind'], ResourceType>>

/**
 * On a conflict it reads the current version and tries once more: the version that we know may be old although nothing
 * that we use of the resource has changed.
 * @throws ApiError; 404 also if another resource has the name by now, or the resource is managed by another operator
 */
export const applyStatus = async (write: StatusWrite, context: ApplyContext): Promise<string> => {
  try {
    return await apply(write, write.object, context)
  } catch (error) {
    if (!isApiError(error, 'conflict') || !context.isOurTerm()) throw error
  }
  const object = await context.api.get(KINDS[write.kind], write.name)
  const live = metadataOf(object)
  if (live['uid'] !== write.metadata.uid) {
    throw new ApiError('another resource has its name by now', { status: 404 })
  }
  if (!isOurs(object, write, context)) {
    throw new ApiError('it is of another class, or another operator has taken it over', {
      status: 404,
    })
  }
  if (!context.isOurTerm()) throw new ApiError('our leader term is over', { status: 0 })
  const { resourceVersion = '' } = live
  const metadata = { ...metadataOf(write.object), resourceVersion }
  return apply(write, { ...write.object, metadata }, context)
}

/** Whether no other operator manages the resource by now, as far as it shows. */
const isOurs = (
  object: ValueMap,
  { className, isRelease }: StatusWrite,
  { operator }: ApplyContext,
): boolean => {
  const named = memberAt(mapAt(object, 'spec'), 'gatewayClassName') ?? DEFAULT_CLASS
  if (typeof named === 'string' && named !== className) return false
  return !isRelease || memberAt(mapAt(object, 'status'), 'operator') === operator
}

const apply = async (
  { kind, name }: StatusWrite,
  object: ValueMap,
  { api, fieldManager }: ApplyContext,
): Promise<string> => {
  const options = { fieldManager, subresource: 'status' } as const
  const version = metadataOf(await api.apply(KINDS[kind], name, object, options))['resourceVersion']
  return typeof version === 'string' ? version : ''
}

const metadataOf = (object: ValueMap): ValueMap => mapAt(object, 'metadata')
