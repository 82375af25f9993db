// Changes come in and are written before the caller goes on. What could not be written, a full disk, is
// tried again until it is: a load serves whether or not it could be kept.

import type { Changes } from './draft.ts'
import type { Tenure } from './holdings.ts'
import type { Snapshot } from './snapshot.ts'

export interface KeeperOptions {
  readonly retryMs: number
  /** Keeps again, in turn with other changes. */
  readonly retry: () => Promise<void>
  readonly onFailing: (isFailing: boolean) => void
}

export class SnapshotKeeper {
  readonly #snapshot: Snapshot
  readonly #options: KeeperOptions
  #timer: NodeJS.Timeout | undefined

  constructor(snapshot: Snapshot, options: KeeperOptions) {
    this.#snapshot = snapshot
    this.#options = options
  }

  /** Never rejects. */
  async keep(changes: Changes, tenure: Tenure): Promise<void> {
    clearTimeout(this.#timer)
    const isKept = await this.#snapshot.save(changes, tenure)
    this.#options.onFailing(!isKept)
    if (isKept) return
    this.#timer = setTimeout(() => {
      // Refused by a full queue: the changes that fill it are kept as well, and this one with them.
      this.#options.retry().catch(() => undefined)
    }, this.#options.retryMs)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#snapshot.close()
  }
}
