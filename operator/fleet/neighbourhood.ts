// Bounds what the sidecars of one namespace take of what all data planes share: however many of them hang, or answer as
// slowly and as much as they may, others get permits and there is memory left.

import { type Acquisition, Limiter } from '../../base/limiter.ts'
import type { DataPlane } from '../data-plane.ts'

export interface Neighbourhood {
  /** Bytes of answers that are being read. Absent: of the shared pool, which belongs to the operator. */
  readonly budget?: Limiter
  /** Waits for the permit of a round; resolves with what gives it back. */
  readonly acquirePermit: (acquisition: Acquisition) => Promise<() => void>
}

/** Bytes of answers that are being read. */
const ANSWER_BYTES = 16 * 1024 * 1024
/** Of all rounds at work. */
const SHARE_OF_PERMITS = 4

export class Neighbourhoods {
  readonly #shared: Limiter
  readonly #ownPermits: number
  readonly #known = new Map<string, Neighbourhood>()

  /** @param rounds at work at once, of all data planes */
  constructor(rounds: number) {
    this.#shared = new Limiter(rounds)
    this.#ownPermits = Math.max(1, Math.floor(rounds / SHARE_OF_PERMITS))
  }

  get permitsInUse(): number {
    return this.#shared.used
  }

  of({ namespace }: DataPlane): Neighbourhood {
    if (namespace === undefined)
      return { acquirePermit: (acquisition) => this.#shared.acquire(acquisition) }
    const known = this.#known.get(namespace)
    if (known !== undefined) return known
    const own = new Limiter(this.#ownPermits)
    const neighbourhood = {
      budget: new Limiter(ANSWER_BYTES),
      acquirePermit: (acquisition: Acquisition) => acquireBoth([own, this.#shared], acquisition),
    }
    this.#known.set(namespace, neighbourhood)
    return neighbourhood
  }

  /** Forgets those of other namespaces. */
  retain(namespaces: ReadonlySet<string | undefined>): void {
    for (const namespace of this.#known.keys())
      if (!namespaces.has(namespace)) this.#known.delete(namespace)
  }
}

const acquireBoth = async (
  [first, second]: readonly [Limiter, Limiter],
  acquisition: Acquisition,
): Promise<() => void> => {
  const releaseFirst = await first.acquire(acquisition)
  try {
    const releaseSecond = await second.acquire(acquisition)
    return () => {
      releaseSecond()
      releaseFirst()
    }
  } catch (error) {
    releaseFirst()
    throw error
  }
}
