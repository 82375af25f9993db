// One status and the resource that it is of in; the version that stands there then out. Never gives a status to another
// resource of the same name.

import { isMap, type ValueMap } from '../../spec/expression/value.ts'
import { ApiError, type KubernetesApi, type ResourceType, TYPES } from '../kubernetes/api.ts'
import type { StatusWrite } from './kubernetes-status-entry.ts'

export interface ApplyContext {
  readonly api: Pick<KubernetesApi, 'apply' | 'get'>
  readonly fieldManager: string
  /** False: nothing may be written any more. */
  readonly isOurTurn: () => boolean
}

const KINDS = {
  ApiSpecification: TYPES.apiSpecifications,
  Realm: TYPES.realms,
} as const satisfies Readonly<Record<StatusWrite['kind'], ResourceType>>

/**
 * The version that we know may be old without anything that we read being so: then it is asked for live, once.
 * @throws ApiError; 404 also where another resource has the name by now
 */
export const applyStatus = async (write: StatusWrite, context: ApplyContext): Promise<string> => {
  try {
    return await apply(write, write.object, context)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409 || !context.isOurTurn()) throw error
  }
  const live = metadataOf(await context.api.get(KINDS[write.kind], write.name))
  if (live['uid'] !== write.metadata.uid) {
    throw new ApiError('another resource has its name by now', { status: 404 })
  }
  if (!context.isOurTurn()) throw new ApiError('our turn is over', { status: 0 })
  const { resourceVersion = '' } = live
  const metadata = { ...metadataOf(write.object), resourceVersion }
  return apply(write, { ...write.object, metadata }, context)
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

const metadataOf = ({ metadata }: ValueMap): ValueMap => (isMap(metadata) ? metadata : {})
