// Records the requests of users of a gateway: how many there were, which failed, and which are under way. It sends
// nothing itself.

/** What is asked, and how. */
export const KINDS = {
  /** A connection for each request. */
  fresh: 'new connections',
  /** One connection for each user, as long as it is kept. */
  kept: 'keep-alive',
  /** Seconds until the response; kept alive. */
  long: 'long',
  /** Not idempotent: no client would repeat them. */
  published: 'publications',
  /** Of the upstream, passed through. */
  forwardedEvents: 'forwarded events',
  /** Of a WAMP topic. */
  topicEvents: 'topic events',
  /** `/ws`, and calls over it. */
  sockets: 'sockets',
  /** WebSockets through a forward, and messages over them. */
  forwardedSockets: 'forwarded sockets',
} as const

export type Kind = keyof typeof KINDS

export interface Failure {
  readonly kind: Kind
  readonly what: string
  /** Of the system or of undici: `ECONNREFUSED`; empty for a wrong response. */
  readonly code: string
  /** Of the gateway it was sent to, where that is known. */
  readonly pod: string | undefined
  /** `performance.now()`. */
  readonly startedMs: number
  readonly endedMs: number
}

/** It had no connection, so nothing of it has reached anybody: a listener that is gone refuses, one that goes resets. */
export const isRefused = ({ code, what }: Failure): boolean =>
  code === 'ECONNREFUSED' || what.startsWith('connect ')

export interface Entry {
  readonly kind: Kind
  readonly startedMs: number
  /** Address of the gateway that has it; undefined: it can't be known. */
  pod: string | undefined
}

export interface Count {
  requests: number
  failures: number
  slowestMs: number
  /** Streams and sockets: with the last chunk, or with 1001. */
  endedInOrder: number
  /** That came back after it, and got what they came for. */
  resumed: number
}

export interface Tally {
  readonly counts: Readonly<Record<Kind, Count>>
  readonly requests: number
  readonly failures: readonly Failure[]
}

export class WrongResponse extends Error {}

export class TrafficBook {
  #counts = emptyCounts()
  #failures: Failure[] = []
  readonly #open = new Set<Entry>()

  begin(kind: Kind, pod?: string): Entry {
    const entry = { kind, pod, startedMs: performance.now() }
    this.#open.add(entry)
    return entry
  }

  /** The right response; of a stream its first event, and it goes on. */
  answered({ kind, startedMs }: Entry, isResumed = false): void {
    const count = this.#counts[kind]
    count.requests += 1
    count.slowestMs = Math.max(count.slowestMs, performance.now() - startedMs)
    if (isResumed) count.resumed += 1
  }

  endedInOrder({ kind }: Entry): void {
    this.#counts[kind].endedInOrder += 1
  }

  failed({ kind, startedMs, pod }: Entry, error: unknown): void {
    const { what, code } = describeError(error)
    this.#counts[kind].failures += 1
    this.#failures.push({ kind, what, code, pod, startedMs, endedMs: performance.now() })
  }

  /** It is under way no more. */
  close(entry: Entry): void {
    this.#open.delete(entry)
  }

  get inFlight(): readonly Entry[] {
    return [...this.#open]
  }

  /** Streams and sockets that have ended in order and are not back; those that have failed instead are. */
  get away(): number {
    return Object.values(this.#counts).reduce(
      (sum, { endedInOrder, resumed, failures }) =>
        sum + Math.max(0, endedInOrder - resumed - failures),
      0,
    )
  }

  /** Since it was called last. */
  take(): Tally {
    const [counts, failures] = [this.#counts, this.#failures]
    this.#counts = emptyCounts()
    this.#failures = []
    const requests = Object.values(counts).reduce((sum, count) => sum + count.requests, 0)
    return { counts, failures, requests: requests + failures.length }
  }
}

/** One line for people. */
export const formatTally = (name: string, { counts, requests, failures }: Tally): string => {
  const each = Object.entries(counts).map(([kind, count]) => formatCount(kind as Kind, count))
  const slowestMs = Math.max(...Object.values(counts).map((count) => count.slowestMs))
  const head = `${requests} requests, ${failures.length} failures, slowest ${slowestMs.toFixed(0)} ms`
  return `${name}: ${head}\n${each.map((line) => `    ${line}`).join('\n')}\n`
}

const formatCount = (kind: Kind, count: Count): string => {
  const { requests, failures, slowestMs, endedInOrder, resumed } = count
  const ends = endedInOrder > 0 ? `, ${endedInOrder} ended in order, ${resumed} resumed` : ''
  return `${KINDS[kind]}: ${requests} answered, ${failures} failed, slowest ${slowestMs.toFixed(0)} ms${ends}`
}

const emptyCounts = (): Record<Kind, Count> => ({
  fresh: emptyCount(),
  kept: emptyCount(),
  long: emptyCount(),
  published: emptyCount(),
  forwardedEvents: emptyCount(),
  topicEvents: emptyCount(),
  sockets: emptyCount(),
  forwardedSockets: emptyCount(),
})

const emptyCount = (): Count => ({
  requests: 0,
  failures: 0,
  slowestMs: 0,
  endedInOrder: 0,
  resumed: 0,
})

/** By what it has, not by what it is: errors of node's own are of another realm than a test's. */
const describeError = (error: unknown): { readonly what: string; readonly code: string } => {
  const { code, cause, message } = Object(error) as Partial<NodeJS.ErrnoException>
  const what = message ?? String(error)
  if (typeof code === 'string') return { what, code }
  return { what, code: cause === undefined ? '' : describeError(cause).code }
}
