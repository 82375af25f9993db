// Writes what happened to objects as Events for `kubectl describe`: repetitions are counted in one Event, and their
// number is limited. Never waits, never throws: an Event that can't be written is only lost.

import type { Log } from '../../../telemetry/log.ts'
import { backOffMs, DEFAULT_BACK_OFF } from '../../../base/back-off.ts'
import type { Clock } from '../../../base/clock.ts'
import {
  ApiError,
  type ApiErrorCode,
  isApiError,
  type KubernetesApi,
  TYPES,
} from '../client/api.ts'
import { EventLimit } from './rate-limit.ts'
import {
  cutNote,
  eventName,
  eventNamespace,
  type EventFacts,
  eventObject,
  type EventReporter,
  seriesPatch,
} from './object.ts'
import { EventQueue } from './queue.ts'
import { type Series, SeriesRegistry } from './series.ts'
import { EventSummaries } from './summaries.ts'

export interface EventRecorderOptions {
  readonly api: Pick<KubernetesApi, 'create' | 'patch'>
  readonly reporter: EventReporter
  readonly clock: Clock
  readonly log: Log
}

export interface EventRecorderFacts {
  readonly queued: number
  /** Since the program began. */
  readonly sent: number
  /** Dropped because of the limit of an object, a full queue, or an error of the API. */
  readonly dropped: number
}

/** Events beyond the limit of a namespace are counted for this time, and then reported in one Event. */
const SUMMARY_MS = 10_000
/** Between two requests: ten a second. */
const SPACING_MS = 100
const MAX_TRIES = 5
const LONGEST_WAIT_MS = 30_000
/** A missing right, which may concern some namespaces only, is logged once within this time. */
const FORBIDDEN_AGAIN_MS = 600_000

/**
 * Repetitions (of regarding, reason and note) within 10 minutes make one Event with a count. `EventLimit` bounds how many
 * there are of an object and of a namespace; those beyond the limit of a namespace are reported together in one Event.
 * `EventQueue` orders them. At most ten are sent a second.
 * @example
 * const events = new EventRecorder({ api, reporter: { controller: 'gateway.svc.dev/operator', instance }, clock, log })
 * events.start(); events.record({ regarding, type: 'Normal', reason: 'Programmed', note: '…', action: 'Load' })
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #registry = new SeriesRegistry()
  readonly #limit = new EventLimit()
  readonly #queue = new EventQueue()
  readonly #summaries = new EventSummaries()
  #cancelSummaries: (() => void) | undefined
  /** The one that is being sent, or waits to be sent again. */
  #current: Series | undefined
  #term: symbol | undefined
  #isSending = false
  #failures = 0
  #sentAtMs = Number.NEGATIVE_INFINITY
  #cancelNext: (() => void) | undefined
  #forbiddenLoggedAtMs = Number.NEGATIVE_INFINITY
  #sent = 0
  #dropped = 0

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  get facts(): EventRecorderFacts {
    const current = this.#current === undefined ? 0 : 1
    return { queued: this.#queue.size + current, sent: this.#sent, dropped: this.#dropped }
  }

  /** Does nothing while it is stopped. */
  record(event: EventFacts): void {
    if (this.#term === undefined) return
    const { clock } = this.#options
    const nowMs = clock.now()
    const facts = { ...event, note: cutNote(event.note) }
    const series = this.#registry.note(facts, nowMs, () => eventName(facts.regarding, endOf(clock)))
    // It waits already, and will be sent with its count by then.
    if (series.isQueued) return
    const full = this.#limit.take(facts, nowMs)
    if (full === undefined) this.#enqueue(series, nowMs)
    else if (full === 'namespace') this.#summarise(facts)
    else this.#dropped += 1
  }

  /** Reports the Event later, in one Event with others of its namespace. */
  #summarise(facts: EventFacts): void {
    const { clock } = this.#options
    this.#summaries.add(facts)
    this.#cancelSummaries ??= clock.after(SUMMARY_MS, () => {
      this.#cancelSummaries = undefined
      const nowMs = clock.now()
      for (const each of this.#summaries.take()) {
        const cut = { ...each, note: cutNote(each.note) }
        const series = this.#registry.note(cut, nowMs, () => eventName(cut.regarding, endOf(clock)))
        if (!series.isQueued) this.#enqueue(series, nowMs)
      }
    })
  }

  #enqueue(series: Series, nowMs: number): void {
    series.isQueued = true
    const displaced = this.#queue.push(series)
    if (displaced !== undefined) {
      displaced.isQueued = false
      this.#dropped += 1
    }
    const sinceMs = Math.max(0, nowMs - this.#sentAtMs)
    this.#schedule(Math.max(0, SPACING_MS - sinceMs))
  }

  start(): void {
    this.#term ??= Symbol('leader term')
  }

  /** Takes effect at once: what waits is dropped, and the result of a request under way is ignored. */
  stop(): void {
    this.#term = undefined
    this.#cancelNext?.()
    this.#cancelNext = undefined
    this.#cancelSummaries?.()
    this.#cancelSummaries = undefined
    this.#summaries.clear()
    this.#queue.clear()
    this.#current = undefined
    this.#registry.clear()
    this.#isSending = false
    this.#failures = 0
  }

  #schedule(ms: number): void {
    if (this.#isSending || this.#cancelNext !== undefined) return
    if (this.#current === undefined && this.#queue.size === 0) return
    this.#cancelNext = this.#options.clock.after(ms, () => {
      this.#cancelNext = undefined
      void this.#sendFirst()
    })
  }

  async #sendFirst(): Promise<void> {
    const series = this.#current ?? this.#queue.shift()
    const term = this.#term
    if (series === undefined) return
    this.#current = series
    this.#isSending = true
    this.#sentAtMs = this.#options.clock.now()
    const error = await this.#send(series)
    if (this.#term !== term) return
    this.#isSending = false
    const delayMs = this.#delayAfter(series, error)
    this.#schedule(delayMs)
  }

  /** @returns undefined: the Event was accepted */
  async #send(series: Series): Promise<unknown> {
    const { count } = series
    try {
      if (series.sentCount === 0 || !(await this.#count(series))) await this.#create(series)
      series.sentCount = count
      return undefined
    } catch (error) {
      return error
    }
  }

  /** @returns false: the Event has expired */
  async #count({ facts, name, count, lastAtMs }: Series): Promise<boolean> {
    const { api } = this.#options
    const namespace = eventNamespace(facts.regarding)
    try {
      await api.patch(TYPES.events, { namespace, name }, seriesPatch(count, lastAtMs))
      return true
    } catch (error) {
      if (isApiError(error, 'not_found')) return false
      throw error
    }
  }

  async #create({ facts, name, count, firstAtMs, lastAtMs }: Series): Promise<void> {
    const { api, reporter } = this.#options
    const object = eventObject({ facts, reporter, name, atMs: firstAtMs })
    const again = count > 1 ? seriesPatch(count, lastAtMs) : {}
    try {
      await api.create(TYPES.events, eventNamespace(facts.regarding), { ...object, ...again })
    } catch (error) {
      // The name is unique to us: an earlier attempt has succeeded, and its response was lost.
      if (!isApiError(error, 'conflict')) throw error
    }
  }

  /** How long to wait before the next request. */
  #delayAfter(series: Series, error: unknown): number {
    const { clock } = this.#options
    if (error instanceof ApiError && IS_PASSING[error.code] && this.#failures < MAX_TRIES) {
      this.#failures += 1
      const delayMs = backOffMs(this.#failures + 1, DEFAULT_BACK_OFF, clock.random())
      return Math.max(delayMs, Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS))
    }
    this.#failures = 0
    this.#current = undefined
    series.isQueued = false
    if (error === undefined) this.#sent += 1
    else this.#drop(series, error)
    return SPACING_MS
  }

  #drop(series: Series, error: unknown): void {
    const { log, clock } = this.#options
    this.#dropped += 1
    this.#registry.forget(series)
    const { reason, regarding } = series.facts
    const fields = { reason, kind: regarding.kind, ...nameOf(series), error }
    const isLogged = clock.now() - this.#forbiddenLoggedAtMs < FORBIDDEN_AGAIN_MS
    if (!isForbidden(error) || isLogged) log.debug('an Event could not be written', fields)
    else {
      this.#forbiddenLoggedAtMs = clock.now()
      log.warn(
        'the operator may not write Events: allow its service account to create and patch events of events.k8s.io',
        fields,
      )
    }
  }
}

/** Whether the error is temporary, and probably over while the Event is still of interest. */
const IS_PASSING = {
  no_response: true,
  unauthorized: false,
  forbidden: false,
  not_found: false,
  request_timeout: false,
  conflict: false,
  expired: false,
  too_many_requests: true,
  rejected: false,
  server_error: true,
} as const satisfies Record<ApiErrorCode, boolean>

/** Whether a right is missing; a namespace that is being deleted rejects new objects too. */
const isForbidden = (error: unknown): error is ApiError =>
  isApiError(error, 'forbidden') && !error.message.includes('being terminated')

const nameOf = ({
  facts: { regarding },
}: Series): { readonly namespace: string; readonly name: string } => ({
  namespace: regarding.namespace,
  name: regarding.name,
})

/** Makes names unique among operators, and across restarts of one. */
const endOf = (clock: Clock): string =>
  clock.now().toString(36) +
  Math.floor(clock.random() * 36 ** 6)
    .toString(36)
    .padStart(6, '0')
