// Bounds the share that the sidecars of one namespace get of permits and memory: however many of them hang, or respond as
// slowly and with as much as they may, the other data planes get permits and memory.

import { type Acquisition, Limiter } from '../../base/limiter.ts'
import type { DataPlane } from '../data-plane.ts'

export interface Neighbourhood {
  /** Bytes of responses that are being read. Absent: unbounded, for the shared pool, which belongs to the operator. */
  readonly budget?: Limiter
  /** Waits for a permit for a round; resolves with a function that gives it back. */
  readonly acquirePermit: (acquisition: Acquisition) => Promise<() => void>
}

/** Bytes of responses that are being read. */
const RESPONSE_BYTES = 16 * 1024 * 1024
/** A namespace gets at most this part of all permits: one in four. */
const PERMIT_DIVISOR = 4

export class Neighbourhoods {
  readonly #shared: Limiter
  readonly #ownPermits: number
  readonly #known = new Map<string, Neighbourhood>()

  /** @param rounds that may run at once, of all data planes */
  constructor(rounds: number) {
    this.#shared = new Limiter(rounds)
    this.#ownPermits = Math.max(1, Math.floor(rounds / PERMIT_DIVISOR))
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
      budget: new Limiter(RESPONSE_BYTES),
      acquirePermit: (acquisition: Acquisition) => acquireBoth([own, this.#shared], acquisition),
    }
    this.#known.set(namespace, neighbourhood)
    return neighbourhood
  }

  /** Forgets all other namespaces. */
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
