// Folds the documents among files as a gateway would serve them: those that validation rejects are left out, with the
// reason. Values of Secrets are never read, whether their Secrets are among the files or not.

import type { CompiledApi } from '../../language/compile/compiled.ts'
import { type FoldedDocument, foldDocument } from '../../language/explain/fold-document.ts'
import { listAt, mapAt, textAt } from '../../language/expression/members.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { readDocument } from '../../operator/reconcile/documents/read-document.ts'
import { readVariables } from '../../operator/reconcile/documents/read-variables.ts'
import {
  type ApiSpecificationResource,
  type RealmSpec,
  type Resource,
  resourceKey,
} from '../../operator/resource/resource.ts'
import { DEFAULT_CLASS } from '../../operator/resource/resource-schema.ts'
import { type Collected, collectResources, type Located } from '../validate/collect-resources.ts'
import { diagnosticLine } from '../validate/validation-diagnostic.ts'
import type { GatheredFile } from '../validate/gather-files.ts'
import { standInSecrets } from '../validate/secret-references.ts'
import { validateCollected } from '../validate/validate-files.ts'

export interface ReadDocuments {
  readonly documents: readonly DocumentOfFile[]
  /** One line for each document that is not served, and why. */
  readonly leftOut: readonly string[]
  readonly hasRouter: (realmUri: string) => boolean
  /** The Realms that are among the files, by uri. */
  readonly realms: ReadonlyMap<string, RealmOfFile>
}

export interface RealmOfFile {
  readonly spec: RealmSpec
  readonly namespace: string
  /** Its place in the file; empty: it is in none. */
  readonly at: string
}

export interface DocumentOfFile {
  /** From Secrets among the files; an empty text in place of each that is not there. */
  readonly variables: () => ValueMap
  readonly folded: FoldedDocument
  readonly compiled: CompiledApi
  /** As written. */
  readonly document: ValueMap
  /** Names of the variables whose values are not read. */
  readonly withheld: readonly string[]
  /** @example placeOf('/versions/v1') // 'users.yaml:12:5' */
  readonly placeOf: (pointer: string) => string
}

interface Options {
  readonly className: string
  readonly maxRoutes: number
}

export const readDocuments = (files: readonly GatheredFile[], options: Options): ReadDocuments =>
  foldResources(collectResources(files), options)

/** The same of resources that were collected before. */
export const foldResources = (
  collected: Pick<Collected, 'resources' | 'diagnostics'>,
  { className, maxRoutes }: Options,
): ReadDocuments => {
  const { resources: located } = collected
  const resources = new Map([...located].map(([key, { resource }]) => [key, resource]))
  const errors = validateCollected(collected, maxRoutes).diagnostics.filter(
    ({ severity }) => severity === 'error',
  )
  const leftOut = errors.map(diagnosticLine)
  const faulty = new Set(errors.map(({ file, resource }) => `${file}\n${resource}`))
  const documents: DocumentOfFile[] = []
  for (const each of located.values()) {
    const { resource, file, name } = each
    if (resource.kind !== 'ApiSpecification' || faulty.has(`${file}\n${name}`)) continue
    const wanted = resource.className ?? DEFAULT_CLASS
    if (wanted !== className) {
      leftOut.push(
        lineOf(placeOf(each)(''), `${name} has gatewayClassName ${wanted} (see --class)`),
      )
      continue
    }
    const read = fold(resource, each, { resources, maxRoutes })
    if (typeof read === 'string') leftOut.push(read)
    else documents.push(read)
  }
  const realms = realmsOf(
    [...located.values()].filter(({ file, name }) => !faulty.has(`${file}\n${name}`)),
  )
  return { documents, leftOut, hasRouter: routersOf(resources), realms }
}

/** The first of two Realms with one uri. */
const realmsOf = (located: readonly Located[]): ReadonlyMap<string, RealmOfFile> => {
  const realms = new Map<string, RealmOfFile>()
  for (const { resource, file, positionOf } of located) {
    if (resource.kind !== 'Realm' || !('spec' in resource.checked)) continue
    const { spec } = resource.checked
    const { line, column } = positionOf('/spec')
    const at = file === '' ? '' : `${file}:${line}:${column}`
    if (!realms.has(spec.uri))
      realms.set(spec.uri, { spec, namespace: resource.metadata.namespace, at })
  }
  return realms
}

const placeOf =
  ({ file, positionOf, resource }: Located): DocumentOfFile['placeOf'] =>
  (pointer) => {
    const isElsewhere =
      resource.kind === 'ApiSpecification' &&
      'spec' in resource.checked &&
      resource.checked.spec.documentFrom !== undefined
    const base = isElsewhere ? '/spec/documentFrom' : `/spec/document${pointer}`
    const { line, column } = positionOf(base)
    return file === '' ? '' : `${file}:${line}:${column}`
  }

const lineOf = (place: string, words: string): string =>
  place === '' ? words : `${place} ${words}`

const fold = (
  resource: ApiSpecificationResource,
  located: Located,
  {
    resources,
    maxRoutes,
  }: { readonly resources: ReadonlyMap<string, Resource>; readonly maxRoutes: number },
): DocumentOfFile | string => {
  const place = placeOf(located)
  const left = (reason: string, pointer = ''): string =>
    lineOf(place(pointer), `${located.name}: ${reason}`)
  const read = readDocument(resource, { version: 1, resources, notes: [] })
  if ('missing' in read) return left(read.missing.message)
  if (!('document' in read)) return left('its document cannot be read; validate says why')
  const { document } = read
  const withheld = secretVariables(resource, document, resources)
  const folding = foldDocument(document, withheld, { maxRoutes })
  if (!('problems' in folding)) {
    const variables = (): ValueMap => variablesOf(resource, resources)
    return { ...folding, document, withheld, variables, placeOf: place }
  }
  const [problem] = folding.problems
  return left(
    `it cannot be folded without the values of its Secrets: ${problem?.message ?? ''}`,
    problem?.path,
  )
}

const variablesOf = (
  resource: ApiSpecificationResource,
  resources: ReadonlyMap<string, Resource>,
): ValueMap => {
  const all = new Map([...resources, ...standInSecrets(resources)])
  const read = readVariables(resource, { version: 1, resources: all, notes: [] })
  return 'found' in read ? read.found.variables : {}
}

/** Names of the variables that come from Secrets. */
const secretVariables = (
  resource: ApiSpecificationResource,
  document: ValueMap,
  resources: ReadonlyMap<string, Resource>,
): readonly string[] => {
  const sources = 'spec' in resource.checked ? (resource.checked.spec.variablesFrom ?? []) : []
  const names = sources.flatMap(({ name, secretRef }) => {
    if (secretRef.key !== undefined) return [name ?? secretRef.key]
    const secret = resources.get(resourceKey('Secret', resource.metadata.namespace, secretRef.name))
    return secret?.kind === 'Secret' ? Object.keys(secret.data) : undefinedVariables(document)
  })
  return [...new Set(names)]
}

/** Variables that the document reads and does not define: any of them may be a key of a Secret that is not among the files. */
export const undefinedVariables = (document: ValueMap): readonly string[] => {
  const [read, written] = [new Set<string>(), new Set<string>()]
  const walk = (value: Value): void => {
    if (typeof value === 'string') {
      for (const [, name = ''] of value.matchAll(/\bvariables\.([\w-]+)/g)) read.add(name)
    } else if (isList(value)) value.forEach(walk)
    else if (isMap(value)) {
      const { variables } = value
      if (isMap(variables)) Object.keys(variables).forEach((name) => written.add(name))
      Object.values(value).forEach(walk)
    }
  }
  walk(document)
  return [...read].filter((name) => !written.has(name))
}

/** A realm that is not among the files may have one. */
const routersOf =
  (resources: ReadonlyMap<string, Resource>) =>
  (uri: string): boolean => {
    for (const resource of resources.values()) {
      if (resource.kind !== 'Realm' || !('spec' in resource.checked)) continue
      const { spec } = resource.checked
      if (spec.uri === uri) return hasRouterUrl(spec)
    }
    return true
  }

/** Whether a realm, as a resource or a gateway has it, has a router that takes WebSocket connections. */
export const hasRouterUrl = (realm: ValueMap): boolean => {
  const router = mapAt(realm, 'router')
  const urls = [textAt(router, 'url'), ...listAt(router, 'urls')]
  return urls.some((url) => typeof url === 'string' && /^wss?:/i.test(url))
}
