// Describes a version of a compiled document in OpenAPI 3.1. Pure. It says nothing of upstreams, procedures, groups and
// networks, and has no value that stands in an expression; whether values of Secrets are known is up to its caller, which
// compiles the document without them.

import { pointerKeys } from '../../base/json-pointer.ts'
import type {
  CompiledApi,
  CompiledOperation,
  CompiledPath,
  CompiledVersion,
} from '../compile/compiled.ts'
import { type Method, METHODS } from '../document.ts'
import { mapAt, textAt } from '../expression/members.ts'
import { isMap, type Value, type ValueMap } from '../expression/value.ts'
import type { HostPattern } from '../routes/host-pattern.ts'
import { namedVersions } from '../versions.ts'
import { describeOperation } from './openapi-operation.ts'
import { ERROR_RESPONSES, ERROR_SCHEMAS } from './openapi-errors.ts'
import { type OpenApiPath, openApiPaths, withNames } from './openapi-path.ts'
import { describeSchemas } from './openapi-schemas.ts'
import { describeSecurity } from './openapi-security.ts'
import { operationIds } from './operation-id.ts'

/**
 * The OpenAPI document of a version, the same for the same document wherever it is compiled.
 * @param document as written: words for people are not compiled
 * @param most characters of its paths as JSON; undefined is returned where there would be more, for which optional segments
 * of long paths are enough
 */
export const describeVersion = (
  document: ValueMap,
  api: Pick<CompiledApi, 'id' | 'hosts'>,
  version: CompiledVersion,
  most: number,
): ValueMap | undefined => {
  const written = version.paths.filter(isWritten)
  if (lengthOfPaths(written) > most) return undefined
  const named = namedVersions(document['versions']).find(({ name }) => name === version.name)
  const raw = isMap(named?.value) ? named.value : {}
  const operations = operationsOf(written)
  const security = describeSecurity(
    operations.map(({ operation }) => operation.security),
    version.basePath,
  )
  const ids = operationIds(operations.map(({ method, at }) => ({ method, path: at.path })))
  const paths: Record<string, Record<string, ValueMap>> = {}
  const components: Record<string, Value> = {}
  let characters = 0
  for (const [index, { method, operation, at, path }] of operations.entries()) {
    const words = mapAt(mapAt(raw, 'paths'), pointerKeys(path.pointer).at(-1) ?? '')
    const operationId = ids[index] ?? ''
    const schemas = describeSchemas(operation.schema, operationId)
    Object.assign(components, schemas.components)
    const described = describeOperation({
      method,
      operation,
      path: at,
      words: { path: words, operation: mapAt(words, method) },
      isWorded: path.refusal?.body !== undefined,
      statusCodes: version.statusCodes,
      isDeprecated: version.deprecation !== undefined,
      operationId,
      schemas,
      // OPTIONS never asks for credentials.
      security: method === 'options' ? [] : security.requirementsOf(operation.security),
    })
    characters += at.path.length + JSON.stringify([described, schemas.components]).length
    if (characters > most) return undefined
    const item = (paths[at.path] ??= {})
    item[method] = described
  }
  return {
    openapi: '3.1.0',
    info: infoOf(document, api, version, raw),
    servers: serversOf(api.hosts, version),
    paths: sortedByKey(paths),
    components: {
      schemas: { ...components, ...ERROR_SCHEMAS },
      responses: ERROR_RESPONSES,
      ...(Object.keys(security.schemes).length > 0 && { securitySchemes: security.schemes }),
    },
  }
}

/** The description and its page are paths that the compiler adds: they are not described in themselves. */
const isWritten = ({ pointer }: CompiledPath): boolean => pointerKeys(pointer).at(-2) === 'paths'

/** At least so many characters the paths take, with what names their operations. */
const lengthOfPaths = (paths: readonly CompiledPath[]): number =>
  paths.reduce(
    (sum, { patterns, template, operations }) =>
      sum + patterns.length * template.length * Object.keys(operations).length,
    0,
  )

interface PlacedOperation {
  readonly method: Method
  readonly operation: CompiledOperation
  readonly at: OpenApiPath
  readonly path: CompiledPath
}

/**
 * What each path of OpenAPI does, those that are more specific first. Paths that OpenAPI counts as one are one, with the
 * names of the first; of what several say there, the first counts, as for requests.
 */
const operationsOf = (paths: readonly CompiledPath[]): readonly PlacedOperation[] => {
  const byShape = new Map<string, Shape>()
  for (const { at, path } of placesOf(paths)) {
    const known = byShape.get(at.shape)
    // A path that is more specific leaves a tail no requests of other methods: they are 405.
    if (at.tail === 'empty' && known?.isOfTail === false) continue
    const shape = known ?? {
      names: at.parameters,
      isOfTail: at.tail !== undefined,
      operations: new Map<Method, PlacedOperation>(),
    }
    byShape.set(at.shape, shape)
    for (const method of METHODS) {
      const operation = path.operations[method]
      if (operation !== undefined && !shape.operations.has(method))
        shape.operations.set(method, { method, operation, at: withNames(at, shape.names), path })
    }
  }
  return [...byShape.values()].flatMap(({ operations }) => [...operations.values()])
}

interface Shape {
  readonly names: readonly string[]
  /** No path without a tail has it. */
  readonly isOfTail: boolean
  readonly operations: Map<Method, PlacedOperation>
}

interface Place {
  readonly at: OpenApiPath
  readonly path: CompiledPath
  readonly optional: number
}

/** In an order that does not depend on that of the document, which a gateway does not keep. */
const placesOf = (paths: readonly CompiledPath[]): readonly Place[] =>
  paths
    .flatMap((path) =>
      path.patterns.flatMap((pattern) =>
        openApiPaths(pattern).map((at) => ({ at, path, optional: pattern.optional })),
      ),
    )
    .sort(
      (a, b) =>
        TAILS.indexOf(a.at.tail) - TAILS.indexOf(b.at.tail) ||
        a.optional - b.optional ||
        (a.path.template < b.path.template ? -1 : 1),
    )

const TAILS: readonly OpenApiPath['tail'][] = [undefined, 'empty', 'filled']

const sortedByKey = (paths: Readonly<Record<string, ValueMap>>): ValueMap =>
  Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)))

const infoOf = (
  document: ValueMap,
  { id }: Pick<CompiledApi, 'id'>,
  { name }: CompiledVersion,
  raw: ValueMap,
): ValueMap => {
  const info = mapAt(raw, 'info')
  const text = (from: ValueMap, key: string): ValueMap => {
    const value = textAt(from, key)
    return value === '' ? {} : { [key]: value }
  }
  const url = (from: ValueMap, key: string): ValueMap =>
    URL.canParse(textAt(from, key)) ? { [key]: new URL(textAt(from, key)).href } : {}
  const contact = mapAt(info, 'contact')
  const license = mapAt(info, 'license')
  return {
    title: textAt(info, 'title') || textAt(document, 'name') || id,
    version: textAt(info, 'version') || name || '1',
    ...text(info, 'summary'),
    ...text(info, 'description'),
    ...url(info, 'termsOfService'),
    ...withMembers('contact', { ...text(contact, 'name'), ...url(contact, 'url') }),
    ...(textAt(license, 'name') !== '' &&
      withMembers('license', { ...text(license, 'name'), ...url(license, 'url') })),
  }
}

const withMembers = (key: string, map: ValueMap): ValueMap =>
  Object.keys(map).length === 0 ? {} : { [key]: map }

/** One for each host, by https where that is served. Paths have the `base_path`, as it may be optional. */
const serversOf = (
  hosts: readonly HostPattern[],
  { schemes }: CompiledVersion,
): readonly ValueMap[] => {
  const isPlain = schemes.every((scheme) => scheme === 'http')
  return hosts.map((host) => {
    if (host.labels.length === 0) return { url: '/' }
    const labels = host.labels.map(
      (label, index) => label ?? `{${host.bindings[index] ?? `label${index + 1}`}}`,
    )
    const variables = labels
      .filter((label) => label.startsWith('{'))
      .map((label) => label.slice(1, -1))
    return {
      url: `${isPlain ? 'http' : 'https'}://${labels.join('.')}`,
      ...(variables.length > 0 && {
        variables: Object.fromEntries(variables.map((name) => [name, { default: name }])),
      }),
    }
  })
}
