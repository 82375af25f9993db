// What one data plane holds, as far as the operator knows: read from its state, carried on by the answers
// to sync calls. Believes nothing else.

import { type HeldEntry, rootDigest } from '../../spec/digest.ts'
import type { StateView, SyncItem } from '../../spec/wire.ts'
import type { HeldDocument, HeldRealm } from '../data-plane.ts'

export class Held {
  readonly bootId: string
  readonly manager: string | null
  readonly epoch: number
  /** Of its last answer: what the next difference is made on. */
  rootDigest: string
  complete: boolean
  /** Ours only. */
  readonly documents = new Map<string, HeldDocument>()
  readonly realms = new Map<string, HeldRealm>()

  constructor(state: StateView, manager: string) {
    this.bootId = state.bootId
    this.manager = state.manager
    this.epoch = state.epoch
    this.rootDigest = state.rootDigest
    this.complete = state.complete
    for (const [id, { digest, managedBy, warnings }] of Object.entries(state.specs)) {
      if (managedBy === manager) this.documents.set(id, { digest, warnings })
    }
    for (const [uri, { digest, managedBy, sessions }] of Object.entries(state.realms)) {
      if (managedBy === manager) this.realms.set(uri, { digest, sessions })
    }
  }

  get size(): number {
    return this.documents.size + this.realms.size
  }

  /** @param digest that was sent with a put */
  apply({ kind, id, result, warnings }: SyncItem, digest: string | undefined): void {
    if (result === 'rejected') return
    if (result === 'deleted') (kind === 'spec' ? this.documents : this.realms).delete(id)
    else if (digest === undefined) return
    else if (kind === 'spec') this.documents.set(id, { digest, warnings })
    else this.realms.set(id, { digest, sessions: this.realms.get(id)?.sessions ?? [] })
  }

  /** What the data plane must say when it holds what we think it holds. */
  expectedRootDigest(): string {
    const entries: HeldEntry[] = []
    for (const [key, { digest }] of this.realms) entries.push({ kind: 'realm', key, digest })
    for (const [key, { digest }] of this.documents) entries.push({ kind: 'spec', key, digest })
    return rootDigest(entries)
  }
}
