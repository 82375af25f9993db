// What one data plane holds, as far as the operator knows: read from its state, carried on by the answers
// to sync calls. Believes nothing else.

import { type HeldEntry, rootDigest } from '../../spec/digest.ts'
import type { StateView, SyncItem, SyncReply } from '../../spec/wire.ts'
import type { HeldDocument, HeldRealm } from '../data-plane.ts'
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
  #documents = new Map<string, HeldDocument>()
  #realms = new Map<string, HeldRealm>()
  /** Both were handed out: they are copied before they are changed. */
  #isHandedOut = false
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
    for (const [id, { digest, managedBy, warnings }] of Object.entries(state.specs)) {
      if (managedBy !== manager) continue
      const known = before?.documents.get(id)
      const isSame = known?.digest === digest && known.warnings.length + warnings.length === 0
      this.#documents.set(id, isSame ? known : entries.of(id, { digest, warnings }))
    }
    for (const [uri, { digest, managedBy, sessions }] of Object.entries(state.realms)) {
      if (managedBy === manager) this.#realms.set(uri, { digest, sessions })
    }
  }

  get documents(): ReadonlyMap<string, HeldDocument> {
    return this.#documents
  }

  get realms(): ReadonlyMap<string, HeldRealm> {
    return this.#realms
  }

  get complete(): boolean {
    return this.#complete
  }

  get size(): number {
    return this.#documents.size + this.#realms.size
  }

  /** @param digest that was sent with a put */
  apply({ kind, id, result, warnings }: SyncItem, digest: string | undefined): void {
    if (result === 'rejected') return
    if (result === 'deleted') this.remove(kind, id)
    else if (digest !== undefined) this.#put({ kind, id, digest, warnings })
  }

  /** What it holds now, for whoever keeps it: stays as it is. */
  snapshot(): HeldContents {
    this.#isHandedOut = true
    return { documents: this.#documents, realms: this.#realms }
  }

  remove(kind: SyncItem['kind'], id: string): void {
    this.#makeOwn()
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
    for (const [key, { digest }] of this.#realms) entries.push({ kind: 'realm', key, digest })
    for (const [key, { digest }] of this.#documents) entries.push({ kind: 'spec', key, digest })
    return rootDigest(entries)
  }

  #put({ kind, id, digest, warnings }: Omit<SyncItem, 'result' | 'errors'> & Digest): void {
    this.#makeOwn()
    if (kind === 'spec') this.#documents.set(id, this.#entries.of(id, { digest, warnings }))
    else this.#realms.set(id, { digest, sessions: this.#realms.get(id)?.sessions ?? [] })
    this.#changed(kind, id)
  }

  #makeOwn(): void {
    if (!this.#isHandedOut) return
    this.#documents = new Map(this.#documents)
    this.#realms = new Map(this.#realms)
    this.#isHandedOut = false
  }

  #changed(kind: SyncItem['kind'], id: string): void {
    this.#comparison.touch(kind, id)
    this.revision += 1
  }
}

interface Digest {
  readonly digest: string
}
