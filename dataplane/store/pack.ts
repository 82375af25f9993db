// Compiled document in, packed document out: every operation becomes a slice of JSON text that is turned
// back into data, and then into closures, at its first use. Measured: a tenth of the heap of closures.
// Values that several operations share (a header map, a status table) are packed once.

import type {
  CompiledApi,
  CompiledOperation,
  CompiledPath,
  StatusCodes,
} from '../../spec/compiled.ts'
import { type Method, METHODS } from '../../spec/document.ts'
import type { Template } from '../../spec/expression/template.ts'
import { STATUS_CODES } from '../../spec/status-codes.ts'
import type { PackedDocument, PackedPath, PackedVersion, Slice } from './packed-document.ts'

/** A shared value is worth a slice of its own from this many characters on. */
const SHARE_FROM = 64

interface PackOptions {
  readonly since: number
  readonly rank: number
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
      endpoints: version.endpoints,
      paths: version.paths.map((path) => packPath(path, writer)),
    }))
  const shared = writer.finishShared()
  return {
    id: compiled.id,
    realmUri: compiled.realmUri,
    rank: options.rank,
    since: options.since,
    hosts: compiled.hosts,
    versions,
    bytes: Buffer.concat(writer.chunks),
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

const packPath = (path: CompiledPath, writer: Writer): PackedPath => {
  const operations: Partial<Record<Method, Slice>> = {}
  for (const method of METHODS) {
    const operation = path.operations[method]
    if (operation !== undefined) operations[method] = writer.write(operation)
  }
  return {
    template: path.template,
    patterns: path.patterns,
    schemes: path.schemes,
    headers: writer.write(path.headers),
    operations,
  }
}

/** `{"kind":"shared","index":n}` stands for the n-th shared slice: no template has that kind. */
export interface SharedReference {
  readonly kind: 'shared'
  readonly index: number
}

interface Writer {
  readonly chunks: Buffer[]
  write(value: CompiledOperation | Template): Slice
  /** Slices of the values that more than one place holds. */
  finishShared(): readonly Slice[]
}

const createWriter = (uses: ReadonlyMap<object, number>): Writer => {
  const chunks: Buffer[] = []
  const shared: string[] = []
  const indexOf = new Map<object, number | undefined>()
  let offset = 0

  const append = (text: string): Slice => {
    const chunk = Buffer.from(text)
    chunks.push(chunk)
    const slice: Slice = [offset, chunk.length]
    offset += chunk.length
    return slice
  }
  const toReference = (node: object): string | undefined => {
    if ((uses.get(identityOf(node)) ?? 0) < 2) return undefined
    const identity = identityOf(node)
    if (!indexOf.has(identity)) {
      const text = encode(node, toReference, true)
      indexOf.set(identity, text.length < SHARE_FROM ? undefined : shared.push(text) - 1)
    }
    const index = indexOf.get(identity)
    return index === undefined ? undefined : `{"kind":"shared","index":${index}}`
  }
  return {
    chunks,
    write: (value) => append(encode(value, toReference, false)),
    finishShared: () => shared.map(append),
  }
}

/** A constant is known by its value: fresh wrappers of one map are one thing. */
const identityOf = (node: object): object => {
  const value: unknown =
    'kind' in node && node.kind === 'constant' && 'value' in node ? node.value : node
  return typeof value === 'object' && value !== null ? value : node
}

type ToReference = (node: object) => string | undefined

/** JSON text of a node; what is shared goes by reference, but for the node itself when `isDefinition`. */
const encode = (node: unknown, toReference: ToReference, isDefinition: boolean): string => {
  if (typeof node !== 'object' || node === null) return JSON.stringify(node)
  const reference = isDefinition || !isTemplateLike(node) ? undefined : toReference(node)
  if (reference !== undefined) return reference
  // Values of a document are data: nothing in them is looked into.
  if (isTemplateLike(node) && node.kind === 'constant') return JSON.stringify(node)
  if (Array.isArray(node))
    return `[${node.map((item) => encode(item, toReference, false)).join(',')}]`
  const members = Object.entries(node)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}:${encode(value, toReference, false)}`)
  return `{${members.join(',')}}`
}

const isTemplateLike = (node: object): node is Template =>
  'kind' in node && typeof node.kind === 'string'

/** How often each template, or constant value, is held anywhere in the document. */
const countUses = (compiled: CompiledApi): ReadonlyMap<object, number> => {
  const uses = new Map<object, number>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (isTemplateLike(node)) {
      const identity = identityOf(node)
      const seen = uses.get(identity) ?? 0
      uses.set(identity, seen + 1)
      // What has been seen is counted once more as a whole; its parts are not.
      if (seen > 0 || node.kind === 'constant') return
    }
    for (const child of Array.isArray(node) ? node : Object.values(node)) visit(child)
  }
  for (const version of compiled.versions)
    for (const path of version.paths) {
      visit(path.headers)
      visit(path.operations)
    }
  return uses
}
