// Folds a document for people to read: compiled with everything inherited, but without the values of its Secrets. Pure
// data, since large documents are folded in another thread.

import { compile, type CompileBounds } from '../compile.ts'
import { versionPointer } from '../compile/conflicts.ts'
import { API_PARTS } from '../compile/api-parts.ts'
import { describeLevel } from '../compile/level-part.ts'
import { describeParts, mapParts } from '../compile/operation-parts.ts'
import { type CompiledEndpoint, describeSecurity } from '../compile/security.ts'
import { VERSION_PARTS } from '../compile/version-parts.ts'
import type { ApiParts, CompiledApi, CompiledPath, CompiledVersion } from '../compile/compiled.ts'
import { type Method, METHODS, type ServedScheme } from '../document.ts'
import type { RealmFacts } from '../realm/environment.ts'
import type { ValueMap } from '../expression/value.ts'
import type { Problem } from '../problem.ts'
import type { PathPattern } from '../routes/path-pattern.ts'
import { describeOperation, type OperationDescription } from './describe-operation.ts'
import { createTemplateWriter, type WriteTemplate } from './write-template.ts'

export interface FoldedDocument extends ApiParts {
  readonly versions: readonly FoldedVersion[]
}

export interface FoldedVersion {
  readonly name: string
  readonly basePath: string
  readonly isActive: boolean
  /** JSON pointer into the document. */
  readonly pointer: string
  /** In front of `/ws`; absent: the version does not serve it. */
  readonly security?: ValueMap
  /** What it says for all its paths. */
  readonly described: ValueMap
  readonly endpoints: readonly CompiledEndpoint[]
  readonly paths: readonly FoldedPath[]
}

export interface FoldedPath {
  readonly pointer: string
  readonly template: string
  readonly patterns: readonly PathPattern[]
  readonly schemes: readonly ServedScheme[]
  /** What holds for all its requests. */
  readonly described: ValueMap
  readonly operations: Readonly<Partial<Record<Method, OperationDescription>>>
}

export type Folding =
  | { readonly folded: FoldedDocument; readonly compiled: CompiledApi }
  /** It has problems, or cannot be folded without the values of its Secrets. */
  | { readonly problems: readonly Problem[] }

/** The most that is written of one document: references may stand for far more than its text. */
const MAX_CHARACTERS = 8 * 1024 * 1024

/** Whatever a document needs of its realm: whether the realm has it is for validation to say. */
const ANY_REALM: RealmFacts = { authmethods: ['oidcrp', 'cookie'], oidcProviders: [] }

/** @param withheld names of the variables that come from Secrets */
export const foldDocument = (
  document: unknown,
  withheld: readonly string[],
  bounds: CompileBounds = {},
): Folding => {
  const compilation = compile(document, { realm: () => ANY_REALM, withheld }, bounds)
  if ('problems' in compilation) return { problems: compilation.problems }
  const { compiled } = compilation
  return { folded: describeDocument(compiled, createTemplateWriter(MAX_CHARACTERS)), compiled }
}

export const describeDocument = (compiled: CompiledApi, write: WriteTemplate): FoldedDocument => ({
  ...compiled,
  versions: compiled.versions.map((version) => foldVersion(version, write)),
})

const foldVersion = (version: CompiledVersion, write: WriteTemplate): FoldedVersion => ({
  name: version.name,
  basePath: version.basePath,
  isActive: version.isActive,
  pointer: versionPointer(version),
  described: {
    ...describeLevel(VERSION_PARTS, version),
    ...describeParts('unmatched', mapParts('unmatched', version, write)),
  },
  ...(version.security && { security: describeSecurity(version.security) }),
  endpoints: version.endpoints,
  paths: version.paths.map((path) => foldPath(path, write)),
})

const foldPath = (path: CompiledPath, write: WriteTemplate): FoldedPath => {
  const operations: Partial<Record<Method, OperationDescription>> = {}
  for (const method of METHODS) {
    const operation = path.operations[method]
    if (operation !== undefined) operations[method] = describeOperation(method, operation, write)
  }
  const { pointer, template, patterns, schemes } = path
  const { response_headers: headers, ...parts } = describeParts(
    'path',
    mapParts('path', path, write),
  )
  const described = { ...parts, ...(headers !== undefined && { headers }) }
  return { pointer, template, patterns, schemes, described, operations }
}

/** The operation at a pointer; undefined: there is none. */
export const operationAt = (
  { versions }: FoldedDocument,
  pointer: string,
): OperationDescription | undefined => {
  for (const { operations } of versions.flatMap(({ paths }) => paths)) {
    const found = Object.values(operations).find((operation) => operation.pointer === pointer)
    if (found !== undefined) return found
  }
  return undefined
}

/** `GET /api_specs/:id?view=folded`. */
export const foldedRecord = ({ versions, ...api }: FoldedDocument): object => ({
  ...describeLevel(API_PARTS, api),
  versions: Object.fromEntries(
    versions.map(({ name, basePath, described, paths }) => [
      name,
      {
        base_path: basePath,
        ...described,
        paths: paths.map(({ pointer, template, described: own, operations }) => ({
          pointer,
          template,
          ...own,
          operations,
        })),
      },
    ]),
  ),
})
