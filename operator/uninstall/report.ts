// What became of each object in; a line for each, and in the end what is left with the command that removes it,
// out. Knows nothing of the API.

import { messageOf } from '../../base/thrown.ts'
export type RemovalResult = 'deleted' | 'not there' | 'kept' | 'failed'

export interface Leftover {
  readonly object: string
  readonly command: string
}

export class Report {
  readonly #print: (line: string) => void
  readonly #left = new Map<string, Leftover>()
  readonly #told = new Set<string>()

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  /** What could not be removed and has not been since. */
  get left(): readonly Leftover[] {
    return [...this.#left.values()]
  }

  say(line: string): void {
    this.#print(line)
  }

  /** The same is told once: objects are looked at again. */
  tell(outcome: RemovalResult, object: string, why?: string): void {
    if (outcome !== 'failed') this.#left.delete(object)
    const line = `${outcome.padEnd(9)} ${object}${why === undefined ? '' : `: ${why}`}`
    const isNews = outcome !== 'not there' || ![...this.#told].some((told) => told.includes(object))
    if (this.#told.has(line) || !isNews) return
    this.#told.add(line)
    this.#print(line)
  }

  fail(object: string, error: unknown, command: string): void {
    this.#left.set(object, { object, command })
    this.tell('failed', object, messageOf(error))
  }
}
