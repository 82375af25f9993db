// Runs a task repeatedly and never twice at a time. The task returns when it wants to run next; while it fails, the
// waits between runs grow.

import { backOffMs, DEFAULT_BACK_OFF } from './back-off.ts'
import type { Clock } from './clock.ts'
import { SerialQueue } from './serial-queue.ts'

/**
 * Never rejects.
 * @returns after how many milliseconds again, about; `failed`: after the next pause; undefined: once it is asked for
 */
export type LoopTask = () => Promise<number | 'failed' | undefined>

/** @example new TaskLoop(clock, async () => ((await source.read()) ? 60_000 : 'failed')).trigger() */
export class TaskLoop {
  readonly #clock: Clock
  readonly #task: LoopTask
  #failures = 0
  #isLeading = false
  #isStopped = false
  readonly #queue = new SerialQueue()
  #cancelTimer = (): void => undefined

  constructor(clock: Clock, task: LoopTask) {
    this.#clock = clock
    this.#task = task
  }

  /** Runs the task now, or after what is under way, instead of at the next planned time. */
  trigger(): void {
    this.pause()
    void this.exclusively(() => this.#runOnce())
  }

  /** Runs something else that must not happen at the same time as the task. */
  exclusively(task: () => Promise<void>): Promise<void> {
    return this.#queue.run(async () => {
      if (!this.#isStopped) await task()
    })
  }

  /** Cancels the next planned run. One that is under way goes on. */
  pause(): void {
    this.#cancelTimer()
  }

  /** For work of the leader alone: its term begins, and the task runs. */
  lead(): void {
    this.#isLeading = true
    this.trigger()
  }

  /** Another replica leads now. */
  follow(): void {
    this.#isLeading = false
    this.pause()
  }

  /** Leading and not stopped; to be asked again after each wait. A method, so that the compiler does not narrow it. */
  mayAct(): boolean {
    return this.#isLeading && !this.#isStopped
  }

  hasStopped(): boolean {
    return this.#isStopped
  }

  /** Nothing begins from now on. Resolves when nothing is under way. */
  stop(): Promise<void> {
    this.#isStopped = true
    this.pause()
    return this.#queue.idle()
  }

  async #runOnce(): Promise<void> {
    const next = await this.#task()
    this.#failures = next === 'failed' ? this.#failures + 1 : 0
    this.pause()
    if (next === undefined || this.#isStopped) return
    this.#cancelTimer = this.#clock.after(this.#waitMs(next), () => {
      this.trigger()
    })
  }

  /** The jitter keeps several operators from asking all at the same moment. */
  #waitMs(next: number | 'failed'): number {
    const random = this.#clock.random()
    return next === 'failed'
      ? backOffMs(this.#failures + 1, DEFAULT_BACK_OFF, random)
      : next * (0.9 + 0.2 * random)
  }
}
