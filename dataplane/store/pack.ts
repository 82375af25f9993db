// Packs a compiled document: every operation becomes a slice of JSON text that is turned back into data, and then
// into closures, at its first use. Measured: a tenth of the heap of closures. Values that several operations share (a
// header map, a status table) are packed once.

import type {
  CompiledApi,
  CompiledOperation,
  CompiledPath,
  StatusCodes,
} from '../../language/compiled.ts'
import { type Method, METHODS } from '../../language/document.ts'
import { childrenOf } from '../../language/expression/children.ts'
import type { Template } from '../../language/expression/template.ts'
import { compact } from './compact-text.ts'
import { type PackedOperation, split } from './packed-operation.ts'
import { type Encoded, encodeParts, encodeTemplate } from './template-codec.ts'
import { createPatternShare } from './share-patterns.ts'
import { mapTemplates } from '../../language/map-templates.ts'
import { STATUS_CODES } from '../../language/status-codes.ts'
import type { PackedDocument, PackedPath, PackedVersion, Slice } from './packed-document.ts'

/** A shared value is worth a slice of its own from this many characters on. */
const SHARE_FROM = 64

/** A longer one is rarely that of other documents. */
const LONGEST_BASE = 1024

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
  const writer = createWriter(countUses(compiled))
  const versions = compiled.versions
    .filter((version) => version.isActive)
    .map((version): PackedVersion => ({
      name: version.name,
      basePath: version.basePath,
      ...(version.deprecation === undefined ? {} : { deprecation: version.deprecation }),
      poolSize: version.poolSize,
      languages: version.languages,
      ownStatusCodes: ownStatusCodes(version.statusCodes),
      security: version.security,
      schemes: version.schemes,
      endpoints: version.endpoints,
      paths: version.paths.map((path) => packPath(path, writer)),
    }))
  const shared = writer.finishShared()
  return {
    id: compiled.id,
    realmUri: compiled.realmUri,
    ...(options.resource !== undefined && { resource: options.resource }),
    ...(options.confinedTo !== undefined && { confinedTo: options.confinedTo }),
    ...(options.credentials !== undefined && { credentials: options.credentials }),
    rank: options.rank,
    since: options.since,
    hosts: compiled.hosts,
    versions,
    base: writer.base(),
    content: compact(writer.texts.join('')),
    shared,
  }
}

const ownStatusCodes = (codes: StatusCodes): StatusCodes =>
  codes === STATUS_CODES
    ? {}
    : Object.fromEntries(
        Object.entries(codes).filter(
          ([uri, status]) => !Object.hasOwn(STATUS_CODES, uri) || STATUS_CODES[uri] !== status,
        ),
      )

/** The process that workers of a cluster have their documents from keeps them packed. */
const sharePatterns = createPatternShare()

const packPath = (path: CompiledPath, writer: Writer): PackedPath => {
  const operations: Partial<Record<Method, Slice>> = {}
  for (const method of METHODS) {
    const operation = path.operations[method]
    if (operation !== undefined) operations[method] = writer.operation(operation)
  }
  return {
    ...sharePatterns(path),
    schemes: path.schemes,
    headers: writer.template(path.headers),
    operations,
  }
}

interface Writer {
  /** What was written, in order. */
  readonly texts: readonly string[]
  operation(operation: CompiledOperation): Slice
  template(template: Template): Slice
  /** Of the first operation; empty: it is long. */
  base(): string
  /** Slices of what more than one place holds. */
  finishShared(): readonly Slice[]
}

const createWriter = (uses: Uses): Writer => {
  const texts: string[] = []
  const shared: string[] = []
  const indices = new Map<object | string, number | undefined>()
  /** By text. */
  const bases = new Map<string, number>()
  let first: string | undefined
  let offset = 0

  const append = (text: string): Slice => {
    const slice: Slice = [offset, Buffer.byteLength(text)]
    texts.push(text)
    offset += slice[1]
    return slice
  }
  const share = (template: Template): number | undefined => {
    const identity = identityOf(template)
    if (identity === undefined || (uses.get(identity) ?? 0) < 2) return undefined
    if (!indices.has(identity)) {
      const text = JSON.stringify(encodeParts(template, share))
      indices.set(identity, text.length < SHARE_FROM ? undefined : shared.push(text) - 1)
    }
    return indices.get(identity)
  }
  const encode = (template: Template): Encoded => encodeTemplate(template, share)
  /** undefined: the base of the first operation. */
  const indexOf = (base: string): number | undefined => {
    first ??= base.length <= LONGEST_BASE ? base : ''
    if (base === first) return undefined
    const index = bases.get(base) ?? shared.push(base) - 1
    bases.set(base, index)
    return index
  }
  return {
    texts,
    operation: (operation) => {
      const { base, own } = split(operation, encode)
      const index = indexOf(JSON.stringify(base))
      const packed: PackedOperation = index === undefined ? own : { base: index, ...own }
      return append(JSON.stringify(packed))
    },
    base: () => first ?? '',
    template: (template) => append(JSON.stringify(encode(template))),
    finishShared: () => shared.map(append),
  }
}

/** How often each template, or constant value, is held anywhere in the document. */
type Uses = ReadonlyMap<object | string, number>

/**
 * What makes two templates one: the node, or the map, list or text that a constant holds (a fresh wrapper is no
 * other thing: a variable of 200 KB in 600 operations would take 120 MB). undefined: too small to be shared.
 */
const identityOf = (template: Template): object | string | undefined => {
  if (template.kind === 'read') return undefined
  if (template.kind !== 'constant') return template
  const { value } = template
  if (typeof value === 'object' && value !== null) return value
  return typeof value === 'string' && value.length >= SHARE_FROM ? value : undefined
}

const countUses = (compiled: CompiledApi): Uses => {
  const uses = new Map<object | string, number>()
  const visit = (template: Template): Template => {
    const identity = identityOf(template)
    if (identity === undefined) return template
    const seen = uses.get(identity) ?? 0
    uses.set(identity, seen + 1)
    // What has been seen is counted once more as a whole; its parts are not.
    if (seen > 0 || template.kind === 'constant' || template.kind === 'read') return template
    for (const part of childrenOf(template)) if (part.kind !== 'piped') visit(part)
    return template
  }
  for (const version of compiled.versions)
    for (const path of version.paths) {
      visit(path.headers)
      for (const operation of Object.values(path.operations)) mapTemplates(operation, visit)
    }
  return uses
}
