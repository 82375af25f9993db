// Writes changes to the snapshot before the caller continues, and retries what could not be written (a full disk)
// until it can. A load is served whether or not it could be written.

import type { Changes, Ownership } from '../loaded-content.ts'
import type { Snapshot } from './snapshot.ts'

export interface SnapshotManagerOptions {
  readonly retryMs: number
  /** Writes again, in order with other changes. */
  readonly retry: () => Promise<void>
  readonly onFailing: (isFailing: boolean) => void
}

export class SnapshotManager {
  readonly #snapshot: Snapshot
  readonly #options: SnapshotManagerOptions
  #timer: NodeJS.Timeout | undefined

  constructor(snapshot: Snapshot, options: SnapshotManagerOptions) {
    this.#snapshot = snapshot
    this.#options = options
  }

  /** Never rejects. */
  async keep(changes: Changes, ownership: Ownership): Promise<void> {
    clearTimeout(this.#timer)
    const isKept = await this.#snapshot.save(changes, ownership)
    this.#options.onFailing(!isKept)
    if (isKept) return
    this.#timer = setTimeout(() => {
      // The queue is full: the changes in it are written as well, and this one with them.
      this.#options.retry().catch(() => undefined)
    }, this.#options.retryMs)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#snapshot.close()
  }
}
