// Watches that fail, and that follow again, in; a line in the log for all that do so together, out. An API server that
// restarts breaks off every watch, and each referenced Secret is one: the lines of each are at level debug.

import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'

export interface WatchFailure {
  /** What is watched: `secrets`. */
  readonly resource: string
  /** Absent: in all. */
  readonly namespace?: string
  readonly status: number
  readonly message: string
}

/**
 * What comes within it is told together, and what ends within it is not: right after a CRD was made the API server
 * answers 429, `storage is (re)initializing`, for a second or more.
 */
const GATHER_MS = 5_000
/** Between two lines. */
const SPACING_MS = 10_000

export class WatchLog {
  readonly #clock: Clock
  readonly #log: Log
  /** Now; a watch is known by an object of its own. */
  readonly #failing = new Map<object, WatchFailure>()
  /** Whose trouble has been told of, with the status that was told. */
  readonly #told = new Map<object, number>()
  #toldAtMs = -Infinity
  #cancel: (() => void) | undefined

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock
    this.#log = log
  }

  failed(watch: object, failure: WatchFailure): void {
    this.#failing.set(watch, failure)
    this.#schedule()
  }

  /** One that was in trouble for a moment only was never told of. */
  followed(watch: object): void {
    if (this.#failing.delete(watch)) this.#schedule()
  }

  /** It has been stopped. */
  forget(watch: object): void {
    this.#failing.delete(watch)
    this.#told.delete(watch)
    if (this.#failing.size + this.#told.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  #schedule(): void {
    const sinceMs = this.#clock.now() - this.#toldAtMs
    this.#cancel ??= this.#clock.after(Math.max(GATHER_MS, SPACING_MS - sinceMs), () => {
      this.#cancel = undefined
      this.#tell()
    })
  }

  #tell(): void {
    const fresh = [...this.#failing].filter(([watch, { status }]) => {
      const isNews = this.#told.get(watch) !== status
      this.#told.set(watch, status)
      return isNews
    })
    const back = [...this.#told.keys()].filter((watch) => !this.#failing.has(watch))
    for (const watch of back) this.#told.delete(watch)
    if (fresh.length + back.length > 0) this.#toldAtMs = this.#clock.now()
    const failures = fresh.map(([, failure]) => failure)
    for (const alike of Map.groupBy(failures, ({ status }) => status).values()) {
      this.#log.warn('not followed for now', wordsOf(alike))
    }
    if (back.length > 0) {
      this.#log.info('followed again', { watches: back.length, left: this.#failing.size })
    }
  }
}

/** One is named; of many it is said how many of which kind, the most first. */
const wordsOf = (failures: readonly WatchFailure[]): Readonly<Record<string, unknown>> => {
  const [first] = failures
  const counts = new Map<string, number>()
  for (const { resource } of failures) counts.set(resource, (counts.get(resource) ?? 0) + 1)
  // As text: a member called `secrets` is masked.
  const resources = [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([resource, count]) => `${count} ${resource}`)
    .join(', ')
  const { resource, namespace, status, message } = first ?? {}
  return failures.length === 1
    ? { resource, ...(namespace !== undefined && { namespace }), status, reason: message }
    : { watches: failures.length, resources, status, reason: message }
}
