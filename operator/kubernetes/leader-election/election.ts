// Runs the election: reads and writes one Lease repeatedly, and notifies when we begin and cease to lead. A leader term
// never outlasts the last renewal by more than the renew deadline, whatever the API server, the network or this process
// does meanwhile.

import type { Clock } from '../../../base/clock.ts'
import { withTimeout } from '../../../base/timeout.ts'
import type { LeadershipEvents } from '../../leadership.ts'
import { ApiError } from '../client/api.ts'
import {
  LeaseObservation,
  type LeaseStep,
  type Moment,
  nextStep,
  RenewDeadline,
  takeoverDelayMs,
} from './decision.ts'
import {
  LeaderTerm,
  type LeaseFacts,
  type LeaseLeadership,
  type LeaseLeadershipOptions,
} from './leadership.ts'
import { createLeaseStore, type LeaseRecord, type LeaseStore, releaseLease } from './lease.ts'
import { type ElectionEvent, type ElectionPhase, nextPhase } from './phase.ts'

const LEAST_JITTER = 0.75
const MOST_JITTER = 1.25
/** A write that another one has overtaken is tried again at once this often. */
const MAX_TRIES = 3
/** The longest that a candidate waits because the API server asks it to. */
const LONGEST_WAIT_MS = 30_000
/** The leader has this many times `retryMs` to create a deleted Lease again, before others do. */
const RECREATE_TRIES = 3

/**
 * Elects as client-go does (LeaderElector), and is stricter in three things: a holder stops `renewDeadlineMs` after
 * the last renewal that succeeded, not after a round of trying; a Lease that was created where there was none is held
 * for a while before its holder acts; a leader term is handed an epoch above all before it, which is
 * `leaseTransitions`, or an annotation where an int32 can't hold it.
 * @throws Error where the times contradict each other: a holder must have stopped before others take over
 * @example createLeaseLeadership({ api, namespace: 'svc', name: 'svc-operator', format, identity: 'operator-7d4f', clock, log })
 */
export const createLeaseLeadership = ({
  durationMs = 15_000,
  renewDeadlineMs = 10_000,
  retryMs = 2_000,
  monotonicMs = () => performance.now(),
  ...options
}: LeaseLeadershipOptions): LeaseLeadership => {
  if (renewDeadlineMs >= durationMs || retryMs * MOST_JITTER >= renewDeadlineMs) {
    const times = `${durationMs}, ${renewDeadlineMs} and ${retryMs} ms`
    throw new Error(`durationMs > renewDeadlineMs > retryMs must hold, with room: not ${times}`)
  }
  return new LeaseElection({ ...options, durationMs, renewDeadlineMs, retryMs, monotonicMs })
}

/** What the loop does: at most one attempt is under way, or one is to come. */
type Loop =
  | { readonly state: 'idle' }
  | { readonly state: 'waiting'; readonly cancel: () => void }
  | { readonly state: 'attempting'; readonly ended: Promise<void>; readonly next: 'later' | 'now' }

/**
 * What our writes have left in the API: nothing, as no write was ever sent; `unknown`, as one was sent and the Lease
 * may have changed since; or this record, as far as we know.
 */
type LastWrite = 'none' | 'unknown' | LeaseRecord

class LeaseElection implements LeaseLeadership {
  readonly #options: Required<LeaseLeadershipOptions>
  readonly #identity: string
  readonly #store: LeaseStore
  readonly #observation: LeaseObservation
  readonly #deadline: RenewDeadline
  #events: LeadershipEvents | undefined
  /** Changes in `#apply` alone. */
  #phase: ElectionPhase<LeaderTerm> = { name: 'candidate' }
  #loop: Loop = { state: 'idle' }
  #lastWrite: LastWrite = 'none'
  /** The UID of the Lease that we have seen before we became its holder. */
  #trustedUid: string | undefined
  #renewedAtMs: number | undefined
  #failure: string | undefined

  constructor(options: Required<LeaseLeadershipOptions>) {
    const { api, namespace, name, format, identity, clock, monotonicMs } = options
    const { durationMs, renewDeadlineMs } = options
    this.#options = options
    this.#identity = `${identity}_${randomSuffix(clock)}`
    // Half of it: one request that hangs does not cost the term.
    const timeoutMs = renewDeadlineMs / 2
    this.#store = createLeaseStore({ api, name: { namespace, name }, format, clock, timeoutMs })
    this.#observation = new LeaseObservation(durationMs, monotonicMs)
    this.#deadline = new RenewDeadline(clock, monotonicMs, renewDeadlineMs)
  }

  get isLeading(): boolean {
    this.#checkDeadline()
    return this.#term !== undefined
  }

  get facts(): LeaseFacts {
    const { record, hasLooked, unchangedMs, expiresMs } = this.#observation
    return {
      identity: this.#identity,
      isLeading: this.isLeading,
      hasLooked,
      holder: record?.holder ?? '',
      heldSinceMs: record?.acquiredAtMs,
      isExpired: unchangedMs >= expiresMs,
      epoch: record?.epoch ?? 0,
      renewedAtMs: this.#renewedAtMs,
      failure: this.#failure,
    }
  }

  start(events: LeadershipEvents): Promise<void> {
    this.#events = events
    this.#attemptAfter(0)
    return Promise.resolve()
  }

  /**
   * Does not call `onLose`. Takes half a renew deadline at most: a Lease that could not be released by then expires.
   */
  async stop(): Promise<void> {
    if (this.#isStopped) return
    if (this.#loop.state === 'waiting') this.#loop.cancel()
    this.#apply({ type: 'stopped' })
    const { clock, renewDeadlineMs, log } = this.#options
    const isReleased = await withTimeout(this.#release(), {
      ms: renewDeadlineMs / 2,
      clock,
      onTimeout: () => false,
    })
    if (!isReleased)
      log.warn('the lease could not be released: other replicas wait until it expires')
  }

  get #term(): LeaderTerm | undefined {
    return this.#phase.name === 'leader' ? this.#phase.term : undefined
  }

  get #isStopped(): boolean {
    return this.#phase.name === 'stopped'
  }

  /** The one place where the phase changes, and where a leader term begins and ends. */
  #apply(event: ElectionEvent<LeaderTerm>): void {
    const before = this.#phase
    const after = nextPhase(before, event)
    this.#phase = after
    if (after.name === 'leader') {
      if (after !== before) this.#extendDeadline(after.renewedAt)
      if (before.name !== 'leader') this.#beginTerm(after.term)
    } else if (before.name === 'leader') {
      this.#endTerm(before.term, event)
    }
  }

  #extendDeadline(renewedAt: Moment): void {
    this.#deadline.extend(renewedAt, () => {
      this.#checkDeadline()
    })
  }

  #beginTerm(term: LeaderTerm): void {
    this.#options.log.info('leading', { epoch: term.wantedEpoch, holder: this.#identity })
    this.#events?.onLead(term)
  }

  #endTerm(term: LeaderTerm, event: ElectionEvent<LeaderTerm>): void {
    this.#deadline.clear()
    term.end()
    if (event.type === 'stopped') return
    const reason = event.type === 'lost' ? event.reason : event.type
    this.#options.log.warn('no longer leading', { reason, failure: this.#failure })
    this.#events?.onLose()
  }

  #attemptAfter(ms: number): void {
    if (this.#isStopped) return
    if (this.#loop.state === 'waiting') this.#loop.cancel()
    const cancel = this.#options.clock.after(ms, () => {
      this.#attempt()
    })
    this.#loop = { state: 'waiting', cancel }
  }

  /** For a data plane that knows a higher epoch: at once, and from what the API has. */
  #renewNow(): void {
    if (this.#loop.state === 'attempting') this.#loop = { ...this.#loop, next: 'now' }
    else this.#attemptAfter(0)
  }

  #attempt(): void {
    // Before anything else: the event loop may have stood still for longer than the lease allows.
    this.#checkDeadline()
    if (this.#isStopped || this.#loop.state === 'attempting') return
    const ended = this.#tryToHold().then((delayMs) => {
      const isDueNow = this.#loop.state === 'attempting' && this.#loop.next === 'now'
      this.#loop = { state: 'idle' }
      this.#attemptAfter(isDueNow ? 0 : this.#untilNextMs(delayMs))
      this.#term?.wakeChallenges()
    })
    this.#loop = { state: 'attempting', ended, next: 'later' }
  }

  /** A holder whose takeover delay is over begins to lead at once, by renewing. */
  #untilNextMs(delayMs: number): number {
    if (this.#phase.name !== 'taking_over') return delayMs
    const takeoverMs = this.#phase.leadsFromMs - this.#options.monotonicMs()
    return takeoverMs > 0 ? Math.min(takeoverMs, delayMs) : delayMs
  }

  /** @returns how long to wait for the next attempt, milliseconds */
  async #tryToHold(): Promise<number> {
    const { clock, retryMs } = this.#options
    const delayMs = retryMs * (LEAST_JITTER + clock.random() * (MOST_JITTER - LEAST_JITTER))
    try {
      for (let tries = 0; tries < MAX_TRIES && !this.#isStopped; tries += 1) {
        if ((await this.#takeStep()) === 'done') break
      }
      this.#noteFailure(undefined)
      return delayMs
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#invalidateLastWrite()
      this.#noteFailure(error)
      // However long the server asks us to wait: a renewal must be tried while the Lease is ours.
      const longestMs = this.#term === undefined ? LONGEST_WAIT_MS : 2 * retryMs
      return Math.max(delayMs, Math.min(error.retryAfterMs ?? 0, longestMs))
    }
  }

  async #takeStep(): Promise<'done' | 'overtaken'> {
    const record = this.#knownRecord() ?? (await this.#read())
    if (this.#isStopped) return 'done'
    const step = this.#nextStep(record)
    if (step !== 'renew') {
      this.#apply({ type: 'lost', reason: reasonOfLoss(record?.holder ?? '') })
    }
    return step === 'wait' ? 'done' : this.#write(step, record)
  }

  /** A plain renewal costs one request, as long as no other replica has written the Lease. */
  #knownRecord(): LeaseRecord | undefined {
    const isPlainRenewal = this.#term?.wantsHigherEpoch === false
    return isPlainRenewal && typeof this.#lastWrite === 'object' ? this.#lastWrite : undefined
  }

  async #read(): Promise<LeaseRecord | undefined> {
    const record = await this.#store.read()
    this.#checkDeadline()
    const hasNewHolder = this.#observation.observe(record)
    if (record === undefined || record.holder === this.#identity) return record
    this.#trustedUid = record.uid
    if (hasNewHolder && record.holder !== '') {
      const { holder, epoch } = record
      this.#options.log.info('another operator holds the lease', { holder, epoch })
    }
    return record
  }

  #nextStep(record: LeaseRecord | undefined): LeaseStep {
    return nextStep({
      record,
      identity: this.#identity,
      isLeading: this.#term !== undefined,
      trustedUid: this.#trustedUid,
      unchangedMs: this.#observation.unchangedMs,
      expiresMs: this.#observation.expiresMs,
      recreatedMs: this.#options.retryMs * RECREATE_TRIES,
    })
  }

  async #write(
    step: Exclude<LeaseStep, 'wait'>,
    before: LeaseRecord | undefined,
  ): Promise<'done' | 'overtaken'> {
    const sentAt = this.#deadline.now()
    const isRenewal = step === 'renew' && before !== undefined
    this.#lastWrite = 'unknown'
    const written = await this.#store.write(before, {
      holder: this.#identity,
      durationMs: this.#options.durationMs,
      epoch: this.#epochFor(step, before),
      renewedAtMs: sentAt.wallMs,
      ...(!isRenewal && { acquiredAtMs: sentAt.wallMs }),
    })
    this.#checkDeadline()
    if (written === undefined) return 'overtaken'
    this.#lastWrite = written
    this.#observation.observe(written)
    if (step === 'acquire') {
      this.#acquire(before !== undefined)
    } else if (before === undefined && this.#term === undefined) {
      // Created again by a leader whose term was over by then: others may have held it meanwhile.
      return 'done'
    }
    this.#trustedUid = written.uid
    this.#confirm(written, sentAt)
    return 'done'
  }

  #epochFor(step: Exclude<LeaseStep, 'wait'>, record: LeaseRecord | undefined): number {
    if (step === 'acquire') return this.#observation.highestEpoch + 1
    return Math.max(this.#term?.wantedEpoch ?? 0, record?.epoch ?? 0)
  }

  #acquire(wasThere: boolean): void {
    const { durationMs, renewDeadlineMs, monotonicMs } = this.#options
    const { expiresMs } = this.#observation
    const delayMs = takeoverDelayMs({ durationMs, renewDeadlineMs, wasThere, expiresMs })
    this.#apply({ type: 'acquired', leadsFromMs: monotonicMs() + delayMs })
  }

  /** A write counts from when it was sent: others may have seen it as early as that. */
  #confirm(written: LeaseRecord, sentAt: Moment): void {
    if (this.#isStopped || this.#deadline.leftMs(sentAt) <= 0) return
    this.#renewedAtMs = sentAt.wallMs
    const nowMs = this.#options.monotonicMs()
    const createTerm = (): LeaderTerm => this.#createTerm(written.epoch)
    this.#apply({ type: 'confirmed', sentAt, nowMs, createTerm })
    this.#term?.raiseEpoch(written.epoch)
  }

  #createTerm(epoch: number): LeaderTerm {
    return new LeaderTerm(epoch, {
      log: this.#options.log,
      checkDeadline: () => {
        this.#checkDeadline()
      },
      renewNow: () => {
        this.#renewNow()
      },
    })
  }

  #checkDeadline(): void {
    if (this.#term !== undefined && this.#deadline.leftMs() <= 0) {
      this.#apply({ type: 'lost', reason: 'the lease could not be renewed in time' })
    }
  }

  #invalidateLastWrite(): void {
    if (this.#lastWrite !== 'none') this.#lastWrite = 'unknown'
  }

  #noteFailure(error: ApiError | undefined): void {
    const { log } = this.#options
    const before = this.#failure
    this.#failure = error?.message
    if (error !== undefined && before !== error.message) {
      log.warn('the lease could not be read or written', { error })
    } else if (error === undefined && before !== undefined) {
      log.info('the lease can be read and written again')
    }
  }

  async #release(): Promise<boolean> {
    await (this.#loop.state === 'attempting' ? this.#loop.ended : undefined)
    if (this.#lastWrite === 'none') return true
    const { durationMs, clock } = this.#options
    const holder = { identity: this.#identity, durationMs, nowMs: clock.now() }
    return releaseLease(this.#store, holder)
  }
}

const reasonOfLoss = (holder: string): string =>
  holder === '' ? 'the holder was removed from the lease' : `'${holder}' holds the lease`

/** Keeps two processes of one name, such as two lives of one pod, from mistaking each other for themselves. */
const randomSuffix = (clock: Clock): string =>
  Math.floor(clock.random() * 36 ** 8)
    .toString(36)
    .padStart(8, '0')
