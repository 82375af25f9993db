// Selects the objects among files that `svc apply` sends, in the order in which they depend on each other, or lists
// those that it does not send. Pure.

import { mapAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { type ObjectName, type ResourceType, TYPES } from '../../operator/kubernetes/client/api.ts'
import { OWN_TYPES } from '../../operator/resource/own-types.ts'
import type { Kind } from '../../operator/resource/resource.ts'
import type { Collected, Located } from '../validate/collect-resources.ts'

export interface AppliedObject {
  readonly kind: Kind
  readonly type: ResourceType
  readonly name: ObjectName
  /** @example 'ApiSpecification shop/orders' */
  readonly title: string
  /** As it is sent. */
  readonly object: ValueMap
  /** @example placeOf('/spec/document/host') // 'apis/orders.yaml:12:9' */
  readonly placeOf: (pointer: string) => string
}

/** What others refer to comes first. */
const APPLIED_TYPES = {
  Namespace: TYPES.namespaces,
  Secret: TYPES.secrets,
  ConfigMap: TYPES.configMaps,
  Realm: OWN_TYPES.realms,
  ApiSpecification: OWN_TYPES.apiSpecifications,
} as const satisfies Record<Kind, ResourceType>

const ORDER = Object.keys(APPLIED_TYPES)

/** @param onlyNamespace as given on the command line; objects of others are refused */
export const selectObjects = (
  { resources, foreign }: Pick<Collected, 'resources' | 'foreign'>,
  onlyNamespace: string | null,
): { readonly objects: readonly AppliedObject[]; readonly refused: readonly string[] } => {
  const all = [...resources.values()]
  const refused = [
    ...foreign.map(
      ({ file, line, column, apiVersion, kind }) =>
        `${file}:${line}:${column} ${kind} (${apiVersion}) is not applied by svc, which knows ` +
        `${ORDER.join(', ')}: use kubectl apply for it, or keep it in another directory`,
    ),
    ...all.filter(({ isPlain }) => isPlain).map(plainRefusal),
    ...all.flatMap((located) => namespaceRefusal(located, onlyNamespace)),
  ]
  const objects = all
    .filter(({ isPlain }) => !isPlain)
    .map(objectOf)
    .toSorted((left, right) => ORDER.indexOf(left.kind) - ORDER.indexOf(right.kind))
  return { objects, refused }
}

const plainRefusal = (located: Located): string =>
  `${placeOf(located)('')} this is a document without a resource around it, which a cluster does not take: ` +
  'put it below spec.document of an ApiSpecification, as svc init writes one'

const namespaceRefusal = (located: Located, only: string | null): readonly string[] => {
  const { namespace } = located.resource.metadata
  if (only === null || located.isPlain || namespace === '' || namespace === only) return []
  const place = placeOf(located)('/metadata/namespace')
  return [
    `${place} ${located.name} is of namespace ${namespace}, but --namespace is ${only}: leave out one of them`,
  ]
}

const objectOf = (located: Located): AppliedObject => {
  const { kind, metadata } = located.resource
  const { namespace, name } = metadata
  return {
    kind,
    type: APPLIED_TYPES[kind],
    name: { namespace, name },
    title: kind === 'Namespace' ? `Namespace ${name}` : located.name,
    object: sentObject(located.value, namespace),
    placeOf: placeOf(located),
  }
}

const placeOf =
  ({ file, positionOf }: Located): AppliedObject['placeOf'] =>
  (pointer) => {
    const { line, column } = positionOf(pointer)
    return `${file}:${line}:${column}`
  }

/** What `kubectl get -o yaml` has written and only a server sets; an apply that has it would fail. */
const SET_BY_SERVER: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
])

const sentObject = (value: ValueMap, namespace: string): ValueMap => {
  const metadata = Object.entries(mapAt(value, 'metadata')).filter(
    ([name]) => !SET_BY_SERVER.has(name) && name !== 'namespace',
  )
  const others = Object.entries(value).filter(([name]) => name !== 'status')
  return {
    ...Object.fromEntries(others),
    metadata: { ...Object.fromEntries(metadata), ...(namespace !== '' && { namespace }) },
  }
}

/** What of an object does not change by itself: without status and what the API server counts. */
export const contentOf = (object: ValueMap): ValueMap => sentObject(object, '')
