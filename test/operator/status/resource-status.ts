// Statuses of resources for tests of what is told of them, made as the operator makes them.

import type { OperatorStatus } from '../../../operator/controller/controller.ts'
import type { ResourceStatus } from '../../../operator/reconcile/status/status-registry.ts'
import {
  type Condition,
  type ConditionStatus,
  nothingFoundBy,
} from '../../../operator/resource/condition.ts'
import type {
  ApiSpecificationResource,
  Metadata,
  RealmResource,
} from '../../../operator/resource/resource.ts'

/** `Accepted=True`, `Programmed=False:Rejected:refused by a`. */
export type ConditionText = string

export const aCondition = (
  text: ConditionText,
  observedGeneration = 1,
  lastTransitionTime = '2026-11-21T21:14:00Z',
): Condition => {
  const [type = '', rest = ''] = text.split('=')
  const [status = '', reason = type, message = `${type} is ${status}`] = rest.split(':')
  return {
    type: type as Condition['type'],
    status: status as ConditionStatus,
    reason: reason as Condition['reason'],
    message,
    observedGeneration,
    lastTransitionTime,
  }
}

export interface StatusOptions {
  readonly kind?: 'ApiSpecification' | 'Realm'
  readonly name?: string
  readonly metadata?: Partial<Metadata>
  /** What stands in the API, as it was read. */
  readonly recorded?: Pick<
    ApiSpecificationResource,
    'conditions' | 'errors' | 'warnings' | 'programmed' | 'summary' | 'writtenBy'
  >
  readonly conditions?: readonly (ConditionText | Condition)[]
  readonly className?: string
  /** It has left our class. */
  readonly isReleased?: boolean
  readonly more?: Partial<Pick<ResourceStatus, 'errors' | 'warnings' | 'programmed' | 'summary'>>
}

const GOOD = ['Accepted=True', 'ResolvedRefs=True', 'Programmed=True', 'Ready=True']

export const aStatus = ({
  kind = 'ApiSpecification',
  name = 'shop',
  metadata = {},
  recorded = { conditions: [] },
  conditions = GOOD,
  className,
  isReleased = false,
  more = {},
}: StatusOptions = {}): ResourceStatus => {
  const generation = metadata.generation ?? 1
  const resource: ApiSpecificationResource | RealmResource = {
    kind,
    checked: { problems: [] },
    ...recorded,
    ...(className !== undefined && { className }),
    metadata: {
      name,
      namespace: 'team',
      uid: `uid-${name}`,
      resourceVersion: '10',
      generation,
      createdAt: 1,
      labels: {},
      annotations: {},
      ...metadata,
    },
  }
  return {
    result: {
      resource,
      accepted: { type: 'Accepted', status: 'Unknown', reason: 'Pending', message: '' },
      resolvedRefs: { type: 'ResolvedRefs', status: 'Unknown', reason: 'Pending', message: '' },
      found: nothingFoundBy('document'),
      errors: [],
      warnings: [],
      ...(isReleased && { isReleased }),
    },
    conditions: conditions.map((each) =>
      typeof each === 'string' ? aCondition(each, generation) : each,
    ),
    errors: [],
    warnings: [],
    ...more,
  }
}

export const statusOf = (...resources: readonly ResourceStatus[]): OperatorStatus => ({
  isReady: true,
  isLeading: true,
  resources: new Map(
    resources.map((each) => {
      const { kind, metadata } = each.result.resource
      return [`${kind}/${metadata.namespace}/${metadata.name}`, each]
    }),
  ),
  dataPlanes: [],
  notes: [],
})
