// Writes the `status` of every resource to the API, and again whenever it changes in a way that matters to a reader. Writes
// nothing while another operator leads.

import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import type { OperatorStatus } from '../controller/controller.ts'
import { changedKeys } from '../edited-map.ts'
import { ApiError, type KubernetesApi } from '../kubernetes/client/api.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import { keyOf, type Resource } from '../resource/resource.ts'
import { applyStatus } from './kubernetes-status-apply.ts'
import { StatusEntry, type StatusWrite, type WaitReason } from './kubernetes-status-entry.ts'
import { afterFailure } from './kubernetes-status-failure.ts'
import type { Difference } from './kubernetes-status-object.ts'
import { ReadyEntries } from './ready-entries.ts'

export interface StatusWriterOptions {
  readonly api: Pick<KubernetesApi, 'apply' | 'get'>
  readonly fieldManager: string
  /** Namespace and Lease of this operator, which each status contains to show who has written it. */
  readonly operator?: string
  readonly clock: Clock
  readonly log: Log
}

export interface StatusWriterFacts {
  /** Resources whose status is not yet what it should be. */
  readonly pending: number
  /** Those of them whose write has failed at least once. */
  readonly failing: number
  /** Requests since the program began. */
  readonly writes: number
}

/** Changes within this time are written together. */
const COALESCE_MS = 100
/** Between the beginnings of two writes: 125 a second, of the 200 requests that the client allows itself. */
const SPACING_MS = 8
/** The rate is kept even if timers are late: writes of up to this time are made up for. */
const MAX_LATE_MS = 200
/** Enough for that rate if the API server takes an eighth of a second for each write. */
const MAX_IN_FLIGHT = 16
/** How often, at most, a change of messages alone is written. */
const WORDING_MS = 60_000
/**
 * Changed counts are written after this time if they still differ then: a rollout of gateways changes the counts of every
 * document with each Pod, and ends with the old ones.
 */
const COUNTS_MS = 60_000

const NONE: OperatorStatus['resources'] = new Map()

/**
 * Level-triggered: a write that fails is retried until it succeeds or is not needed any more.
 * @example
 * const writer = new StatusWriter({ api, fieldManager: 'svc-operator', clock, log })
 * writer.lead(); writer.update(controller.status)
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions
  #latest: OperatorStatus | undefined
  /** The statuses that the entries were given. */
  #resources: OperatorStatus['resources'] = NONE
  readonly #entries = new Map<string, StatusEntry>()
  readonly #ready = new ReadyEntries()
  #cancelSpacing: (() => void) | undefined
  /** When the next write may begin. */
  #nextAtMs = Number.NEGATIVE_INFINITY
  #inFlight = 0
  /** A new one for every leader term: a response that belongs to an earlier one is ignored. */
  #term: symbol | undefined
  readonly #logged = new Set<string>()
  #writes = 0

  constructor(options: StatusWriterOptions) {
    this.#options = options
  }

  get facts(): StatusWriterFacts {
    const all = [...this.#entries.values()]
    const waiting = all.filter(
      ({ wait, isInFlight }) => isInFlight || (wait !== undefined && wait.why !== 'counts'),
    )
    return {
      pending: waiting.length + this.#ready.size,
      failing: all.filter(({ failures }) => failures > 0).length,
      writes: this.#writes,
    }
  }

  /** Call it after every change; cheap where little has changed. Also remembered while nothing may be written. */
  update(status: OperatorStatus): void {
    this.#latest = status
    if (this.#term === undefined || !status.isReady) return
    const keys = changedKeys(this.#resources, status.resources)
    this.#resources = status.resources
    for (const key of keys) this.#take(key, status.resources.get(key))
  }

  /** Call it when the status of this resource in the API has changed since it was validated. */
  renew(resource: Resource): void {
    const entry = this.#entries.get(keyOf(resource))
    if (entry?.renew(resource) === true) this.#consider(entry)
  }

  /** The API server is back: writes that have failed are retried now. */
  retry(): void {
    if (this.#term === undefined) return
    for (const entry of this.#entries.values()) {
      if (entry.wait?.why !== 'failure') continue
      entry.endWait()
      this.#wait(entry, 'coalescing', COALESCE_MS)
    }
  }

  /** Our leader term begins. */
  lead(): void {
    if (this.#term !== undefined) return
    this.#term = Symbol('leader term')
    if (this.#latest !== undefined) this.update(this.#latest)
  }

  /** Our leader term is over: nothing is written from now on, and results of writes under way are ignored. */
  follow(): void {
    this.#term = undefined
    this.#cancelSpacing?.()
    this.#cancelSpacing = undefined
    for (const entry of this.#entries.values()) this.#forget(entry)
    // Another operator may write now, so nothing that we have written or known can be relied on any more.
    this.#latest = undefined
    this.#entries.clear()
    this.#resources = NONE
    this.#inFlight = 0
  }

  #take(key: string, source: ResourceStatus | undefined): void {
    const known = this.#entries.get(key)
    if (source === undefined) {
      if (known !== undefined) this.#forget(known)
      this.#entries.delete(key)
      return
    }
    const entry = known ?? new StatusEntry(source, this.#options.operator)
    this.#entries.set(key, entry)
    if (known === undefined || known.take(source)) this.#consider(entry)
  }

  /** Call it when the entry has changed, or its write has ended. */
  #consider(entry: StatusEntry): void {
    if (entry.isForgotten || entry.isInFlight) return
    if (this.#ready.delete(entry)) {
      this.#ready.add(entry)
      return
    }
    if (entry.wait?.why === 'coalescing' || entry.wait?.why === 'failure') return
    entry.endWait()
    this.#waitFor(entry, entry.difference())
  }

  #waitFor(entry: StatusEntry, difference: Difference): void {
    const nowMs = this.#options.clock.now()
    const since = difference === 'counts' ? (entry.countsSinceMs ?? nowMs) : undefined
    entry.countsSinceMs = since
    if (since !== undefined) this.#wait(entry, 'counts', dueIn(COUNTS_MS, since, nowMs))
    if (difference === 'urgent') this.#wait(entry, 'coalescing', COALESCE_MS)
    if (difference === 'wording') {
      this.#wait(entry, 'wording', dueIn(WORDING_MS, entry.lastWriteMs, nowMs))
    }
  }

  #wait(entry: StatusEntry, why: WaitReason, ms: number): void {
    const cancel = this.#options.clock.after(ms, () => {
      entry.wait = undefined
      entry.countsSinceMs = undefined
      if (entry.difference() === 'none') return
      this.#ready.add(entry)
      this.#pump()
    })
    entry.wait = { why, cancel }
  }

  #pump(isTimed = false): void {
    if (this.#cancelSpacing !== undefined) return
    const { clock } = this.#options
    // Only a timer can be late: without one, the next write may begin now.
    if (!isTimed) this.#nextAtMs = Math.max(this.#nextAtMs, clock.now())
    while (this.#inFlight < MAX_IN_FLIGHT && this.#ready.size > 0) {
      const nowMs = clock.now()
      if (this.#nextAtMs > nowMs) {
        // The pause is over now, even if the clock was set back meanwhile.
        this.#cancelSpacing = clock.after(Math.min(SPACING_MS, this.#nextAtMs - nowMs), () => {
          this.#cancelSpacing = undefined
          this.#nextAtMs = Math.min(this.#nextAtMs, clock.now())
          this.#pump(true)
        })
        return
      }
      const entry = this.#ready.shift()
      if (entry === undefined) return
      if (entry.difference() === 'none') continue
      this.#nextAtMs = Math.max(this.#nextAtMs, nowMs - MAX_LATE_MS) + SPACING_MS
      void this.#write(entry)
    }
  }

  async #write(entry: StatusEntry): Promise<void> {
    const { api, fieldManager, operator, clock } = this.#options
    const term = this.#term
    const write = entry.write()
    entry.isInFlight = true
    entry.lastWriteMs = clock.now()
    entry.countsSinceMs = undefined
    this.#inFlight += 1
    this.#writes += 1
    const isOurTerm = (): boolean => this.#term === term
    const result = await settled(applyStatus(write, { api, fieldManager, operator, isOurTerm }))
    if (this.#term !== term) return
    this.#inFlight -= 1
    entry.isInFlight = false
    if ('value' in result) {
      entry.wrote(write, result.value)
      this.#logAgain(write)
    } else this.#failed(entry, write, result.error)
    this.#consider(entry)
    this.#pump()
  }

  #failed(entry: StatusEntry, write: StatusWrite, error: unknown): void {
    const { clock, log } = this.#options
    const failure =
      error instanceof ApiError
        ? error
        : new ApiError('a bug of the operator', { status: 400, cause: error })
    const after = afterFailure(failure, entry.failures, () => clock.random())
    if (after.next === 'drop') {
      entry.gone(write)
      return
    }
    entry.failures += 1
    if (after.next === 'retry slowly') this.#logOnce(write, failure)
    else
      log.debug('a status could not be written: trying again', {
        ...fieldsOf(write),
        error: failure,
      })
    if (!entry.isForgotten) this.#wait(entry, 'failure', after.delayMs)
  }

  /** Logs each kind of rejection once for a namespace, until a write in it succeeds. */
  #logOnce({ kind, name }: StatusWrite, error: ApiError): void {
    const key = `${placeOf({ kind, name })} ${error.status} ${error.reason}`
    if (this.#logged.has(key)) return
    this.#logged.add(key)
    this.#options.log.warn('a status cannot be written', { ...fieldsOf({ kind, name }), error })
  }

  #logAgain(write: StatusWrite): void {
    const place = `${placeOf(write)} `
    for (const key of this.#logged) if (key.startsWith(place)) this.#logged.delete(key)
  }

  #forget(entry: StatusEntry): void {
    entry.forget()
    this.#ready.delete(entry)
  }
}

/** At least the time for coalescing, and no longer than `ms` even if the clock was set back. */
const dueIn = (ms: number, sinceMs: number, nowMs: number): number =>
  Math.max(COALESCE_MS, ms - Math.max(0, nowMs - sinceMs))

/** For the log, where `name` is the program's. */
const fieldsOf = ({ kind, name }: Pick<StatusWrite, 'kind' | 'name'>): object => ({
  kind,
  namespace: name.namespace,
  object: name.name,
})

const placeOf = ({ kind, name }: Pick<StatusWrite, 'kind' | 'name'>): string =>
  `${kind} ${name.namespace}`

const settled = async <T>(
  promise: Promise<T>,
): Promise<{ readonly value: T } | { readonly error: unknown }> => {
  try {
    return { value: await promise }
  } catch (error) {
    return { error }
  }
}
