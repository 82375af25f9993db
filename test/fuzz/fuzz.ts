// Feeds a reader of hostile input with real inputs and with mutations of them until time or count is over, and reports
// the first one that breaks a property, made as small as is simple.

import { setImmediate } from 'node:timers/promises'
import { seededRandom } from '../support/seeded-random.ts'

/** Numbers in [0, 1). */
export type Random = () => number

export interface FuzzTarget {
  /** As `FUZZ_TARGET` names it. */
  readonly name: string
  /** Real inputs. They are checked too. */
  readonly seeds: readonly Buffer[]
  /** An input made of another one; the same for the same numbers. `pool`: seeds, and inputs that showed something new. */
  readonly mutate: (input: Buffer, random: Random, pool: readonly Buffer[]) => Buffer
  /** Makes what the checks of a run share. */
  readonly open: () => Checker | Promise<Checker>
}

export interface Checker {
  /**
   * Tells in a few words what became of the input, such as the reason why it was refused: an input with words that
   * were not heard before is mutated further.
   * @throws Error for a violated property
   */
  check(input: Buffer): string | Promise<string>
  close?(): Promise<void>
}

export interface FuzzPlan {
  /** Of all mutations: the same seed gives the same inputs in the same order. */
  readonly seed: number
  /** Checked before the seeds. */
  readonly corpus: readonly Buffer[]
  /** Asked before each mutation. */
  readonly isOver: (cases: number) => boolean
  /** Told before each check: what is checked when the process ends. */
  readonly onCase?: (input: Buffer) => void
}

export interface Failure {
  readonly input: Buffer
  /** Of the input as it was found. */
  readonly foundBytes: number
  readonly error: Error
}

export interface FuzzReport {
  readonly target: string
  readonly cases: number
  /** How many different words were heard. */
  readonly outcomes: number
  /** How often each was. */
  readonly tally: ReadonlyMap<string, number>
  /** The check that took longest. */
  readonly slowest: { readonly ms: number; readonly input: Buffer }
  readonly failure: Failure | undefined
}

/**
 * Ends at the first failure.
 * @example
 * const report = await fuzz(target, { seed: 1, corpus: [], isOver: (cases) => cases >= 1000 })
 * if (report.failure) console.error(report.failure.error, repeatCommand(target.name, report.failure.input))
 */
export const fuzz = async (target: FuzzTarget, plan: FuzzPlan): Promise<FuzzReport> => {
  const checker = await target.open()
  try {
    return await new Run(target, checker, plan).all()
  } finally {
    await checker.close?.()
  }
}

/** Checks one input, without mutations. @throws what the check throws */
export const repeat = async (target: FuzzTarget, input: Buffer): Promise<string> => {
  const checker = await target.open()
  try {
    return await checker.check(input)
  } finally {
    await checker.close?.()
  }
}

/** A line for the shell that checks the input again. */
export const repeatCommand = (target: string, input: Buffer): string =>
  `make fuzz FUZZ_TARGET=${target} FUZZ_INPUT=${input.toString('base64')}`

const CASES_OF_A_TURN = 1000
/** Inputs that are mutated besides the seeds. */
const MAX_POOL = 1000
/** What is spent on making a failure smaller. */
const MAX_ATTEMPTS = 600
const MAX_SHRINK_MS = 20_000

class Run {
  readonly #target: FuzzTarget
  readonly #checker: Checker
  readonly #plan: FuzzPlan
  readonly #pool: Buffer[]
  readonly #tally = new Map<string, number>()
  #cases = 0
  #slowest: FuzzReport['slowest'] = { ms: 0, input: Buffer.alloc(0) }

  constructor(target: FuzzTarget, checker: Checker, plan: FuzzPlan) {
    this.#target = target
    this.#checker = checker
    this.#plan = plan
    this.#pool = [...target.seeds]
  }

  async all(): Promise<FuzzReport> {
    for (const input of [...this.#plan.corpus, ...this.#target.seeds]) {
      const error = await this.#tryOne(input)
      if (error !== undefined) return this.#report(await this.#shrink(input, error))
    }
    while (!this.#plan.isOver(this.#cases)) {
      // What lies outside of the heap is freed by the event loop alone.
      if (this.#cases % CASES_OF_A_TURN === 0) await setImmediate()
      const input = this.#next()
      const error = await this.#tryOne(input)
      if (error !== undefined) return this.#report(await this.#shrink(input, error))
    }
    return this.#report(undefined)
  }

  #next(): Buffer {
    const random = seededRandom(mixed(`${this.#plan.seed} ${this.#target.name} ${this.#cases}`))
    const parent = this.#pool[Math.floor(random() * this.#pool.length)] ?? Buffer.alloc(0)
    return this.#target.mutate(parent, random, this.#pool)
  }

  /** Gives what was thrown. */
  async #tryOne(input: Buffer): Promise<Error | undefined> {
    this.#cases++
    this.#plan.onCase?.(input)
    const startMs = performance.now()
    try {
      const outcome = await this.#checker.check(input)
      const count = this.#tally.get(outcome)
      if (count === undefined && this.#tally.size < MAX_POOL) this.#pool.push(input)
      if (count !== undefined || this.#tally.size < MAX_POOL)
        this.#tally.set(outcome, (count ?? 0) + 1)
      return undefined
    } catch (error) {
      return asError(error)
    } finally {
      const ms = performance.now() - startMs
      if (ms > this.#slowest.ms) this.#slowest = { ms, input }
    }
  }

  /** Leaves out parts, halves first, as long as the same property is violated. */
  async #shrink(found: Buffer, error: Error): Promise<Failure> {
    const untilMs = performance.now() + MAX_SHRINK_MS
    let attempts = 0
    let best: Failure = { input: found, foundBytes: found.length, error }
    for (let size = found.length >> 1; size >= 1; size >>= 1) {
      for (let at = 0; at < best.input.length;) {
        if (++attempts > MAX_ATTEMPTS || performance.now() > untilMs) return best
        const { input } = best
        const smaller: Buffer = Buffer.concat([input.subarray(0, at), input.subarray(at + size)])
        const thrown = await this.#tryOne(smaller)
        if (thrown !== undefined && kindOf(thrown) === kindOf(error))
          best = { ...best, input: smaller, error: thrown }
        else at += size
      }
    }
    return best
  }

  #report(failure: Failure | undefined): FuzzReport {
    return {
      target: this.#target.name,
      cases: this.#cases,
      outcomes: this.#tally.size,
      tally: this.#tally,
      slowest: this.#slowest,
      failure,
    }
  }
}

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(`thrown: ${String(thrown)}`)

/** Numbers and quoted texts differ from input to input. */
const kindOf = ({ name, message }: Error): string =>
  `${name} ${message.replaceAll(/"[^]*"|'[^]*'|\d+/g, '').slice(0, 60)}`

/** FNV-1a. */
const mixed = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  return hash
}
