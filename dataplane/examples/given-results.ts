// Gives the results that an example names, one for each attempt, and records what was sent to get them.

import type { ExampleResult } from '../../language/examples/example.ts'
import type { Value } from '../../language/expression/value.ts'

/** For people, of what was sent. */
const MOST_SHOWN = 1000

export class GivenResults {
  readonly sent: Value[] = []
  #areEvents = false
  readonly #given: ExampleResult | readonly ExampleResult[] | undefined

  constructor(given: ExampleResult | readonly ExampleResult[] | undefined) {
    this.#given = given
  }

  /** All of them, for a topic that is followed. */
  events(sent: Value): readonly ExampleResult[] {
    this.sent.push(sent)
    this.#areEvents = true
    const given = this.#given ?? []
    return isResults(given) ? given : [given]
  }

  /** What is wrong with how many there are; undefined: nothing. */
  get problem(): { readonly path: string; readonly message: string } | undefined {
    const attempts = this.sent.length
    const given = this.#given
    if (given === undefined) {
      if (attempts === 0) return undefined
      const sent = JSON.stringify(this.sent[0]).slice(0, MOST_SHOWN)
      return { path: '', message: `something was sent, so say by 'given' what it yields: ${sent}` }
    }
    if (!isResults(given) || given.length === attempts || this.#areEvents) return undefined
    const made = attempts === 1 ? '1 attempt was made' : `${attempts} attempts were made`
    return { path: '/given', message: `${made}, and 'given' has ${given.length}` }
  }

  /** One that is no list is the result of every attempt. @returns undefined: the example has none for it */
  next(sent: Value): ExampleResult | undefined {
    const index = this.sent.push(sent) - 1
    const given = this.#given
    return given === undefined || !isResults(given) ? given : given[index]
  }
}

const isResults = (
  given: ExampleResult | readonly ExampleResult[],
): given is readonly ExampleResult[] => Array.isArray(given)
