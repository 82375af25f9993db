// Writes a line for each object that was removed or left, and in the end the command that removes what is left. Knows
// nothing of the API.

import { messageOf } from '../../base/thrown.ts'

export type RemovalResult = 'deleted' | 'not there' | 'kept' | 'failed'

export interface Leftover {
  readonly object: string
  readonly command: string
}

export class Report {
  readonly #print: (line: string) => void
  readonly #left = new Map<string, Leftover>()
  readonly #printed = new Set<string>()

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

  /** The same is printed once: objects are visited again. */
  add(result: RemovalResult, object: string, why?: string): void {
    if (result !== 'failed') this.#left.delete(object)
    const line = `${result.padEnd(9)} ${object}${why === undefined ? '' : `: ${why}`}`
    const isNews =
      result !== 'not there' || ![...this.#printed].some((line) => line.includes(object))
    if (this.#printed.has(line) || !isNews) return
    this.#printed.add(line)
    this.#print(line)
  }

  fail(object: string, error: unknown, command: string): void {
    this.#left.set(object, { object, command })
    this.add('failed', object, messageOf(error))
  }
}
