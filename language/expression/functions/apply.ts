// Defines what a function of the expression language is: it gives a value for values, or throws a `Refusal`.

import type { Value } from '../value.ts'

/** What functions use while they run: the bytes they may still produce, the work that is left, and a random source. */
export interface Host {
  budget: number
  /** Units of work that are left, as `spend.ts` counts them; absent until something is done. */
  work?: number | undefined
  /** From 0 up to, never reaching, 1; Math.random when absent. */
  readonly random?: () => number
}

/**
 * Inputs are never changed. `args` are as many as the table says.
 * @throws FunctionError saying what the function takes and what it got
 */
export type Apply = (input: Value, args: readonly Value[], host: Host) => Value

/**
 * Looks at what is known of the arguments before there is an input; undefined stands for what waits, and for `_`.
 * @throws Refusal where no input could be served
 */
export type VerifyArguments = (args: readonly (Value | undefined)[]) => void
