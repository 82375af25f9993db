// What one data plane holds, as far as the operator knows: read from its state, carried on by the answers
// to sync calls. Believes nothing else.

import { type HeldEntry, rootDigest } from '../../spec/digest.ts'
import type { StateView, SyncItem, SyncReply } from '../../spec/wire.ts'
import type { HeldDocument, HeldRealm } from '../data-plane.ts'
import type { Selection } from './selection.ts'

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
  readonly #documents = new Map<string, HeldDocument>()
  readonly #realms = new Map<string, HeldRealm>()
  /** What it was last found to hold, nothing less and nothing more. */
  #matched: Selection | undefined

  /** @param before what was known: entries that have not changed stay the same objects */
  constructor(state: StateView, manager: string, before?: Held) {
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
      this.#documents.set(id, isSame ? known : { digest, warnings })
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

  remove(kind: SyncItem['kind'], id: string): void {
    const entries = kind === 'spec' ? this.#documents : this.#realms
    entries.delete(id)
    this.#changed()
  }

  /** It has called itself complete. */
  completed({ rootDigest }: SyncReply): void {
    this.#complete = true
    this.rootDigest = rootDigest
    this.revision += 1
  }

  /** It holds this and nothing else of ours. Asked again without a change it costs nothing. */
  matches(selection: Selection): boolean {
    if (this.#matched === selection) return true
    const { documents, realms } = selection
    const isSame = sameDigests(documents, this.#documents) && sameDigests(realms, this.#realms)
    this.#matched = isSame ? selection : undefined
    return isSame
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
    if (kind === 'spec') this.#documents.set(id, { digest, warnings })
    else this.#realms.set(id, { digest, sessions: this.#realms.get(id)?.sessions ?? [] })
    this.#changed()
  }

  #changed(): void {
    this.#matched = undefined
    this.revision += 1
  }
}

interface Digest {
  readonly digest: string
}

const sameDigests = (
  wanted: ReadonlyMap<string, Digest>,
  held: ReadonlyMap<string, Digest>,
): boolean => {
  if (wanted.size !== held.size) return false
  for (const [key, { digest }] of wanted) if (held.get(key)?.digest !== digest) return false
  return true
}
