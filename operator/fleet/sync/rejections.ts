// Remembers what one data plane has rejected, so that it is not sent again and again. Forgets it when the data plane
// restarts: with another version or other settings it may accept it.

import type { Problem } from '../../../language/problem.ts'
import type { Rejection } from '../../data-plane.ts'
import type { DesiredDocument, DesiredRealm } from '../../desired-set.ts'
import type { LoadedState } from './loaded-state.ts'
import type { Selection } from './selection.ts'

interface RejectedDocument extends Rejection {
  /** Digest of the realm that the data plane has validated with: with another one it is worth another try. */
  readonly realmDigest: string | undefined
}

export class Rejections {
  readonly #documents = new Map<string, RejectedDocument>()
  readonly #realms = new Map<string, Rejection>()
  /** Grows with every change. */
  revision = 0
  #bootId: string | undefined

  get documents(): ReadonlyMap<string, Rejection> {
    return this.#documents
  }

  get realms(): ReadonlyMap<string, Rejection> {
    return this.#realms
  }

  /** Forgets rejections of an earlier boot, and of versions that are not desired any more. */
  review(loaded: LoadedState, selection: Selection): void {
    const before = this.#documents.size + this.#realms.size
    if (this.#bootId !== loaded.bootId) {
      this.#documents.clear()
      this.#realms.clear()
      this.#bootId = loaded.bootId
    }
    for (const [id, { digest, realmDigest }] of this.#documents) {
      const wanted = selection.documents.get(id)
      const sameRealm = wanted && loaded.realms.get(wanted.realmUri)?.digest === realmDigest
      if (wanted?.digest !== digest || !sameRealm) this.#documents.delete(id)
    }
    for (const [uri, { digest }] of this.#realms) {
      if (selection.realms.get(uri)?.digest !== digest) this.#realms.delete(uri)
    }
    if (this.#documents.size + this.#realms.size !== before) this.revision += 1
  }

  addDocument(
    { id, digest, realmUri }: DesiredDocument,
    loaded: LoadedState,
    errors: readonly Problem[],
  ): void {
    this.#documents.set(id, { digest, errors, realmDigest: loaded.realms.get(realmUri)?.digest })
    this.revision += 1
  }

  addRealm({ uri, digest }: DesiredRealm, errors: readonly Problem[]): void {
    this.#realms.set(uri, { digest, errors })
    this.revision += 1
  }
}
