// Bounds what the sidecars of one namespace take of what all data planes share: however many of them hang, or answer as
// slowly and as much as they may, others have their turn and there is memory left.

import type { DataPlane } from '../data-plane.ts'
import { Allowance, type Asking } from './allowance.ts'
import { AnswerBudget } from './client/bounded-body.ts'

export interface Neighbourhood {
  /** Absent: of the shared pool, which belongs to the operator. */
  readonly budget?: AnswerBudget
  /** Waits for a round at work; resolves with what gives it back. */
  readonly takeTurn: (asking: Asking) => Promise<() => void>
}

/** Bytes of answers that are being read. */
const ANSWER_BYTES = 16 * 1024 * 1024
/** Of all rounds at work. */
const SHARE_OF_TURNS = 4

export class Neighbourhoods {
  readonly #turns: Allowance
  readonly #ownTurns: number
  readonly #known = new Map<string, Neighbourhood>()

  /** @param rounds at work at once, of all data planes */
  constructor(rounds: number) {
    this.#turns = new Allowance(rounds)
    this.#ownTurns = Math.max(1, Math.floor(rounds / SHARE_OF_TURNS))
  }

  get turnsTaken(): number {
    return this.#turns.used
  }

  of({ namespace }: DataPlane): Neighbourhood {
    if (namespace === undefined) return { takeTurn: (asking) => this.#turns.take(1, asking) }
    const known = this.#known.get(namespace)
    if (known !== undefined) return known
    const own = new Allowance(this.#ownTurns)
    const neighbourhood = {
      budget: new AnswerBudget(ANSWER_BYTES),
      takeTurn: (asking: Asking) => takeBoth([own, this.#turns], asking),
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

const takeBoth = async (
  [first, second]: readonly [Allowance, Allowance],
  asking: Asking,
): Promise<() => void> => {
  const giveBackFirst = await first.take(1, asking)
  try {
    const giveBackSecond = await second.take(1, asking)
    return () => {
      giveBackSecond()
      giveBackFirst()
    }
  } catch (error) {
    giveBackFirst()
    throw error
  }
}
