// Counts what waits to be sent to a router against the memory budget of the process: a router that reads slowly, or not
// at all, must not fill the memory of the others.

import type { Holding, MemoryBudget } from '../../memory/memory-budget.ts'

/**
 * What a socket has buffered beyond this makes it emit 'drain', so the count goes down again (the largest
 * `writableHighWaterMark` of a socket).
 */
const UNCOUNTED_BYTES = 64 * 1024

/** @example new SendBacklog(memory, { destroy: () => life.end('lost', 'no memory') }) */
export class SendBacklog {
  readonly #holding: Holding
  #counted = 0

  /** @param owner is destroyed when memory runs out and this holds the most of it */
  constructor(memory: MemoryBudget, owner: { destroy(): void }) {
    this.#holding = memory.open(owner)
  }

  /** @param waiting bytes that have not been taken by the system yet */
  measure(waiting: number): void {
    const counted = waiting > UNCOUNTED_BYTES ? waiting : 0
    const grown = counted - this.#counted
    this.#counted = counted
    if (grown > 0) this.#holding.add(grown)
    else if (grown < 0) this.#holding.subtract(-grown)
  }

  /** False: something waits, and memory is tight. What is not sent yet must be refused. */
  get hasRoom(): boolean {
    return this.#counted === 0 || !this.#holding.isTight
  }

  /** The connection is over, and what waited is dropped. */
  end(): void {
    this.#holding.close()
    this.#counted = 0
  }
}
