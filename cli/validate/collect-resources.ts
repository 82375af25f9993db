// Collects the resources in texts of files, with the place of each, and the problems that show before validation. A plain
// document is wrapped into a resource, so that all are validated in the same way.

import { mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import type { Position } from '../../operator/manifests/locate-pointer.ts'
import { parseYaml, type PositionOf } from '../../operator/manifests/parse-yaml.ts'
import { flatten, type ManifestItem, warningNotes } from '../../operator/manifests/read-manifest.ts'
import {
  misspeltKind,
  type ReadResult,
  readResource,
} from '../../operator/resource/read-resource.ts'
import { API_VERSION, keyOf, type Origin, type Resource } from '../../operator/resource/resource.ts'
import { strictProblems } from '../../operator/resource/strict-manifest.ts'
import type { ValidationDiagnostic } from './validation-diagnostic.ts'
import type { GatheredFile } from './gather-files.ts'

export interface Collected {
  /** Resources by key. */
  readonly resources: ReadonlyMap<string, Located>
  /** Objects of kinds that are not read. */
  readonly foreign: readonly ForeignObject[]
  readonly diagnostics: readonly ValidationDiagnostic[]
}

interface ForeignObject extends Position {
  readonly apiVersion: string
  readonly kind: string
  readonly file: string
}

export interface Located {
  readonly resource: Resource
  /** The value in the file. */
  readonly value: ValueMap
  /** Empty: the resource is in no file. */
  readonly file: string
  /** Gives the position of a pointer into the resource. */
  readonly positionOf: PositionOf
  /** Its name in diagnostics. */
  readonly name: string
  /** The uri of a Realm, even of one with problems; else empty. */
  readonly realmUri: string
  /** It is a plain document in the file, without a resource around it. */
  readonly isPlain: boolean
}

interface Collection {
  /** The namespace of objects that name none. */
  readonly namespace: string | undefined
  readonly resources: Map<string, Located>
  readonly foreign: ForeignObject[]
  readonly diagnostics: ValidationDiagnostic[]
}

/** All resources have the same age, as files do not say which of two is older. */
const CREATED_AT = 0

/** @param namespace of objects that name none; `default` if left out */
export const collectResources = (files: readonly GatheredFile[], namespace?: string): Collected => {
  const collection: Collection = { namespace, resources: new Map(), foreign: [], diagnostics: [] }
  for (const file of files) collectFile(file, collection)
  return collection
}

const collectFile = ({ name: file, text }: GatheredFile, collection: Collection): void => {
  const parsed = parseYaml(text)
  if ('error' in parsed) {
    const { message, ...position } = parsed.error
    collection.diagnostics.push(error(file, position, { code: 'invalid_yaml', message }))
    return
  }
  if (parsed.documents.length === 0) {
    const message = 'there is nothing in this file: no document and no resource'
    const place = { file, line: 1, column: 1, resource: '', path: '' }
    collection.diagnostics.push({ severity: 'warning', ...place, code: 'EmptyFile', message })
  }
  for (const { document, item } of parsed.documents.flatMap(flatten)) {
    const located = isPlainDocument(item.value)
      ? plain(item.value, item, { file, count: collection.resources.size })
      : fromManifest(item, file, collection)
    if (located === undefined) continue
    add(located, item, collection)
    for (const note of warningNotes(document, item, { file, resource: located.resource })) {
      const { message, origin, path = '' } = note
      const { line, column } = origin ?? item.position
      const place = { file, line, column, resource: located.name, path }
      collection.diagnostics.push({ severity: 'warning', ...place, code: 'YamlType', message })
    }
  }
}

/** A document has neither kind nor apiVersion; any other problem is found by the language. */
const isPlainDocument = (value: unknown): value is ValueMap =>
  isMap(value) && !Object.hasOwn(value, 'kind') && !Object.hasOwn(value, 'apiVersion')

const plain = (
  document: ValueMap,
  item: ManifestItem,
  { file, count }: { readonly file: string; readonly count: number },
): Located | undefined => {
  const { id } = document
  const wrapped = {
    apiVersion: API_VERSION,
    kind: 'ApiSpecification',
    metadata: { name: `plain-document-${count}` },
    spec: { document },
  }
  const resource = read(wrapped, { file, ...item.position })
  return (
    resource && {
      resource,
      value: wrapped,
      file,
      isPlain: true,
      realmUri: '',
      positionOf: (pointer, within) =>
        item.positionOf(pointer.replace(/^\/spec\/document/, ''), within),
      name: typeof id === 'string' ? id : '',
    }
  )
}

const read = (value: unknown, origin: Origin): Resource | undefined => {
  const known = { uid: '', resourceVersion: '', generation: 1, createdAt: CREATED_AT }
  const result = readResource(value, known, origin)
  return result.result === 'resource' ? result.resource : undefined
}

const fromManifest = (
  item: ManifestItem,
  file: string,
  { diagnostics, foreign, namespace }: Collection,
): Located | undefined => {
  const known = { uid: '', resourceVersion: '', generation: 1, createdAt: CREATED_AT }
  const value = withNamespace(item.value, namespace)
  const result = readResource(value, known, { file, ...item.position })
  if (result.result !== 'resource') {
    for (const { code, path, message } of problemsOf(result)) {
      diagnostics.push(error(file, item.positionOf(path), { code, path, message }))
    }
    if (result.result === 'foreign') {
      const { apiVersion, kind } = result
      foreign.push({ apiVersion, kind, file, ...item.positionOf('/kind') })
      diagnostics.push(...foreignNotices(kind, item, file))
    }
    return undefined
  }
  const { resource } = result
  const object = isMap(value) ? value : {}
  const name = `${resource.kind} ${resource.metadata.namespace}/${resource.metadata.name}`
  for (const { code, path, message } of strictProblems(object, resource.kind)) {
    const place = item.positionOf(path)
    diagnostics.push({ ...error(file, place, { code, path, message }), resource: name })
  }
  return {
    resource,
    value: object,
    file,
    isPlain: false,
    realmUri: resource.kind === 'Realm' ? textAt(specOf(item.value), 'uri') : '',
    positionOf: item.positionOf,
    name,
  }
}

const withNamespace = (value: unknown, namespace: string | undefined): unknown => {
  if (namespace === undefined || !isMap(value)) return value
  const metadata = memberAt(value, 'metadata')
  if (!isMap(metadata) || memberAt(metadata, 'namespace') !== undefined) return value
  return { ...value, metadata: { ...metadata, namespace } }
}

/** Kinds of ingress controllers and other gateways, for a hint. */
const ROUTES_ELSEWHERE: ReadonlySet<string> = new Set([
  'Ingress',
  'HTTPRoute',
  'IngressRoute',
  'VirtualService',
  'HTTPProxy',
])

const foreignNotices = (
  kind: string,
  { positionOf }: ManifestItem,
  file: string,
): readonly ValidationDiagnostic[] => {
  if (!ROUTES_ELSEWHERE.has(kind)) return []
  const path = '/kind'
  const message =
    `objects of kind ${kind} are not read: routes of this gateway are those of an ApiSpecification ` +
    '(examples/02-forward.yaml is a small one). If it is for something else, ignore this'
  const place = { file, ...positionOf(path), resource: '', path }
  return [{ severity: 'notice', ...place, code: 'ForeignKind', message }]
}

const specOf = (value: unknown): ValueMap => (isMap(value) ? mapAt(value, 'spec') : {})

const problemsOf = (
  read: Exclude<ReadResult, { readonly result: 'resource' }>,
): readonly Problem[] => {
  if (read.result === 'error') return read.problems
  const problem = misspeltKind(read.apiVersion, read.kind)
  return problem === undefined ? [] : [problem]
}

const add = (
  located: Located,
  { position }: ManifestItem,
  { resources, diagnostics }: Collection,
): void => {
  const key = keyOf(located.resource)
  const first = resources.get(key)
  if (first === undefined) {
    resources.set(key, located)
    return
  }
  const message = `${located.name} stands in ${first.file}:${first.positionOf('').line} already`
  diagnostics.push({
    ...error(located.file, position, { code: 'conflict', message }),
    resource: located.name,
  })
}

const error = (
  file: string,
  { line, column }: Position,
  {
    code,
    path = '',
    message,
  }: { readonly code: string; readonly path?: string; readonly message: string },
): ValidationDiagnostic => ({
  severity: 'error',
  file,
  line,
  column,
  resource: '',
  path,
  code,
  message,
})
