// Runs rounds with one data plane, one at a time: at once when something has changed, otherwise at every poll, and after a
// back-off if a round has failed.

import { backOffMs, DEFAULT_BACK_OFF } from '../../base/back-off.ts'
import type { Clock } from '../../base/clock.ts'
import { LapsingPermit } from './lapsing-permit.ts'
import type { Neighbourhood } from './neighbourhood.ts'
import type { RoundResult } from './sync/plane-memory.ts'

export interface RoundLoopOptions {
  readonly clock: Clock
  readonly acquirePermit: Neighbourhood['acquirePermit']
  readonly urgency: () => number
  readonly pollMs: number
  /** A round that receives nothing for this time gives its permit to another data plane. */
  readonly patienceMs: number
  /** The data plane was created just now and has not responded so far: it is tried at least every second. */
  readonly isStarting: () => boolean
  readonly runRound: () => Promise<RoundResult>
  /** Gives the result of a round that has thrown. */
  readonly onThrown: (error: unknown) => RoundResult
  /** Not called any more once the loop is stopped. */
  readonly onResult: (result: RoundResult) => void
}

/** What the loop does at the moment. */
type Phase =
  /** Not started, or between two other phases. */
  | { readonly name: 'idle' }
  /** Waits for a permit. */
  | { readonly name: 'queued' }
  | { readonly name: 'running'; readonly permit: LapsingPermit; readonly hasResponse: boolean }
  /** Waits for the next poll; a change ends the wait. */
  | { readonly name: 'polling'; readonly endWait: () => void }
  /** Waits for the full time, whatever changes meanwhile. */
  | { readonly name: 'backing_off'; readonly endWait: () => void }
  /** Ended for good. */
  | { readonly name: 'stopped' }

/** How many rounds in a row have ended like that. */
export interface RoundStreak {
  readonly failures: number
  readonly moved: number
}

/** @internal for tests */
export const NO_STREAK: RoundStreak = { failures: 0, moved: 0 }

export type NextRound = 'at_once' | 'poll' | 'back_off'

/** In so many rounds in a row something may change meanwhile before that counts as a failure. */
const MAX_MOVED = 3
const STARTING_BACK_OFF_MS = 1_000
/** Spreads the polls of data planes that were found at the same time. */
const JITTER = 0.1
/** Polls that are due at nearly the same time are made together, as each wake-up cost more than the poll itself. */
const TOGETHER = 0.1

/**
 * Says when the round after this one runs.
 * @internal for tests
 * @example afterRound({ failures: 2, moved: 0 }, 'back_off') // → { next: 'back_off', streak: { failures: 3, moved: 0 } }
 */
export const afterRound = (
  before: RoundStreak,
  wanted: RoundResult['next'],
): { readonly next: NextRound; readonly streak: RoundStreak } => {
  const moved = wanted === 'moved' ? before.moved + 1 : 0
  const next = NEXT_ROUND[wanted](moved)
  return { next, streak: { failures: next === 'back_off' ? before.failures + 1 : 0, moved } }
}

const NEXT_ROUND = {
  moved: (moved) => (moved > MAX_MOVED ? 'back_off' : 'at_once'),
  again: () => 'at_once',
  poll: () => 'poll',
  back_off: () => 'back_off',
} satisfies Record<RoundResult['next'], (moved: number) => NextRound>

export class RoundLoop {
  readonly #options: RoundLoopOptions
  readonly #closing = new AbortController()
  #phase: Phase = { name: 'idle' }
  #streak = NO_STREAK
  #hasChanged = false
  #ended: Promise<void> | undefined

  constructor(options: RoundLoopOptions) {
    this.#options = options
  }

  /** Aborted when the loop is stopped: nothing may be sent any more. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** Something has changed since the last round began. */
  get hasChanged(): boolean {
    return this.#hasChanged
  }

  /** The last round has failed, and the data plane has not responded since. */
  get isFailing(): boolean {
    const hasResponse = this.#phase.name === 'running' && this.#phase.hasResponse
    return this.#streak.failures > 0 && !hasResponse
  }

  start(): void {
    this.#ended ??= this.#run()
  }

  /** Something has changed: runs a round soon, or when a back-off is over. */
  wake(): void {
    this.#hasChanged = true
    if (this.#phase.name === 'polling') this.#phase.endWait()
  }

  /** The data plane has responded: the round that is under way is not stuck. */
  noteResponse(): void {
    if (this.#phase.name !== 'running') return
    this.#phase.permit.progress()
    this.#phase = { ...this.#phase, hasResponse: true }
  }

  /** Resolves when no round is under way; the caller closes the connection that one may wait for. */
  async stop(reason: Error): Promise<void> {
    const before = this.#phase
    this.#phase = { name: 'stopped' }
    this.#closing.abort(reason)
    if (before.name === 'polling' || before.name === 'backing_off') before.endWait()
    await this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#isStopped()) {
      const result = await this.#runRound()
      if (this.#isStopped()) return
      this.#options.onResult(result)
      const { next, streak } = afterRound(this.#streak, result.next)
      this.#streak = streak
      await this.#waitFor(next)
    }
  }

  async #runRound(): Promise<RoundResult> {
    const { acquirePermit, urgency, clock, patienceMs } = this.#options
    this.#enter({ name: 'queued' })
    let permit: LapsingPermit | undefined
    try {
      const release = await acquirePermit({ urgency, signal: this.signal })
      permit = new LapsingPermit(release, clock, patienceMs)
      this.#enter({ name: 'running', permit, hasResponse: false })
      this.#hasChanged = false
      return await this.#options.runRound()
    } catch (error) {
      return this.#options.onThrown(error)
    } finally {
      permit?.release()
      this.#enter({ name: 'idle' })
    }
  }

  async #waitFor(next: NextRound): Promise<void> {
    if (next === 'at_once' || (next === 'poll' && this.#hasChanged) || this.#isStopped()) return
    const ms = next === 'back_off' ? this.#backOffMs() : this.#untilPollMs()
    const name = next === 'back_off' ? 'backing_off' : 'polling'
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve)
      const endWait = (): void => {
        cancel()
        resolve()
      }
      this.#enter({ name, endWait })
    })
    this.#enter({ name: 'idle' })
  }

  /** Does nothing once the loop is stopped, as a permit may be given, or a round end, after that. */
  #enter(phase: Phase): void {
    if (!this.#isStopped()) this.#phase = phase
  }

  /** A method, so that the compiler does not narrow it: it changes while something is awaited. */
  #isStopped(): boolean {
    return this.#phase.name === 'stopped'
  }

  #untilPollMs(): number {
    const { pollMs, clock } = this.#options
    const ms = pollMs * (1 + JITTER * clock.random())
    const together = pollMs * TOGETHER
    const nowMs = clock.now()
    return Math.ceil((nowMs + ms) / together) * together - nowMs
  }

  #backOffMs(): number {
    const { clock, isStarting } = this.#options
    const ms = backOffMs(this.#streak.failures, DEFAULT_BACK_OFF, clock.random())
    return isStarting() ? Math.min(ms, STARTING_BACK_OFF_MS) : ms
  }
}
