// Keeps what one data plane has loaded, as far as the operator knows: it is read from the state view, and updated only by
// responses to sync calls.

import { type LoadedEntry, rootDigest } from '../../../language/wire/digest.ts'
import type {
  SpecState,
  StateView,
  SyncItem,
  SyncReply,
  UpstreamTrouble,
} from '../../../language/wire/wire.ts'
import type { LoadedDocument, LoadedRealm } from '../../data-plane.ts'
import type { Edits } from '../../edited-map.ts'
import { Comparison } from './comparison.ts'
import { SharedEntries } from './shared-entries.ts'
import { SharedMap } from './shared-map.ts'
import type { Keys, Selection } from './selection.ts'

export interface LoadedContents {
  /** By id. */
  readonly documents: ReadonlyMap<string, LoadedDocument>
  /** By uri. */
  readonly realms: ReadonlyMap<string, LoadedRealm>
}

interface LoadedStateOptions {
  readonly before?: LoadedState | undefined
  readonly entries?: SharedEntries
}

export class LoadedState {
  readonly bootId: string
  readonly gatewayVersion: string | undefined
  /** By id of the document. */
  readonly upstreams: ReadonlyMap<string, UpstreamTrouble>
  readonly manager: string | null
  readonly epoch: number
  /** Grows with every change. */
  revision = 0
  /** From its last response: the next difference is based on it. */
  rootDigest: string
  #complete: boolean
  /** Only those of this operator. */
  readonly #documents: SharedMap<LoadedDocument>
  readonly #realms: SharedMap<LoadedRealm>
  /** Ids of documents with warnings. */
  readonly #warned: Set<string>
  readonly #comparison: Comparison
  readonly #entries: SharedEntries

  /**
   * @param before what was known: entries that have not changed stay the same objects
   * @param entries shared by all data planes
   */
  constructor(
    state: StateView,
    manager: string,
    { before, entries = new SharedEntries() }: LoadedStateOptions = {},
  ) {
    this.#entries = entries
    this.bootId = state.bootId
    this.gatewayVersion = state.gatewayVersion
    this.upstreams =
      state.upstreams === undefined ? NO_TROUBLES : new Map(Object.entries(state.upstreams))
    this.manager = state.manager
    this.epoch = state.epoch
    this.rootDigest = state.rootDigest
    this.#complete = state.complete
    const edits = documentsIn(state, manager, { before, entries })
    this.#warned = new Set(before === undefined ? [] : before.#warned)
    for (const [id, document] of edits) this.#recordWarnings(id, document)
    const { steps } = entries
    this.#documents = new SharedMap(steps.edited(before?.documents ?? NONE, edits), steps)
    this.#realms = new SharedMap(realmsIn(state, manager))
    // Realms are few, and their sessions differ in every report.
    const uris = [...(before?.realms.keys() ?? []), ...this.realms.keys()]
    const touched = { documents: edits.keys(), realms: uris }
    this.#comparison =
      before === undefined ? Comparison.begin() : before.#comparison.goingOn(touched)
  }

  get documents(): ReadonlyMap<string, LoadedDocument> {
    return this.#documents.handOut()
  }

  get realms(): ReadonlyMap<string, LoadedRealm> {
    return this.#realms.handOut()
  }

  get complete(): boolean {
    return this.#complete
  }

  get size(): number {
    return this.documents.size + this.realms.size
  }

  /** @param put the entry that was sent */
  apply({ kind, id, result, warnings }: SyncItem, put: Put | undefined): void {
    if (result === 'rejected') return
    if (result === 'deleted') this.remove(kind, id)
    else if (put !== undefined) this.#put({ kind, id, warnings }, put)
  }

  /** What it has loaded now. The maps never change, and are shared by all data planes that have loaded the same. */
  snapshot(): LoadedContents {
    const { last } = this.#comparison
    if (last !== undefined) {
      this.#documents.shareWith(last.selection.loaded, [last.keys.documents, this.#warned])
    }
    return { documents: this.#documents.handOut(), realms: this.#realms.handOut() }
  }

  /**
   * Call it after each batch, so that 100 data planes that are sent the same 50 batches share one map after each of them
   * instead of having 100 maps of what has changed since the first.
   */
  shareWithOthers(selection: Selection): void {
    this.#documents.handOut()
    this.differing(selection)
  }

  remove(kind: SyncItem['kind'], id: string): void {
    if (kind === 'realm') this.#realms.put(id, undefined)
    else this.#putDocument(id, undefined)
    this.#changed(kind, id)
  }

  /** Call it when the data plane has accepted a sync call with `complete`. */
  completed({ rootDigest }: SyncReply): void {
    this.#complete = true
    this.rootDigest = rootDigest
    this.revision += 1
  }

  /** What it lacks or has loaded otherwise. Takes time in proportion to what has changed since the last call. */
  differing(selection: Selection): Keys {
    return this.#comparison.keys(selection, { documents: this.#documents, realms: this.#realms })
  }

  /** Whether it has loaded exactly this selection. */
  matches(selection: Selection): boolean {
    const { documents, realms } = this.differing(selection)
    return documents.size + realms.size === 0
  }

  /** What the data plane must report if it has loaded what we assume. */
  expectedRootDigest(selection: Selection): string {
    if (this.matches(selection)) return selection.rootDigest()
    const entries: LoadedEntry[] = []
    for (const [key, { digest }] of this.realms) entries.push({ kind: 'realm', key, digest })
    for (const [key, { digest }] of this.documents) entries.push({ kind: 'spec', key, digest })
    return rootDigest(entries)
  }

  #put(
    { kind, id, warnings }: Omit<SyncItem, 'result' | 'errors'>,
    { digest, resource }: Put,
  ): void {
    if (kind === 'spec') this.#putDocument(id, this.#entries.of(id, { digest, resource, warnings }))
    else this.#realms.put(id, { sessions: [], ...this.#realms.get(id), digest })
    this.#changed(kind, id)
  }

  #putDocument(id: string, document: LoadedDocument | undefined): void {
    this.#documents.put(id, document)
    this.#recordWarnings(id, document)
  }

  #recordWarnings(id: string, document: LoadedDocument | undefined): void {
    if (document === undefined || document.warnings.length === 0) this.#warned.delete(id)
    else this.#warned.add(id)
  }

  #changed(kind: SyncItem['kind'], id: string): void {
    this.#comparison.touch(kind, id)
    this.revision += 1
  }
}

const NONE: ReadonlyMap<string, LoadedDocument> = new Map()

const NO_TROUBLES: ReadonlyMap<string, UpstreamTrouble> = new Map()

/** The documents of `manager` that differ from what was known. */
const documentsIn = (
  { specs }: StateView,
  manager: string,
  { before, entries }: Required<LoadedStateOptions>,
): Edits<LoadedDocument> => {
  const known = before?.documents ?? NONE
  const edits = new Map<string, LoadedDocument | undefined>()
  const oursOf = (id: string): SpecState | undefined =>
    Object.hasOwn(specs, id) && specs[id]?.managedBy === manager ? specs[id] : undefined
  for (const id of Object.keys(specs)) {
    const spec = oursOf(id)
    if (spec !== undefined && !isSame(known.get(id), spec)) edits.set(id, entries.of(id, spec))
  }
  for (const id of known.keys()) if (oursOf(id) === undefined) edits.set(id, undefined)
  return edits
}

const isSame = (
  loaded: LoadedDocument | undefined,
  { digest, resource, warnings }: SpecState,
): boolean =>
  loaded?.digest === digest &&
  (resource === undefined || loaded.resource === resource) &&
  loaded.warnings.length + warnings.length === 0

const realmsIn = ({ realms }: StateView, manager: string): ReadonlyMap<string, LoadedRealm> => {
  const ours = new Map<string, LoadedRealm>()
  for (const [uri, { managedBy, ...loaded }] of Object.entries(realms)) {
    if (managedBy === manager) ours.set(uri, loaded)
  }
  return ours
}

type Put = Pick<LoadedDocument, 'digest' | 'resource'>
