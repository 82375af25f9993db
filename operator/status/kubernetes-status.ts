// Writes the `status` of every resource to the API, again where something is new that a reader would care for, and nothing
// while another operator leads.

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
  /** Namespace and Lease of this operator: it stands in each status, and says whose that is. */
  readonly operator?: string
  readonly clock: Clock
  readonly log: Log
}

export interface StatusWriter {
  /** After every change; cheap where little has changed. Remembered also while nothing may be written. */
  update(status: OperatorStatus): void
  /** The status of this resource says something else in the API than when it was validated. */
  renew(resource: Resource): void
  /** The API server is back: what could not be written is tried now. */
  retry(): void
  /** Our leader term begins. */
  start(): void
  /** Our leader term is over: nothing is written from now on; what is under way is forgotten. */
  stop(): void
  readonly facts: StatusWriterFacts
}

export interface StatusWriterFacts {
  /** Resources whose status is not yet what it should be. */
  readonly pending: number
  /** Of those, which have failed at least once. */
  readonly failing: number
  /** Requests since the program began. */
  readonly writes: number
}

/** What changes together is written together. */
const COALESCE_MS = 100
/** Between the beginnings of two writes: 125 a second, of the 200 requests that the client allows itself. */
const SPACING_MS = 8
/** A timer that comes late costs no writes: those of so long are caught up with. */
const MAX_LATE_MS = 200
/** Enough for that rate where the API server takes an eighth of a second for each. */
const MAX_FLYING = 16
/** At most so often are other words written for the same. */
const WORDING_MS = 60_000
/**
 * Other counts are written after so long, if they are other ones then: a rollout of gateways changes them with each Pod,
 * for every document, and ends with those of before.
 */
const COUNTS_MS = 60_000

/**
 * Level-triggered: what could not be written is tried until it stands there, or is no longer true.
 * @example
 * const writer = createStatusWriter({ api, fieldManager: 'svc-operator', clock, log })
 * writer.start(); writer.update(controller.status)
 */
export const createStatusWriter = (options: StatusWriterOptions): StatusWriter =>
  new Writer(options)

const NONE: OperatorStatus['resources'] = new Map()

class Writer implements StatusWriter {
  readonly #options: StatusWriterOptions
  #latest: OperatorStatus | undefined
  /** As the entries know them. */
  #resources: OperatorStatus['resources'] = NONE
  readonly #entries = new Map<string, StatusEntry>()
  readonly #ready = new ReadyEntries()
  #cancelSpacing: (() => void) | undefined
  /** When the next write may begin. */
  #nextAtMs = Number.NEGATIVE_INFINITY
  #flying = 0
  /** Another one in every leader term: a response that comes after it is nobody's. */
  #turn: symbol | undefined
  readonly #told = new Set<string>()
  #writes = 0

  constructor(options: StatusWriterOptions) {
    this.#options = options
  }

  get facts(): StatusWriterFacts {
    const all = [...this.#entries.values()]
    const waiting = all.filter(
      ({ wait, isFlying }) => isFlying || (wait !== undefined && wait.why !== 'counts'),
    )
    return {
      pending: waiting.length + this.#ready.size,
      failing: all.filter(({ failures }) => failures > 0).length,
      writes: this.#writes,
    }
  }

  update(status: OperatorStatus): void {
    this.#latest = status
    if (this.#turn === undefined || !status.isReady) return
    const keys = changedKeys(this.#resources, status.resources)
    this.#resources = status.resources
    for (const key of keys) this.#take(key, status.resources.get(key))
  }

  renew(resource: Resource): void {
    const entry = this.#entries.get(keyOf(resource))
    if (entry?.renew(resource) === true) this.#consider(entry)
  }

  retry(): void {
    if (this.#turn === undefined) return
    for (const entry of this.#entries.values()) {
      if (entry.wait?.why !== 'failure') continue
      entry.endWait()
      this.#wait(entry, 'coalescing', COALESCE_MS)
    }
  }

  start(): void {
    if (this.#turn !== undefined) return
    this.#turn = Symbol('turn')
    if (this.#latest !== undefined) this.update(this.#latest)
  }

  stop(): void {
    this.#turn = undefined
    this.#cancelSpacing?.()
    this.#cancelSpacing = undefined
    for (const entry of this.#entries.values()) this.#forget(entry)
    // Another operator may write now: what we have written proves nothing any more, nor what we knew.
    this.#latest = undefined
    this.#entries.clear()
    this.#resources = NONE
    this.#flying = 0
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

  /** Something of it has changed, or what was under way has ended. */
  #consider(entry: StatusEntry): void {
    if (entry.isForgotten || entry.isFlying) return
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
    if (difference === 'news') this.#wait(entry, 'coalescing', COALESCE_MS)
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
    // Where no timer was due nothing is late.
    if (!isTimed) this.#nextAtMs = Math.max(this.#nextAtMs, clock.now())
    while (this.#flying < MAX_FLYING && this.#ready.size > 0) {
      const nowMs = clock.now()
      if (this.#nextAtMs > nowMs) {
        // Whatever a clock says that is set back meanwhile, the pause is over then.
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
    const turn = this.#turn
    const write = entry.write()
    entry.isFlying = true
    entry.lastWriteMs = clock.now()
    entry.countsSinceMs = undefined
    this.#flying += 1
    this.#writes += 1
    const isOurTurn = (): boolean => this.#turn === turn
    const result = await settled(applyStatus(write, { api, fieldManager, operator, isOurTurn }))
    if (this.#turn !== turn) return
    this.#flying -= 1
    entry.isFlying = false
    if ('value' in result) {
      entry.wrote(write, result.value)
      this.#tellAnew(write)
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
    if (after.next === 'retry slowly') this.#tell(write, failure)
    else
      log.debug('a status could not be written: trying again', {
        ...fieldsOf(write),
        error: failure,
      })
    if (!entry.isForgotten) this.#wait(entry, 'failure', after.delayMs)
  }

  /** Once for each kind of refusal in a namespace, until a write in it succeeds. */
  #tell({ kind, name }: StatusWrite, error: ApiError): void {
    const key = `${placeOf({ kind, name })} ${error.status} ${error.reason}`
    if (this.#told.has(key)) return
    this.#told.add(key)
    this.#options.log.warn('a status cannot be written', { ...fieldsOf({ kind, name }), error })
  }

  #tellAnew(write: StatusWrite): void {
    const place = `${placeOf(write)} `
    for (const key of this.#told) if (key.startsWith(place)) this.#told.delete(key)
  }

  #forget(entry: StatusEntry): void {
    entry.forget()
    this.#ready.delete(entry)
  }
}

/** Not before it can be coalesced, and whatever a clock that is set back says. */
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
