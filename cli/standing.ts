// Defines how resources and gateways stand, whichever side says so: a cluster, an operator or a gateway. Reads each of
// them. Pure.

import { mapAt, mapsAt, memberAt, numberAt, textAt } from '../language/expression/members.ts'
import type { ValueMap } from '../language/expression/value.ts'
import type { StateView } from '../language/wire/wire.ts'
import { conditionOf } from '../operator/resource/condition.ts'
import { readRecordedStatus, type RecordedStatus } from '../operator/resource/recorded-status.ts'
import type { ApiSpecificationResource, RealmResource } from '../operator/resource/resource.ts'
import { readOfAnyClass } from '../operator/source/read-object.ts'
import { servedOf } from './cluster/wait-until-served.ts'

export interface ResourceStanding {
  readonly kind: 'ApiSpecification' | 'Realm'
  /** Empty: a gateway does not know it. */
  readonly namespace: string
  readonly name: string
  /** The id of the document, or the uri of the realm. */
  readonly id: string
  readonly host: string
  readonly realm: string
  /** The oldest generation that a gateway has loaded. */
  readonly serving: string
  /** `2/2`. */
  readonly gateways: string
  readonly isServed: boolean
  readonly reason: string
  readonly message: string
  readonly errors: readonly Diagnostic[]
  readonly warnings: readonly Diagnostic[]
}

export interface Diagnostic {
  /** JSON pointer into the resource. */
  readonly path: string
  readonly message: string
  /** `orders.yaml:12:9`, where resources come from files. */
  readonly at: string
}

interface GatewayStanding {
  readonly name: string
  readonly state: string
  readonly isReady: boolean
  readonly documents: number
  /** Why it is not as it should be. */
  readonly message: string
}

export interface Standing {
  readonly resources: readonly ResourceStanding[]
  /** Undefined: this side does not know. */
  readonly gateways?: readonly GatewayStanding[]
}

/** @throws Error where this is no ApiSpecification and no Realm of the API */
export const standingOfObject = (object: ValueMap): ResourceStanding => {
  const resource = readOfAnyClass(object) as ApiSpecificationResource | RealmResource
  const { namespace, name, generation } = resource.metadata
  const status = readRecordedStatus(memberAt(object, 'status'))
  return {
    kind: resource.kind,
    namespace,
    name,
    ...namesOf(object, status),
    serving: status?.summary?.serving ?? '',
    gateways: status?.summary?.gateways ?? '',
    ...serviceOf(status, generation),
    errors: (status?.errors ?? []).map(unplaced),
    warnings: (status?.warnings ?? []).map(unplaced),
  }
}

const serviceOf = (
  status: RecordedStatus | undefined,
  generation: number,
): Pick<ResourceStanding, 'isServed' | 'reason' | 'message'> => {
  const served = servedOf(status, generation)
  if (!served.served) return { isServed: false, reason: served.reason, message: served.message }
  const ready = conditionOf(status?.conditions ?? [], 'Ready')
  return { isServed: true, reason: ready?.reason ?? '', message: '' }
}

/** As the operator has read them; before it has, as they stand in the object. */
const namesOf = (
  object: ValueMap,
  status: RecordedStatus | undefined,
): Pick<ResourceStanding, 'id' | 'host' | 'realm'> => {
  const spec = mapAt(object, 'spec')
  const document = mapAt(spec, 'document')
  const { summary } = status ?? {}
  return {
    id: summary?.id ?? (textAt(document, 'id') || textAt(spec, 'uri')),
    host: summary?.host ?? textAt(document, 'host'),
    realm: summary?.realm ?? textAt(document, 'realm_uri'),
  }
}

const unplaced = ({
  path,
  message,
}: {
  readonly path: string
  readonly message: string
}): Diagnostic => ({ path, message, at: '' })

/** Reads the page of `GET /status`; undefined: it is that of a replica that does not lead, or of something else. */
export const standingOfOperator = (page: ValueMap): Standing | undefined => {
  if (!Array.isArray(page['resources'])) return undefined
  return {
    resources: mapsAt(page, 'resources').flatMap(readResource),
    gateways: mapsAt(page, 'dataPlanes').map((plane) => ({
      name: textAt(plane, 'name'),
      state: textAt(plane, 'phase'),
      isReady: memberAt(plane, 'ready') === true,
      documents: Object.keys(mapAt(plane, 'documents')).length,
      message: textAt(plane, 'message'),
    })),
  }
}

const readResource = (resource: ValueMap): readonly ResourceStanding[] => {
  const kind = textAt(resource, 'kind')
  if (kind !== 'ApiSpecification' && kind !== 'Realm') return []
  const ready =
    mapsAt(resource, 'conditions').find((each) => textAt(each, 'type') === 'Ready') ?? {}
  const isServed = textAt(ready, 'status') === 'True'
  const placed = placeIn(textAt(mapAt(resource, 'origin'), 'file'))
  return [
    {
      kind,
      namespace: textAt(resource, 'namespace'),
      name: textAt(resource, 'name'),
      id: textAt(resource, 'id'),
      host: textAt(resource, 'host'),
      realm: textAt(resource, 'realmUri'),
      serving: textAt(resource, 'serving'),
      gateways: textAt(resource, 'gateways'),
      isServed,
      reason: textAt(ready, 'reason') || 'Pending',
      message: isServed ? '' : textAt(ready, 'message'),
      errors: mapsAt(resource, 'errors').map(placed),
      warnings: mapsAt(resource, 'warnings').map(placed),
    },
  ]
}

const placeIn =
  (file: string) =>
  (diagnostic: ValueMap): Diagnostic => {
    const [line, column] = ['line', 'column'].map((name) => numberAt(diagnostic, name))
    const isPlaced = file !== '' && line !== undefined
    return {
      path: textAt(diagnostic, 'path'),
      message: textAt(diagnostic, 'message'),
      at: isPlaced ? `${file}:${line}:${column ?? 1}` : '',
    }
  }

/** What a gateway has loaded it serves; of a realm it knows how its router answers, and its identity providers. */
export const standingOfGateway = ({ specs, realms }: StateView): Standing => ({
  resources: [
    ...Object.entries(specs).map(([id, { managedBy, warnings }]) => ({
      ...loaded('ApiSpecification', id, managedBy),
      warnings: warnings.map(unplaced),
    })),
    ...Object.entries(realms).map(([uri, { managedBy, sessions, failingProviders = [] }]) => ({
      ...loaded('Realm', uri, managedBy),
      warnings: [
        ...sessions
          .filter(({ state }) => state !== 'open')
          .map(({ url, state, reason }) => ({
            path: '/spec/router',
            message: `session to ${url} is ${state}${reason === undefined ? '' : `: ${reason}`}`,
            at: '',
          })),
        ...failingProviders.map(({ provider, cause }) => ({
          path: '/spec/providers',
          message: `identity provider ${provider} fails: ${cause}`,
          at: '',
        })),
      ],
    })),
  ],
})

const loaded = (
  kind: ResourceStanding['kind'],
  id: string,
  managedBy: string | null,
): ResourceStanding => ({
  kind,
  namespace: '',
  name: id,
  id,
  host: '',
  realm: '',
  serving: '',
  gateways: '',
  isServed: true,
  reason: managedBy === null ? 'loaded by hand' : `loaded by ${managedBy}`,
  message: '',
  errors: [],
  warnings: [],
})
