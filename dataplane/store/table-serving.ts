// Packed documents in, the route table that requests are matched against out: the next table is built
// beside the current one and swapped by one reference. One of these in every serving process.

import type { Method } from '../../spec/document.ts'
import { METHODS } from '../../spec/document.ts'
import type { StatusCodes } from '../../spec/compiled.ts'
import { STATUS_CODES } from '../../spec/status-codes.ts'
import type { RealmRecord } from '../../spec/realm-record.ts'
import type { Route } from '../router/route.ts'
import { edit, emptyTable, type RouteTable } from '../router/route-table.ts'
import type { OperationSlot, ServedPath, ServedVersion } from '../served.ts'
import type { PackedDocument, PackedPath, PackedVersion } from './packed-document.ts'
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
      patterns: path.patterns,
      methods: METHODS.filter((method) => path.operations[method] !== undefined),
      target: toServedPath<P>(path, version, unpacker),
    }))
  })
}

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

const toServedPath = <P>(
  packed: PackedPath,
  version: ServedVersion,
  unpacker: Unpacker,
): ServedPath<P> => {
  const operations: Partial<Record<Method, OperationSlot<P>>> = {}
  const path: ServedPath<P> = {
    version,
    template: packed.template,
    schemes: packed.schemes,
    operations,
    loadHeaders: () => unpacker.template(packed.headers),
  }
  for (const method of METHODS) {
    const slice = packed.operations[method]
    if (slice !== undefined)
      operations[method] = {
        method,
        path,
        load: () => unpacker.operation(slice),
        prepared: undefined,
        isRecent: false,
      }
  }
  return path
}
