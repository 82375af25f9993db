// What one data plane holds, as far as the operator knows: read from its state, carried on by the answers
// to sync calls. Believes nothing else.

import { type HeldEntry, rootDigest } from '../../spec/digest.ts'
import type { StateView, SyncItem, SyncReply } from '../../spec/wire.ts'
import type { HeldDocument, HeldRealm } from '../data-plane.ts'
import { changedKeys, edited } from '../edited-map.ts'
import { Comparison } from './comparison.ts'
import { HeldEntries } from './held-entries.ts'
import type { Keys, Selection } from './selection.ts'

export interface HeldContents {
  /** By id. */
  readonly documents: ReadonlyMap<string, HeldDocument>
  /** By uri. */
  readonly realms: ReadonlyMap<string, HeldRealm>
}

interface HeldMemory {
  readonly before?: Held | undefined
  readonly entries?: HeldEntries
}

export class Held {
  readonly bootId: string
  readonly gatewayVersion: string | undefined
  readonly manager: string | null
  readonly epoch: number
  /** Grows with every change of what is believed. */
  revision = 0
  /** Of its last answer: what the next difference is made on. */
  rootDigest: string
  #complete: boolean
  /** Ours only. */
  readonly #documents: ChangingMap<HeldDocument>
  readonly #realms: ChangingMap<HeldRealm>
  readonly #comparison = new Comparison()

  readonly #entries: HeldEntries

  /**
   * @param before what was known: entries that have not changed stay the same objects
   * @param entries shared by all data planes
   */
  constructor(
    state: StateView,
    manager: string,
    { before, entries = new HeldEntries() }: HeldMemory = {},
  ) {
    this.#entries = entries
    this.bootId = state.bootId
    this.gatewayVersion = state.gatewayVersion
    this.manager = state.manager
    this.epoch = state.epoch
    this.rootDigest = state.rootDigest
    this.#complete = state.complete
    this.#documents = new ChangingMap(
      documentsIn(state, manager, { before, entries }),
      before?.documents,
    )
    this.#realms = new ChangingMap(realmsIn(state, manager), before?.realms)
  }

  get documents(): ReadonlyMap<string, HeldDocument> {
    return this.#documents.current
  }

  get realms(): ReadonlyMap<string, HeldRealm> {
    return this.#realms.current
  }

  get complete(): boolean {
    return this.#complete
  }

  get size(): number {
    return this.documents.size + this.realms.size
  }

  /** @param digest that was sent with a put */
  apply({ kind, id, result, warnings }: SyncItem, digest: string | undefined): void {
    if (result === 'rejected') return
    if (result === 'deleted') this.remove(kind, id)
    else if (digest !== undefined) this.#put({ kind, id, digest, warnings })
  }

  /** What it holds now, for whoever keeps it: stays as it is. */
  snapshot(): HeldContents {
    return { documents: this.documents, realms: this.realms }
  }

  remove(kind: SyncItem['kind'], id: string): void {
    const entries = kind === 'spec' ? this.#documents : this.#realms
    entries.delete(id)
    this.#changed(kind, id)
  }

  /** It has called itself complete. */
  completed({ rootDigest }: SyncReply): void {
    this.#complete = true
    this.rootDigest = rootDigest
    this.revision += 1
  }

  /** Where it holds something else of ours, less or more. Costs what has changed since it was asked last. */
  differing(selection: Selection): Keys {
    return this.#comparison.keys(selection, this)
  }

  /** It holds this and nothing else of ours. */
  matches(selection: Selection): boolean {
    const { documents, realms } = this.differing(selection)
    return documents.size + realms.size === 0
  }

  /** What the data plane must say when it holds what we think it holds. */
  expectedRootDigest(selection: Selection): string {
    if (this.matches(selection)) return selection.rootDigest()
    const entries: HeldEntry[] = []
    for (const [key, { digest }] of this.realms) entries.push({ kind: 'realm', key, digest })
    for (const [key, { digest }] of this.documents) entries.push({ kind: 'spec', key, digest })
    return rootDigest(entries)
  }

  #put({ kind, id, digest, warnings }: Omit<SyncItem, 'result' | 'errors'> & Digest): void {
    if (kind === 'spec') this.#documents.set(id, this.#entries.of(id, { digest, warnings }))
    else this.#realms.set(id, { digest, sessions: this.realms.get(id)?.sessions ?? [] })
    this.#changed(kind, id)
  }

  #changed(kind: SyncItem['kind'], id: string): void {
    this.#comparison.touch(kind, id)
    this.revision += 1
  }
}

const documentsIn = (
  { specs }: StateView,
  manager: string,
  { before, entries }: Required<HeldMemory>,
): ReadonlyMap<string, HeldDocument> => {
  const documents = new Map<string, HeldDocument>()
  for (const [id, { digest, managedBy, warnings }] of Object.entries(specs)) {
    if (managedBy !== manager) continue
    const known = before?.documents.get(id)
    const isSame = known?.digest === digest && known.warnings.length + warnings.length === 0
    documents.set(id, isSame ? known : entries.of(id, { digest, warnings }))
  }
  return documents
}

const realmsIn = ({ realms }: StateView, manager: string): ReadonlyMap<string, HeldRealm> => {
  const ours = new Map<string, HeldRealm>()
  for (const [uri, { digest, managedBy, sessions }] of Object.entries(realms)) {
    if (managedBy === manager) ours.set(uri, { digest, sessions })
  }
  return ours
}

/** Handed out again and again, and changed between: what was handed out stays as it is. */
class ChangingMap<T extends object> {
  #map: ReadonlyMap<string, T>
  /** Since it was handed out last. */
  #edits = new Map<string, T | undefined>()

  /** @param before made of it, where there is one: most of it is the same */
  constructor(entries: ReadonlyMap<string, T>, before: ReadonlyMap<string, T> = entries) {
    const edits = Array.from(
      changedKeys(before, entries),
      (key) => [key, entries.get(key)] as const,
    )
    this.#map = edited(before, new Map(edits))
  }

  get current(): ReadonlyMap<string, T> {
    if (this.#edits.size > 0) {
      this.#map = edited(this.#map, this.#edits)
      this.#edits = new Map()
    }
    return this.#map
  }

  set(key: string, value: T): void {
    this.#edits.set(key, value)
  }

  delete(key: string): void {
    this.#edits.set(key, undefined)
  }
}

interface Digest {
  readonly digest: string
}
