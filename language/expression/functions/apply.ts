// What a function of the language is: values in, a value out, or a refusal.

import type { Value } from '../value.ts'

/** What functions draw on while they run: the bytes they may still produce, and chance. */
export interface Host {
  budget: number
  /** From 0 up to, never reaching, 1; Math.random when absent. */
  readonly random?: () => number
}

/**
 * Inputs are never changed. `args` are as many as the table says.
 * @throws Refusal saying what the function takes and what it got
 */
export type Apply = (input: Value, args: readonly Value[], host: Host) => Value

/**
 * Looks at what is known of the arguments before there is an input; undefined stands for what waits, and for `_`.
 * @throws Refusal where no input could be served
 */
export type VerifyArguments = (args: readonly (Value | undefined)[]) => void
