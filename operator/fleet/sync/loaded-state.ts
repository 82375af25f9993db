// Keeps what one data plane has loaded, as far as the operator knows: it is read from the state view, and updated only by
// responses to sync calls.

import type {
  SpecState,
  StateView,
  SyncItem,
  SyncReply,
  UpstreamProblem,
} from '../../../language/wire/wire.ts'
import type { LoadedDocument, LoadedRealm } from '../../data-plane.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { edited, type Edits } from '../../edited-map.ts'
import { compare, type Comparison } from './comparison.ts'
import {
  type LoadedContents,
  loadedOf,
  NO_WARNINGS,
  NOTHING_LOADED,
  rootDigestOf,
  type ShareContents,
  withEdits,
} from './loaded-contents.ts'
import type { Selection } from './selection.ts'

interface Known {
  /** What was known: entries that have not changed stay the same objects. */
  readonly before?: LoadedState | undefined
  /** Documents that it may have. */
  readonly documents?: ReadonlyMap<string, DesiredDocument>
}

export class LoadedState {
  readonly bootId: string
  readonly gatewayVersion: string | undefined
  /** The problem of each document, by its id. */
  readonly upstreams: ReadonlyMap<string, UpstreamProblem>
  readonly manager: string | null
  readonly epoch: number
  /** Grows with every change. */
  revision = 0
  /** From its last response: the next difference is based on it. */
  rootDigest: string
  #complete: boolean
  /** Only those of this operator. */
  #realms: ReadonlyMap<string, LoadedRealm>
  #contents: LoadedContents
  /** What `#contents` does not have yet. */
  #edits: PendingEdits = noEdits()
  /** Documents with warnings. */
  readonly #warned: Map<string, LoadedDocument>

  constructor(state: StateView, manager: string, { before, documents = NONE }: Known = {}) {
    this.bootId = state.bootId
    this.gatewayVersion = state.gatewayVersion
    this.upstreams =
      state.upstreams === undefined ? NONE_UNHEALTHY : new Map(Object.entries(state.upstreams))
    this.manager = state.manager
    this.epoch = state.epoch
    this.rootDigest = state.rootDigest
    this.#complete = state.complete
    this.#realms = realmsIn(state, manager)
    const specs = specsIn(state, manager)
    this.#warned = new Map(
      [...specs].flatMap(([id, spec]) => (spec.warnings.length > 0 ? [[id, loadedAs(spec)]] : [])),
    )
    const contents = before?.contents ?? NOTHING_LOADED
    this.#contents = withEdits(contents, {
      documents: documentEdits(specs, contents.documents, documents),
      realms: digestEdits(this.#realms, contents.realms),
    })
  }

  get contents(): LoadedContents {
    const { documents, realms } = this.#edits
    if (documents.size + realms.size > 0) {
      this.#contents = withEdits(this.#contents, this.#edits)
      this.#edits = noEdits()
    }
    return this.#contents
  }

  /** Without their warnings. */
  get documents(): ReadonlyMap<string, LoadedDocument> {
    return this.contents.documents
  }

  get realms(): ReadonlyMap<string, LoadedRealm> {
    return this.#realms
  }

  get complete(): boolean {
    return this.#complete
  }

  get size(): number {
    return this.documents.size + this.realms.size
  }

  putDocument({ result, warnings }: ItemResult, document: DesiredDocument): void {
    if (result === 'rejected') return
    const loaded = loadedOf(document)
    this.#edits.documents.set(document.id, loaded)
    if (warnings.length > 0) this.#warned.set(document.id, { ...loaded, warnings })
    else this.#warned.delete(document.id)
    this.revision += 1
  }

  putRealm({ result }: ItemResult, uri: string, digest: string): void {
    if (result === 'rejected') return
    const realm = { sessions: [], ...this.#realms.get(uri), digest }
    this.#realms = edited(this.#realms, new Map([[uri, realm]]))
    this.#edits.realms.set(uri, digest)
    this.revision += 1
  }

  remove(kind: SyncItem['kind'], key: string): void {
    if (kind === 'realm') {
      this.#realms = edited(this.#realms, new Map([[key, undefined]]))
      this.#edits.realms.set(key, undefined)
    } else {
      this.#warned.delete(key)
      this.#edits.documents.set(key, undefined)
    }
    this.revision += 1
  }

  /** What it has loaded now. The maps never change, and are shared by all data planes that have loaded the same. */
  snapshot(): {
    readonly documents: ReadonlyMap<string, LoadedDocument>
    readonly realms: ReadonlyMap<string, LoadedRealm>
  } {
    return { documents: edited(this.documents, this.#warned), realms: this.realms }
  }

  /** Call it when the data plane has accepted a sync call with `complete`. */
  completed({ rootDigest }: SyncReply): void {
    this.#complete = true
    this.rootDigest = rootDigest
    this.revision += 1
  }

  /** What it lacks or has loaded otherwise. */
  differing(selection: Selection): Comparison {
    return compare(this.contents, selection)
  }

  /** Whether it has loaded exactly this selection. */
  matches(selection: Selection): boolean {
    const { documents, realms } = this.differing(selection)
    return documents.size + realms.size === 0
  }

  /** What the data plane must report if it has loaded what we assume. */
  expectedRootDigest(selection: Selection): string {
    return this.matches(selection) ? selection.rootDigest() : rootDigestOf(this.contents)
  }

  /** Call it after a round: goes on from the contents of those that have loaded the same. */
  shareContents(share: ShareContents, selection: Selection): void {
    const { unknown } = this.differing(selection)
    for (const id of unknown) {
      const document = selection.documents.get(id)
      if (document !== undefined) this.#edits.documents.set(id, loadedOf(document))
    }
    this.#contents = share(this.contents, this.expectedRootDigest(selection))
  }
}

type ItemResult = Pick<SyncItem, 'result' | 'warnings'>

interface PendingEdits {
  readonly documents: Map<string, LoadedDocument | undefined>
  readonly realms: Map<string, string | undefined>
}

const noEdits = (): PendingEdits => ({ documents: new Map(), realms: new Map() })

const NONE: ReadonlyMap<string, DesiredDocument> = new Map()

const NONE_UNHEALTHY: ReadonlyMap<string, UpstreamProblem> = new Map()

type Specs = ReadonlyMap<string, SpecState>

const specsIn = ({ specs }: StateView, manager: string): Specs =>
  new Map(Object.entries(specs).filter(([, { managedBy }]) => managedBy === manager))

const realmsIn = ({ realms }: StateView, manager: string): ReadonlyMap<string, LoadedRealm> => {
  const ours = new Map<string, LoadedRealm>()
  for (const [uri, { managedBy, ...loaded }] of Object.entries(realms)) {
    if (managedBy === manager) ours.set(uri, loaded)
  }
  return ours
}

/** Where the documents differ from what was known. */
const documentEdits = (
  specs: Specs,
  known: LoadedContents['documents'],
  desired: ReadonlyMap<string, DesiredDocument>,
): Edits<LoadedDocument> => {
  const edits = new Map<string, LoadedDocument | undefined>()
  for (const [id, spec] of specs) {
    if (isOf(spec, known.get(id))) continue
    const document = desired.get(id)
    edits.set(
      id,
      document && isOf(spec, document)
        ? loadedOf(document)
        : { ...loadedAs(spec), warnings: NO_WARNINGS },
    )
  }
  for (const id of known.keys()) if (!specs.has(id)) edits.set(id, undefined)
  return edits
}

/** Older data planes do not name a resource. */
const isOf = (
  { digest, resource }: SpecState,
  known: Pick<LoadedDocument, 'digest' | 'resource'> | undefined,
): boolean => known?.digest === digest && (resource === undefined || known.resource === resource)

const loadedAs = ({ digest, resource, warnings }: SpecState): LoadedDocument => ({
  digest,
  resource,
  warnings,
})

const digestEdits = (
  realms: ReadonlyMap<string, LoadedRealm>,
  known: LoadedContents['realms'],
): Edits<string> => {
  const edits = new Map<string, string | undefined>()
  for (const [uri, { digest }] of realms) if (known.get(uri) !== digest) edits.set(uri, digest)
  for (const uri of known.keys()) if (!realms.has(uri)) edits.set(uri, undefined)
  return edits
}
