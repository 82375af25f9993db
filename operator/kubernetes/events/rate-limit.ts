// Limits how many Events an object and a namespace may have: token buckets, one set for Warnings and one for Normal
// Events, so that no success takes the place of a failure. Time is passed in.

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { EventFacts } from './object.ts'

interface Rate {
  /** Most at once. */
  readonly burst: number
  /** After a burst, one Event is allowed in this time. */
  readonly refillMs: number
}

interface Rates {
  readonly object: Rate
  /** For all objects of a namespace together: larger, so that no object can use it up alone. */
  readonly namespace: Rate
}

const RATES: Readonly<Record<EventFacts['type'], Rates>> = {
  // Thirty bad edits within a minute.
  Warning: {
    object: { burst: 30, refillMs: 60_000 },
    namespace: { burst: 150, refillMs: 6_000 },
  },
  Normal: {
    object: { burst: 5, refillMs: 5 * 60_000 },
    namespace: { burst: 100, refillMs: 6_000 },
  },
}

/** Whose limit is reached. */
export type Full = 'object' | 'namespace'

/** Whether an Event may be sent now; one that may not consumes nothing. */
export class EventLimit {
  readonly #buckets = {
    Warning: bucketsOf(RATES.Warning),
    Normal: bucketsOf(RATES.Normal),
  }

  /** @returns undefined: the Event may be sent */
  take(
    { type, regarding: { kind, namespace, name, uid } }: EventFacts,
    nowMs: number,
  ): Full | undefined {
    const { objects, namespaces } = this.#buckets[type]
    const object = objects.refilled(`${kind}/${namespace}/${name}/${uid}`, nowMs)
    const all = namespaces.refilled(namespace, nowMs)
    if (object.tokens < 1) return 'object'
    if (all.tokens < 1) return 'namespace'
    object.tokens -= 1
    all.tokens -= 1
    return undefined
  }
}

interface Bucket {
  tokens: number
  atMs: number
}

const MAX_BUCKETS = 4096

/** Drops buckets without recent Events, so that it stays small. */
class Buckets {
  readonly #rate: Rate
  readonly #buckets = new BoundedMap<string, Bucket>(MAX_BUCKETS)

  constructor(rate: Rate) {
    this.#rate = rate
  }

  refilled(key: string, nowMs: number): Bucket {
    const { burst, refillMs } = this.#rate
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs }
    const gained = Math.max(0, nowMs - atMs) / refillMs
    const bucket = { tokens: Math.min(burst, tokens + gained), atMs: nowMs }
    this.#buckets.set(key, bucket)
    return bucket
  }
}

const bucketsOf = ({
  object,
  namespace,
}: Rates): { readonly objects: Buckets; readonly namespaces: Buckets } => ({
  objects: new Buckets(object),
  namespaces: new Buckets(namespace),
})
