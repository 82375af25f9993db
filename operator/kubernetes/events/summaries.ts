// Summarises the Events beyond the limit of a namespace: one Event for all of the same reason, with their number, so that
// its owner sees how many there were after a change of a thousand documents.

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { EventFacts } from './object.ts'

interface Summary {
  readonly last: EventFacts
  readonly count: number
}

/** One for each namespace, kind and reason. */
const MAX_SUMMARIES = 1_000

export class EventSummaries {
  readonly #summaries = new BoundedMap<string, Summary>(MAX_SUMMARIES)

  add(facts: EventFacts): void {
    const { regarding, type, reason } = facts
    const key = JSON.stringify([regarding.namespace, regarding.kind, type, reason])
    this.#summaries.set(key, { last: facts, count: (this.#summaries.get(key)?.count ?? 0) + 1 })
  }

  /** One Event for each summary, about the last of its Events. The counts start again. */
  take(): readonly EventFacts[] {
    const events = Array.from(this.#summaries.values(), eventOf)
    this.clear()
    return events
  }

  clear(): void {
    this.#summaries.clear()
  }
}

const eventOf = ({ last, count }: Summary): EventFacts => {
  if (count === 1) return last
  const { regarding, reason, note } = last
  const others = count === 2 ? 'another one' : `${count - 1} others`
  const words = `the same (${reason}) was found for ${others} of kind ${regarding.kind} in this namespace, which have no Event of their own: see their conditions`
  return { ...last, note: `${words}. This one: ${note}` }
}
