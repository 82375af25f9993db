// Logs watches that fail, and that work again, in one line for all that do so together. An API server that restarts
// breaks off every watch, and each referenced Secret is one: the lines of each are at level debug.

import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'

export interface FailedWatch {
  /** What is watched: `secrets`. */
  readonly resource: string
  /** Absent: in all. */
  readonly namespace?: string
  readonly status: number
  readonly message: string
}

/**
 * Failures within this time are logged together, and those that end within it are not logged: right after a CRD was
 * created the API server responds 429, `storage is (re)initializing`, for a second or more.
 */
const GATHER_MS = 5_000
/** Between two lines. */
const SPACING_MS = 10_000

export class WatchLog {
  readonly #clock: Clock
  readonly #log: Log
  /** The current ones; a watch is identified by an object of its own. */
  readonly #failing = new Map<object, FailedWatch>()
  /** The watches whose failure was logged, with the status that was logged. */
  readonly #logged = new Map<object, number>()
  #loggedAtMs = -Infinity
  #cancel: (() => void) | undefined

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock
    this.#log = log
  }

  failed(watch: object, failure: FailedWatch): void {
    this.#failing.set(watch, failure)
    this.#schedule()
  }

  /** A failure that was over before it was logged is never logged. */
  followed(watch: object): void {
    if (this.#failing.delete(watch)) this.#schedule()
  }

  /** It has been stopped. */
  forget(watch: object): void {
    this.#failing.delete(watch)
    this.#logged.delete(watch)
    if (this.#failing.size + this.#logged.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  #schedule(): void {
    const sinceMs = this.#clock.now() - this.#loggedAtMs
    this.#cancel ??= this.#clock.after(Math.max(GATHER_MS, SPACING_MS - sinceMs), () => {
      this.#cancel = undefined
      this.#notify()
    })
  }

  #notify(): void {
    const fresh = [...this.#failing].filter(([watch, { status }]) => {
      const isNew = this.#logged.get(watch) !== status
      this.#logged.set(watch, status)
      return isNew
    })
    const back = [...this.#logged.keys()].filter((watch) => !this.#failing.has(watch))
    for (const watch of back) this.#logged.delete(watch)
    if (fresh.length + back.length > 0) this.#loggedAtMs = this.#clock.now()
    const failures = fresh.map(([, failure]) => failure)
    for (const alike of Map.groupBy(failures, ({ status }) => status).values()) {
      this.#log.warn('watches fail, so data may be out of date', wordsOf(alike))
    }
    if (back.length > 0) {
      this.#log.info('watches work again', { watches: back.length, left: this.#failing.size })
    }
  }
}

/** A single one is named; of many, the number of each kind, the most first. */
const wordsOf = (failures: readonly FailedWatch[]): Readonly<Record<string, unknown>> => {
  const [first] = failures
  const counts = new Map<string, number>()
  for (const { resource } of failures) counts.set(resource, (counts.get(resource) ?? 0) + 1)
  // As text, because the log masks a member called `secrets`.
  const resources = [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([resource, count]) => `${count} ${resource}`)
    .join(', ')
  const { resource, namespace, status, message } = first ?? {}
  return failures.length === 1
    ? { resource, ...(namespace !== undefined && { namespace }), status, reason: message }
    : { watches: failures.length, resources, status, reason: message }
}
