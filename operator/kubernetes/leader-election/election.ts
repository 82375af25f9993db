// One Lease, looked at and written again and again; when our turn begins and when it ends out. A turn never outlives
// the last renewal by more than the deadline, whatever the API server, the network or this process does meanwhile.

import type { Clock } from '../../../base/clock.ts'
import type { LeadershipEvents } from '../../leadership.ts'
import { ApiError } from '../client/api.ts'
import { LeaseHold } from './takeover-delay.ts'
import type { LeaseFacts, LeaseLeadership, LeaseLeadershipOptions } from './options.ts'
import type { LeaseRecord } from './lease.ts'
import { releaseLease } from './release.ts'
import { LeaseSight } from './observation.ts'
import { type LeaseStep, nextStep } from './decision.ts'
import { createLeaseStore, type LeaseStore } from './lease-store.ts'
import { LeaseTenure } from './epoch.ts'
import { LeaseTerm, type Moment } from './deadline.ts'

const JITTER_LEAST = 0.75
export const JITTER_MOST = 1.25
/** A write that another one has overtaken is tried again at once this often. */
const MAX_TRIES = 3
/** The longest that a candidate waits because it is told to. */
const LONGEST_WAIT_MS = 30_000
/** So many times `retryMs` its holder has to make a Lease again that was deleted, before others do. */
const REMADE_TRIES = 3

export class LeaseElection implements LeaseLeadership {
  readonly #options: Required<LeaseLeadershipOptions>
  readonly #identity: string
  readonly #store: LeaseStore
  readonly #sight: LeaseSight
  readonly #term: LeaseTerm
  readonly #hold: LeaseHold
  #events: LeadershipEvents | undefined
  #turn: LeaseTenure | undefined
  /** What we wrote last; undefined: something else may stand there, read it first. */
  #basis: LeaseRecord | undefined
  /** Of a Lease that we have seen before we came to be its holder. */
  #trustedUid: string | undefined
  #renewedAtMs: number | undefined
  #trouble: string | undefined
  #hasWritten = false
  #isStopped = false
  #running: Promise<void> | undefined
  #isHurried = false
  #cancelNext: (() => void) | undefined

  constructor(options: Required<LeaseLeadershipOptions>) {
    const { api, namespace, name, identity, clock, monotonicMs } = options
    const { durationMs, renewDeadlineMs } = options
    this.#options = options
    this.#identity = `${identity}_${randomEnd(clock)}`
    // Half of it: one request that hangs does not cost the turn.
    const timeoutMs = renewDeadlineMs / 2
    this.#store = createLeaseStore({ api, name: { namespace, name }, clock, timeoutMs })
    this.#sight = new LeaseSight(durationMs, monotonicMs)
    this.#term = new LeaseTerm(clock, monotonicMs, renewDeadlineMs)
    this.#hold = new LeaseHold(options)
  }

  get isLeading(): boolean {
    this.#checkTerm()
    return this.#turn !== undefined
  }

  get facts(): LeaseFacts {
    return {
      identity: this.#identity,
      isLeading: this.isLeading,
      hasLooked: this.#sight.hasLooked,
      holder: this.#sight.record?.holder ?? '',
      heldSinceMs: this.#sight.record?.acquiredAtMs,
      isExpired: this.#sight.unchangedMs >= this.#sight.expiresMs,
      epoch: this.#sight.record?.epoch ?? 0,
      renewedAtMs: this.#renewedAtMs,
      trouble: this.#trouble,
    }
  }

  start(events: LeadershipEvents): Promise<void> {
    this.#events = events
    this.#schedule(0)
    return Promise.resolve()
  }

  /** Does not call `onLose`. Takes half a renew deadline at most: what could not be given back by then expires. */
  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancelNext?.()
    this.#endTurn()
    const { clock, renewDeadlineMs, log } = this.#options
    const { promise: late, resolve } = Promise.withResolvers<false>()
    const cancel = clock.after(renewDeadlineMs / 2, () => {
      resolve(false)
    })
    if (!(await Promise.race([this.#release(), late]))) {
      log.warn('the lease could not be given back: others wait until it expires')
    }
    cancel()
  }

  #schedule(ms: number): void {
    if (this.#isStopped) return
    this.#cancelNext?.()
    this.#cancelNext = this.#options.clock.after(ms, () => {
      this.#run()
    })
  }

  /** For a data plane that knows a higher epoch: now, and with what stands in the API. */
  #hurry(): void {
    this.#isHurried = true
    if (this.#running === undefined) this.#schedule(0)
  }

  #run(): void {
    // Before anything else: the event loop may have stood still for longer than the lease allows.
    this.#checkTerm()
    if (this.#running !== undefined || this.#isStopped) return
    this.#isHurried = false
    this.#running = this.#attempt().then((delayMs) => {
      this.#running = undefined
      const holdMs = this.#turn === undefined ? this.#hold.leftMs : 0
      this.#schedule(this.#isHurried ? 0 : holdMs > 0 ? Math.min(holdMs, delayMs) : delayMs)
      this.#turn?.settle()
    })
  }

  /** How long to wait for the next one. */
  async #attempt(): Promise<number> {
    const { clock, retryMs } = this.#options
    const delayMs = retryMs * (JITTER_LEAST + clock.random() * (JITTER_MOST - JITTER_LEAST))
    try {
      for (let tries = 0; tries < MAX_TRIES && !this.#isStopped; tries += 1) {
        if (await this.#takeStep()) break
      }
      this.#note(undefined)
      return delayMs
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#basis = undefined
      this.#note(error)
      // However long it asks us to wait: a renewal must be tried while the Lease is ours.
      const longestMs = this.#turn === undefined ? LONGEST_WAIT_MS : 2 * retryMs
      return Math.max(delayMs, Math.min(error.retryAfterMs ?? 0, longestMs))
    }
  }

  /** False: something else stood there, look again. */
  async #takeStep(): Promise<boolean> {
    // A renewal costs one request, as long as nobody else has touched the Lease.
    const isPlain = this.#turn?.isContent === true && this.#basis !== undefined
    const record = isPlain ? this.#basis : await this.#look()
    if (this.#isStopped) return true
    const step = this.#stepFor(record)
    if (step !== 'renew') this.#lose(`it is held by '${record?.holder ?? ''}'`)
    if (step === 'wait') return true
    return this.#write(step, record)
  }

  async #write(
    step: Exclude<LeaseStep, 'wait'>,
    record: LeaseRecord | undefined,
  ): Promise<boolean> {
    const sentAt = this.#term.now()
    const isOurs = step === 'renew' && record !== undefined
    this.#hasWritten = true
    const written = await this.#store.write(record, {
      holder: this.#identity,
      durationMs: this.#options.durationMs,
      epoch: this.#epochFor(step, record),
      renewedAtMs: sentAt.wallMs,
      ...(!isOurs && { acquiredAtMs: sentAt.wallMs }),
    })
    this.#checkTerm()
    this.#basis = written
    if (written === undefined) return false
    this.#sight.take(written)
    if (step === 'acquire') {
      this.#hold.begin({ wasThere: record !== undefined, expiresMs: this.#sight.expiresMs })
    } else if (record === undefined && this.#turn === undefined) {
      // Made again by a leader whose turn was over by then: others may have been there meanwhile.
      return true
    }
    this.#trustedUid = written.uid
    this.#confirm(written, sentAt)
    return true
  }

  async #look(): Promise<LeaseRecord | undefined> {
    const record = await this.#store.read()
    this.#checkTerm()
    const isNews = this.#sight.take(record)
    if (record === undefined || record.holder === this.#identity) return record
    this.#trustedUid = record.uid
    if (isNews && record.holder !== '') {
      const { holder, epoch } = record
      this.#options.log.info('another operator holds the lease', { holder, epoch })
    }
    return record
  }

  #stepFor(record: LeaseRecord | undefined): LeaseStep {
    return nextStep({
      record,
      identity: this.#identity,
      isLeading: this.#turn !== undefined,
      trustedUid: this.#trustedUid,
      unchangedMs: this.#sight.unchangedMs,
      expiresMs: this.#sight.expiresMs,
      remadeMs: this.#options.retryMs * REMADE_TRIES,
    })
  }

  #epochFor(step: LeaseStep, record: LeaseRecord | undefined): number {
    if (step === 'acquire') return this.#sight.highestEpoch + 1
    return Math.max(this.#turn?.wantedEpoch ?? 0, record?.epoch ?? 0)
  }

  /** What was written counts from when it was sent: others may have seen it as early as that. */
  #confirm(written: LeaseRecord, sentAt: Moment): void {
    if (this.#isStopped || this.#term.leftMs(sentAt) <= 0) return
    this.#renewedAtMs = sentAt.wallMs
    if (this.#turn === undefined && this.#hold.leftMs > 0) return
    this.#term.begin(sentAt, () => {
      this.#checkTerm()
    })
    if (this.#turn === undefined) this.#beginTurn(written.epoch)
    else this.#turn.raise(written.epoch)
  }

  #beginTurn(epoch: number): void {
    const turn = new LeaseTenure(epoch, {
      log: this.#options.log,
      check: () => {
        this.#checkTerm()
      },
      hurry: () => {
        this.#hurry()
      },
    })
    this.#turn = turn
    this.#options.log.info('leading', { epoch, holder: this.#identity })
    this.#events?.onLead(turn)
  }

  #checkTerm(): void {
    if (this.#turn !== undefined && this.#term.leftMs() <= 0) {
      this.#lose('it could not be renewed in time')
    }
  }

  #lose(reason: string): void {
    if (this.#turn === undefined) return
    this.#endTurn()
    this.#options.log.warn('no longer leading', { reason, trouble: this.#trouble })
    this.#events?.onLose()
  }

  #endTurn(): void {
    const turn = this.#turn
    this.#turn = undefined
    this.#term.end()
    turn?.end()
  }

  #note(error: ApiError | undefined): void {
    const { log } = this.#options
    const before = this.#trouble
    this.#trouble = error?.message
    if (error !== undefined && before !== error.message) {
      log.warn('the lease could not be read or written', { error })
    }
    if (error === undefined && before !== undefined)
      log.info('the lease can be read and written again')
  }

  async #release(): Promise<boolean> {
    await this.#running
    if (!this.#hasWritten) return true
    const { durationMs, clock } = this.#options
    return releaseLease(this.#store, {
      identity: this.#identity,
      durationMs,
      nowMs: clock.now(),
    })
  }
}

/** Two processes of one name, such as two lives of one pod, must not take each other for themselves. */
const randomEnd = (clock: Clock): string =>
  Math.floor(clock.random() * 36 ** 8)
    .toString(36)
    .padStart(8, '0')
