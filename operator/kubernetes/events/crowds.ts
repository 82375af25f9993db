// Counts the Events that a namespace has no room for, and makes one of all that say the same of it: after a change of a
// thousand documents its owner reads how many there were. Pure; time is passed in by when it is asked.

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { EventFacts } from './object.ts'

interface Crowd {
  readonly last: EventFacts
  readonly count: number
}

/** Namespaces times reasons. */
const MAX_CROWDS = 1_000

export class EventCrowds {
  readonly #crowds = new BoundedMap<string, Crowd>(MAX_CROWDS)

  note(facts: EventFacts): void {
    const { regarding, type, reason } = facts
    const key = JSON.stringify([regarding.namespace, regarding.kind, type, reason])
    this.#crowds.set(key, { last: facts, count: (this.#crowds.get(key)?.count ?? 0) + 1 })
  }

  /** One Event for each crowd, about the last of it; the next ones begin. */
  take(): readonly EventFacts[] {
    const events = Array.from(this.#crowds.values(), eventOf)
    this.clear()
    return events
  }

  clear(): void {
    this.#crowds.clear()
  }
}

const eventOf = ({ last, count }: Crowd): EventFacts => {
  if (count === 1) return last
  const { regarding, reason, note } = last
  const others = count === 2 ? 'another one' : `${count - 1} others`
  const words = `the same (${reason}) was found for ${others} of kind ${regarding.kind} in this namespace, which have no Event of their own: see their conditions`
  return { ...last, note: `${words}. This one: ${note}` }
}
