// Packed documents in, the route table that requests are matched against out: the next table is built
// beside the current one and swapped by one reference. One of these in every serving process.

import type { CompiledOperation, StatusCodes } from '../../spec/compiled.ts'
import { type Method, METHODS, type Scheme } from '../../spec/document.ts'
import type { Template } from '../../spec/expression/template.ts'
import { STATUS_CODES } from '../../spec/status-codes.ts'
import type { PathPattern } from '../../spec/path-pattern.ts'
import type { RealmRecord } from '../../spec/realm-record.ts'
import type { Route } from '../router/route.ts'
import { edit, emptyTable, type RouteTable } from '../router/route-table.ts'
import type { OperationSlot, ServedPath, ServedVersion } from '../served.ts'
import type { PackedDocument, PackedPath, PackedVersion, Slice } from './packed-document.ts'
import type { Serving } from './serving.ts'
import { createUnpacker, type Unpacker } from './unpack.ts'

export interface TableServing<P> extends Serving {
  /** The table as of now: a request holds the one it started with. */
  table(): RouteTable<ServedPath<P>>
}

export interface RealmSink {
  put(realm: RealmRecord): void
  delete(uri: string): void
}

/** How many documents are placed between two looks at waiting requests. */
const DOCUMENTS_PER_TURN = 16

/** `yieldTurn` lets waiting requests run; with many documents in one change it is called in between. */
export const createTableServing = <P>(
  realms: RealmSink,
  yieldTurn: () => Promise<void>,
): TableServing<P> => {
  let table = emptyTable<ServedPath<P>>()
  return {
    table: () => table,
    apply: async (change) => {
      const editor = edit(table)
      for (const id of change.remove) editor.remove(id)
      for (const [index, document] of change.put.entries()) {
        if (index > 0 && index % DOCUMENTS_PER_TURN === 0) await yieldTurn()
        editor.put({
          id: document.id,
          rank: document.rank,
          since: document.since,
          hosts: document.hosts,
          routes: routesOf<P>(document),
        })
      }
      const next = editor.done()
      for (const realm of change.realms.put) realms.put(realm)
      table = next
      for (const uri of change.realms.delete) realms.delete(uri)
    },
  }
}

const routesOf = <P>(document: PackedDocument): readonly Route<ServedPath<P>>[] => {
  const unpacker = createUnpacker(document)
  return document.versions.flatMap((packed) => {
    const version = toServedVersion(document, packed)
    return packed.paths.map((path) => ({
      patterns: path.patterns.map(trim),
      target: new TablePath<P>(path, version, unpacker),
    }))
  })
}

/** Lists that grew element by element hold room for 17: copies hold what they need. Measured: 4 KB a document. */
const trim = ({ segments, bindings, tail, optional }: PathPattern): PathPattern => ({
  segments: segments.slice(),
  bindings: bindings.slice(),
  tail,
  optional,
})

const toServedVersion = (document: PackedDocument, packed: PackedVersion): ServedVersion => ({
  apiId: document.id,
  name: packed.name,
  realmUri: document.realmUri,
  deprecation: packed.deprecation,
  poolSize: packed.poolSize,
  languages: packed.languages,
  statusCodes: mergeStatusCodes(packed.ownStatusCodes),
})

/** Documents without codes of their own share one table. */
const mergeStatusCodes = (own: StatusCodes): StatusCodes =>
  Object.keys(own).length === 0 ? STATUS_CODES : { ...STATUS_CODES, ...own }

const BOTH_SCHEMES: readonly Scheme[] = ['http', 'https']

/**
 * Classes, not literals with closures: there are twenty of each for a document, and nothing of the packed
 * path but its bytes may be kept alive. Measured: 22 KB a document.
 */
class TablePath<P> implements ServedPath<P> {
  readonly version: ServedVersion
  readonly template: string
  readonly schemes: readonly Scheme[]
  readonly operations: Readonly<Partial<Record<Method, OperationSlot<P>>>>
  readonly unpacker: Unpacker
  readonly #headersOffset: number
  readonly #headersLength: number

  constructor(packed: PackedPath, version: ServedVersion, unpacker: Unpacker) {
    this.version = version
    this.template = packed.template
    this.schemes = packed.schemes.length === BOTH_SCHEMES.length ? BOTH_SCHEMES : packed.schemes
    this.unpacker = unpacker
    this.#headersOffset = packed.headers[0]
    this.#headersLength = packed.headers[1]
    const operations: Partial<Record<Method, OperationSlot<P>>> = {}
    for (const method of METHODS) {
      const slice = packed.operations[method]
      if (slice !== undefined) operations[method] = new TableSlot(method, this, slice)
    }
    this.operations = operations
  }

  loadHeaders(): Template {
    return this.unpacker.template([this.#headersOffset, this.#headersLength])
  }
}

class TableSlot<P> implements OperationSlot<P> {
  readonly method: Method
  readonly path: TablePath<P>
  readonly #offset: number
  readonly #length: number
  prepared: P | undefined = undefined
  isRecent = false

  constructor(method: Method, path: TablePath<P>, at: Slice) {
    this.method = method
    this.path = path
    this.#offset = at[0]
    this.#length = at[1]
  }

  load(): CompiledOperation {
    return this.path.unpacker.operation([this.#offset, this.#length])
  }
}
