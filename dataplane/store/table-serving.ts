// Builds the route table from packed documents: the next table is built beside the current one and swapped by one
// reference. Every serving process has one.

import { internData } from '../../base/intern.ts'
import { levelParts } from '../../language/compile/level-part.ts'
import type { CompiledSecurity } from '../../language/compile/security.ts'
import { VERSION_PARTS } from '../../language/compile/version-parts.ts'
import type {
  CompiledOperation,
  PathParts,
  StatusCodes,
  UnmatchedParts,
} from '../../language/compile/compiled.ts'
import type { Method, ServedScheme } from '../../language/document.ts'
import { endpointRoutes } from '../../language/compile/endpoint-routes.ts'
import { STATUS_CODES } from '../../language/compile/status-codes.ts'
import { mountPath, type PathPattern, webSocketPath } from '../../language/routes/path-pattern.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { Route, RouteSet } from '../../language/router/route.ts'
import { edit, emptyTable, type RouteTable } from '../../language/router/route-table.ts'
import type {
  OperationSlot,
  ServedEndpoint,
  ServedPath,
  ServedTarget,
  ServedVersion,
  MountedVersion,
} from '../served.ts'
import type {
  PackedDocument,
  PackedPath,
  PackedVersion,
  UnpackedPath,
} from './packed/packed-document.ts'
import type { Serving } from './serving.ts'
import { createPathInterner, type PathShape } from './packed/intern-path.ts'
import { Unpacker } from './packed/unpack.ts'

export interface TableServing<P> extends Serving {
  /** The current table; a request keeps using the one that it started with. */
  table(): RouteTable<ServedTarget<P>, MountedVersion>
  /** Whether the operator that owns this gateway has ever sent what is served, before a restart included. */
  hasCompleteContent(): boolean
}

export interface RealmSink {
  put(realm: RealmRecord): void
  delete(uri: string): void
}

/** How many documents are added before waiting requests may run. */
const DOCUMENTS_PER_TURN = 16

/** `yieldTurn` lets waiting requests run; with many documents in one change it is called in between. */
export const createTableServing = <P>(
  realms: RealmSink,
  yieldTurn: () => Promise<void>,
): TableServing<P> => {
  let table = emptyTable<ServedTarget<P>, MountedVersion>()
  let hasCompleteContent = false
  return {
    table: () => table,
    hasCompleteContent: () => hasCompleteContent,
    apply: async (change) => {
      const editor = edit(table)
      for (const id of change.remove) editor.remove(id)
      for (const [index, document] of change.put.entries()) {
        if (index > 0 && index % DOCUMENTS_PER_TURN === 0) await yieldTurn()
        editor.put(routesOf(document))
      }
      const next = editor.done()
      for (const realm of change.realms.put) realms.put(realm)
      table = next
      if (change.isComplete === true) hasCompleteContent = true
      for (const uri of change.realms.delete) realms.delete(uri)
    },
  }
}

const routesOf = <P>(document: PackedDocument): RouteSet<ServedTarget<P>, MountedVersion> => {
  const { id, rank, since, hosts, versions } = document
  const unpacker = new Unpacker(document)
  let index = 0
  const routes: Route<ServedTarget<P>>[] = []
  const webSockets: TableWebSocket[] = []
  for (const [number, packed] of versions.entries()) {
    const loadParts = (): UnmatchedParts => unpacker.unmatched(number)
    const version: ServedVersion = {
      ...toServedVersion(document, packed),
      ...(packed.wordsUnmatched === true && { loadParts }),
    }
    for (const path of packed.paths)
      routes.push(
        new TablePath<P>(path, { shape: internPath(path), version, unpacker, index: index++ }),
      )
    routes.push(...endpointsBelow(packed, version))
    webSockets.push(new TableWebSocket(packed, version))
  }
  // Lists that grew have room for 17: 250 bytes a document.
  return { id, rank, since, hosts, routes: routes.slice(), webSockets: webSockets.slice() }
}

const internPath = createPathInterner()

const endpointsBelow = (
  { basePath, endpoints, schemes }: PackedVersion,
  version: ServedVersion,
): readonly Route<ServedEndpoint>[] =>
  endpointRoutes(endpoints).map((route) => {
    const { template, patterns } = internPath(mountPath(basePath, route.path))
    return {
      patterns,
      target: { kind: 'endpoint', version, template, schemes: internData(schemes), route },
    }
  })

const toServedVersion = (document: PackedDocument, packed: PackedVersion): ServedVersion => ({
  ...levelParts(VERSION_PARTS, {
    ...packed,
    languages: internData(packed.languages),
    statusCodes: mergeStatusCodes(packed.ownStatusCodes),
  }),
  apiId: document.id,
  digest: document.digest,
  name: packed.name,
  basePath: packed.basePath,
  realmUri: document.realmUri,
  resource: document.resource,
  confinedTo: document.confinedTo,
  credentials: document.credentials ?? (document.rank === 0 ? undefined : 'any'),
})

/** Documents without codes of their own share one table. */
const mergeStatusCodes = (own: StatusCodes): StatusCodes =>
  Object.keys(own).length === 0 ? STATUS_CODES : { ...STATUS_CODES, ...own }

const PATH = 'path'

interface PathPlace {
  readonly shape: PathShape
  readonly version: ServedVersion
  readonly unpacker: Unpacker
  /** The index of its content in the document. */
  readonly index: number
}

/**
 * A route that is its own target, so that there is not one more object for each path. What stands on the prototype takes
 * no memory, and is lost where the target is spread.
 */
abstract class TableRoute {
  readonly version: ServedVersion
  readonly shape: PathShape
  readonly schemes: readonly ServedScheme[]

  constructor(version: ServedVersion, shape: PathShape, schemes: readonly ServedScheme[]) {
    this.version = version
    this.shape = shape
    this.schemes = internData(schemes)
  }

  get template(): string {
    return this.shape.template
  }

  get patterns(): readonly PathPattern[] {
    return this.shape.patterns
  }

  get target(): this {
    return this
  }
}

class TableWebSocket extends TableRoute implements MountedVersion, Route<MountedVersion> {
  readonly security: CompiledSecurity | undefined

  constructor({ basePath, schemes, security }: PackedVersion, version: ServedVersion) {
    super(version, internPath(webSocketPath(basePath)), schemes)
    this.security = security && internData(security)
  }
}

/**
 * Classes, not literals with closures: a document has twenty of each, and only the bytes of the packed path may be
 * retained. Measured: 22 KB a document.
 */
class TablePath<P> extends TableRoute implements ServedPath<P>, Route<ServedPath<P>> {
  readonly operations: Readonly<Partial<Record<Method, OperationSlot<P>>>>
  readonly #unpacker: Unpacker
  readonly #index: number

  constructor({ schemes, methods }: PackedPath, { shape, version, unpacker, index }: PathPlace) {
    super(version, shape, schemes)
    this.#unpacker = unpacker
    this.#index = index
    const operations: Partial<Record<Method, OperationSlot<P>>> = {}
    for (const method of methods) operations[method] = new TableSlot(method, this)
    this.operations = operations
  }

  get kind(): 'path' {
    return PATH
  }

  unpack(): UnpackedPath {
    return this.#unpacker.path(this.#index)
  }

  loadParts(): PathParts {
    return this.unpack()
  }
}

class TableSlot<P> implements OperationSlot<P> {
  readonly method: Method
  readonly path: TablePath<P>
  prepared: P | undefined = undefined
  isRecent = false

  constructor(method: Method, path: TablePath<P>) {
    this.method = method
    this.path = path
  }

  load(): CompiledOperation {
    const operation = this.path.unpack().operations[this.method]
    if (operation === undefined)
      throw new Error(`${this.path.template}: no ${this.method} is packed`)
    return operation
  }
}
