// Packs a compiled document: its operations become one deflated value, which is turned back into data, and then into
// closures, at its first use. Measured: a tenth of the heap of closures.

import { serialize } from 'node:v8'
import { levelParts } from '../../../language/compile/level-part.ts'
import { mapParts } from '../../../language/compile/operation-parts.ts'
import { VERSION_PARTS } from '../../../language/compile/version-parts.ts'
import type {
  CompiledApi,
  CompiledPath,
  CompiledVersion,
  StatusCodes,
} from '../../../language/compile/compiled.ts'
import { METHODS } from '../../../language/document.ts'
import type { Template } from '../../../language/expression/template.ts'
import { mapMembers } from '../../../language/compile/map-members.ts'
import { mapTemplates } from '../../../language/compile/map-templates.ts'
import { STATUS_CODES } from '../../../language/compile/status-codes.ts'
import { type Compact, compact } from './compact.ts'
import type {
  PackedDocument,
  PackedPath,
  PackedVersion,
  UnpackedDocument,
  UnpackedPath,
} from './packed-document.ts'
import { createPathInterner } from './intern-path.ts'

interface PackOptions {
  readonly since: number
  readonly rank: number
  readonly resource?: string | undefined
  readonly confinedTo?: string | undefined
  readonly credentials?: readonly string[] | undefined
}

/**
 * Inactive versions claim no route and are left out.
 * @example packDocument(compiled, { since: 1753747200000, rank: 0 })
 */
export const packDocument = (compiled: CompiledApi, options: PackOptions): PackedDocument => {
  const active = compiled.versions.filter((version) => version.isActive)
  return {
    id: compiled.id,
    realmUri: compiled.realmUri,
    ...(options.resource !== undefined && { resource: options.resource }),
    ...(options.confinedTo !== undefined && { confinedTo: options.confinedTo }),
    ...(options.credentials !== undefined && { credentials: options.credentials }),
    rank: options.rank,
    since: options.since,
    hosts: compiled.hosts,
    versions: active.map(packVersion),
    content: packContent(active),
  }
}

const packVersion = (version: CompiledVersion): PackedVersion => {
  const { statusCodes, ...parts } = levelParts(VERSION_PARTS, version)
  return {
    ...parts,
    name: version.name,
    basePath: version.basePath,
    schemes: version.schemes,
    ownStatusCodes: ownStatusCodes(statusCodes),
    endpoints: version.endpoints,
    paths: version.paths.map(packPath),
    ...(wordsUnmatched(version) && { wordsUnmatched: true as const }),
  }
}

/** Beside its schemes, which the route table has. */
const wordsUnmatched = (version: CompiledVersion): boolean =>
  Object.keys(mapParts('unmatched', version, (template) => template)).length > 1

const ownStatusCodes = (codes: StatusCodes): StatusCodes =>
  codes === STATUS_CODES
    ? {}
    : Object.fromEntries(
        Object.entries(codes).filter(
          ([uri, status]) => !Object.hasOwn(STATUS_CODES, uri) || STATUS_CODES[uri] !== status,
        ),
      )

/** The process that workers of a cluster have their documents from keeps them packed. */
const internPath = createPathInterner()

const packPath = (path: CompiledPath): PackedPath => ({
  ...internPath(path),
  schemes: path.schemes,
  methods: METHODS.filter((method) => path.operations[method] !== undefined),
})

/** A shorter text takes hardly more than a reference to it. */
const SHARED_FROM = 64

/**
 * Serialising keeps what is one object one, but not what is one text: a variable of 200 KB in 600 operations would take
 * 120 MB.
 */
const createTextShare = (): ((template: Template) => Template) => {
  const known = new Map<string, Template>()
  return (template) => {
    if (template.kind !== 'constant') return template
    const { value } = template
    if (typeof value !== 'string' || value.length < SHARED_FROM) return template
    const before = known.get(value)
    if (before === undefined) known.set(value, template)
    return before ?? template
  }
}

const packContent = (versions: readonly CompiledVersion[]): Compact => {
  const shareText = createTextShare()
  const paths = versions.flatMap((version) =>
    version.paths.map((path): UnpackedPath => ({
      ...mapParts('path', path, shareText),
      operations: mapMembers(path.operations, METHODS, (operation) =>
        mapTemplates(operation, shareText),
      ),
    })),
  )
  const unmatched = versions.map((version) => mapParts('unmatched', version, shareText))
  const content: UnpackedDocument = { paths, unmatched }
  return compact(serialize(content))
}
