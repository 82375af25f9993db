// Reads a resource of our kinds from one unknown object (a YAML document, an item of a list), or lists every problem
// with its pointer. Never throws, and leaves to the language what only the language may validate.

import { didYouMean, nearestName } from '../../base/nearest-name.ts'
import { mapAt, memberAt, textAt, textsAt } from '../../language/expression/members.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { API_SPECIFICATION_SPEC, checkApiSpecificationSpec } from './api-specification-schema.ts'
import { isObjectName } from './object-name.ts'
import { checkRealmSpec, REALM_SPEC } from './realm-spec-schema.ts'
import { type RecordedStatus, readRecordedStatus } from './recorded-status.ts'
import {
  API_VERSION,
  type ApiSpecificationResource,
  type ApiSpecificationSpec,
  type CheckedSpec,
  GROUP,
  type Kind,
  type Metadata,
  type Origin,
  type RealmResource,
  type RealmSpec,
  type Resource,
} from './resource.ts'
import { pruneNulls } from './check-schema.ts'
import type { ObjectSchema } from './resource-schema.ts'

export type ReadResult =
  | { readonly result: 'resource'; readonly resource: Resource }
  /** Well-formed, and not for this operator. */
  | { readonly result: 'foreign'; readonly apiVersion: string; readonly kind: string }
  /** Can't be distinguished from others: no kind, no name. */
  | { readonly result: 'error'; readonly problems: readonly Problem[] }

/** Metadata that an API server sets on every object; in a file it is ignored. */
export type KnownMetadata = Pick<Metadata, 'uid' | 'resourceVersion' | 'generation' | 'createdAt'>

/**
 * A problem inside `spec` does not make the object unreadable: it is a resource whose `checked` has the
 * problems, so that what it said before can go on serving.
 * `status` is read of what has no origin, which is to say of what comes from an API server.
 * @param known its `createdAt` counts where the object has no `creationTimestamp`
 * @example readResource({apiVersion: 'v1', kind: 'Secret', metadata: {name: 'a'}}, known)
 */
export const readResource = (value: unknown, known: KnownMetadata, origin?: Origin): ReadResult => {
  if (!isMap(value))
    return invalid('invalid_datatype', '', 'this is not a Kubernetes resource: it is not a map')
  const apiVersion = memberAt(value, 'apiVersion')
  const kind = memberAt(value, 'kind')
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return unknownObject(value)
  if (apiVersion !== API_VERSION && apiVersion.startsWith(`${GROUP}/`)) {
    return invalid(
      'invalid_value',
      '/apiVersion',
      `/apiVersion is '${apiVersion}'; write ${API_VERSION}`,
    )
  }
  if (!isOurs(apiVersion, kind)) return { result: 'foreign', apiVersion, kind }
  const problems = checkMetadata(value)
  if (problems.length > 0) return { result: 'error', problems }
  const metadata = readMetadata(value, kind, known)
  const base = origin === undefined ? { metadata } : { metadata, origin }
  return { result: 'resource', resource: READERS[kind](value, base) }
}

/**
 * What is wrong with an object that is not for this operator, but seems to be meant for it: an unknown kind of our group,
 * or one of our kinds in a group that is spelt almost like ours.
 * @example misspeltKind(API_VERSION, 'Ralm')?.message // "there is no kind 'Ralm' in gateway.svc.dev; did you mean 'Realm'?"
 */
export const misspeltKind = (apiVersion: string, kind: string): Problem | undefined => {
  if (apiVersion === API_VERSION) {
    if (kind.endsWith('List')) return undefined
    const hint = didYouMean(kind, OWN_KINDS) || `; there are ${OWN_KINDS.join(' and ')}`
    const message = `there is no kind '${kind.slice(0, 63)}' in ${GROUP}${hint}`
    return { code: 'invalid_value', path: '/kind', message }
  }
  if (!OWN_KINDS.includes(kind) || nearestName(apiVersion, [API_VERSION]) === undefined)
    return undefined
  const message = `there is no ${kind} in '${apiVersion}'; did you mean ${API_VERSION}?`
  return { code: 'invalid_value', path: '/apiVersion', message }
}

const OWN_KINDS: readonly string[] = ['ApiSpecification', 'Realm']

const KINDS = {
  ApiSpecification: API_VERSION,
  Realm: API_VERSION,
  Secret: 'v1',
  ConfigMap: 'v1',
  Namespace: 'v1',
} satisfies Record<Kind, string>

const isOurs = (apiVersion: string, kind: string): kind is Kind =>
  Object.hasOwn(KINDS, kind) && KINDS[kind as Kind] === apiVersion

const invalid = (code: Problem['code'], path: string, message: string): ReadResult => ({
  result: 'error',
  problems: [{ code, path, message }],
})

const unknownObject = (value: ValueMap): ReadResult => {
  if (Object.hasOwn(value, 'versions') && Object.hasOwn(value, 'host')) {
    const wrap = `{apiVersion: ${API_VERSION}, kind: ApiSpecification, metadata: {name}, spec: {document: …}}`
    const message = `this is a bare API Specification: put it into a resource, ${wrap}`
    return invalid('missing_required_value', '/kind', message)
  }
  const missing = typeof memberAt(value, 'kind') === 'string' ? '/apiVersion' : '/kind'
  return invalid(
    'missing_required_value',
    missing,
    `${missing} is missing: this is not a Kubernetes resource`,
  )
}

type Base = Pick<Resource, 'metadata' | 'origin'>

const READERS: Readonly<Record<Kind, (value: ValueMap, base: Base) => Resource>> = {
  ApiSpecification: (value, base) => ({
    kind: 'ApiSpecification',
    ...base,
    checked: checkedSpec<ApiSpecificationSpec>(
      value,
      API_SPECIFICATION_SPEC,
      checkApiSpecificationSpec,
    ),
    ...classOf(value),
    ...recordedIn(value, base),
  }),
  Realm: (value, base) => ({
    kind: 'Realm',
    ...base,
    checked: checkedSpec<RealmSpec>(value, REALM_SPEC, checkRealmSpec),
    ...classOf(value),
    ...recordedOfRealm(value, base),
  }),
  Secret: (value, base) => ({
    kind: 'Secret',
    ...base,
    data: { ...textsAt(value, 'data'), ...inBase64(textsAt(value, 'stringData')) },
  }),
  ConfigMap: (value, base) => ({
    kind: 'ConfigMap',
    ...base,
    data: textsAt(value, 'data'),
    binaryData: textsAt(value, 'binaryData'),
  }),
  Namespace: (_value, base) => ({ kind: 'Namespace', ...base }),
}

const classOf = (value: ValueMap): Pick<ApiSpecificationResource | RealmResource, 'className'> => {
  const className = textAt(mapAt(value, 'spec'), 'gatewayClassName')
  return className === '' ? {} : { className }
}

/** What a file says of its status is not believed. */
const recordedIn = (value: ValueMap, { origin }: Base): Partial<RecordedStatus> =>
  origin === undefined ? (readRecordedStatus(memberAt(value, 'status')) ?? {}) : {}

const recordedOfRealm = (value: ValueMap, base: Base): Partial<RecordedStatus> => {
  const { conditions, errors, warnings, writtenBy } = recordedIn(value, base)
  return {
    ...(writtenBy !== undefined && { writtenBy }),
    ...(conditions && { conditions }),
    ...(errors && { errors }),
    ...(warnings && { warnings }),
  }
}

/**
 * The guards have seen every member that `Spec` names: the one place where a checked map gets its type, and so the one
 * where nulls are left out, which its type does not have.
 */
const checkedSpec = <Spec>(
  value: ValueMap,
  schema: ObjectSchema,
  check: (spec: unknown) => readonly Problem[],
): CheckedSpec<Spec> => {
  const written = memberAt(value, 'spec')
  if (written === undefined) {
    const message = '/spec is missing'
    return { problems: [{ code: 'missing_required_value', path: '/spec', message }] }
  }
  const spec = pruneNulls(schema, written)
  const problems = check(spec)
  return problems.length > 0 ? { problems } : { spec: spec as Spec }
}

const checkMetadata = (value: ValueMap): readonly Problem[] => {
  const metadata = memberAt(value, 'metadata') ?? {}
  if (!isMap(metadata)) {
    return [{ code: 'invalid_datatype', path: '/metadata', message: '/metadata must be a map' }]
  }
  return [...checkName(metadata), ...checkNamespace(metadata), ...checkCreation(metadata)]
}

const checkName = (metadata: ValueMap): readonly Problem[] => {
  const name = memberAt(metadata, 'name')
  const path = '/metadata/name'
  if (name === undefined) {
    return [{ code: 'missing_required_value', path, message: `${path} is missing` }]
  }
  return typeof name === 'string' && isObjectName(name) ? [] : [badName(path, name)]
}

const checkNamespace = (metadata: ValueMap): readonly Problem[] => {
  const namespace = memberAt(metadata, 'namespace')
  if (namespace === undefined) return []
  const fits = typeof namespace === 'string' && isObjectName(namespace)
  return fits ? [] : [badName('/metadata/namespace', namespace)]
}

const badName = (path: string, value: unknown): Problem => ({
  code: 'invalid_value',
  path,
  message: `${path} is ${JSON.stringify(value).slice(0, 80)}; a name is a text of a-z, 0-9, '-' and '.'`,
})

const checkCreation = (metadata: ValueMap): readonly Problem[] => {
  const created = memberAt(metadata, 'creationTimestamp')
  if (created === undefined) return []
  if (typeof created === 'string' && !Number.isNaN(Date.parse(created))) return []
  const path = '/metadata/creationTimestamp'
  return [
    { code: 'invalid_value', path, message: `${path} is not a time such as 2026-01-31T08:00:00Z` },
  ]
}

const readMetadata = (value: ValueMap, kind: Kind, known: KnownMetadata): Metadata => {
  const metadata = mapAt(value, 'metadata')
  const created = memberAt(metadata, 'creationTimestamp')
  return {
    name: textAt(metadata, 'name'),
    namespace: kind === 'Namespace' ? '' : textAt(metadata, 'namespace') || 'default',
    uid: known.uid,
    resourceVersion: known.resourceVersion,
    generation: known.generation,
    createdAt: typeof created === 'string' ? Date.parse(created) : known.createdAt,
    labels: textsAt(metadata, 'labels'),
    annotations: textsAt(metadata, 'annotations'),
  }
}

const inBase64 = (map: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(map).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )
