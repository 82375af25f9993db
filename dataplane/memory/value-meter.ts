// Counts the values that a body decodes to while it is decoded, or before, and ends the decoding when they are too
// many: a body of 4 MB may else become a gigabyte of empty maps.

import { countInSteps, type JsonMarks, NO_MARKS } from '../../language/wire/json-weight.ts'
import { DecodeError } from '../decode-error.ts'
import { ENFORCED, type LimitPolicy } from '../limit-policy.ts'
import { DEFAULT_VALUE_LIMITS, type Holding, type ValueLimits } from './memory-budget.ts'

/** JSON of so many bytes can't break the limits of a meter that nobody pays: each container takes two. */
export const HARMLESS_JSON_BYTES = 2 * DEFAULT_VALUE_LIMITS.containers

/** What V8 takes, measured: `{}` in a list 64 to 76 bytes, `{a1: 1}` with a shape of its own 250. */
const CONTAINER_BYTES = 128
/** A number that is no small integer 16 and its place 8, an entry of a large map with its key up to 100 for both. */
const VALUE_BYTES = 48

export class ValueMeter {
  readonly #limits: ValueLimits
  readonly #holding: Holding | undefined
  readonly #policy: LimitPolicy
  #values = 1
  #containers = 0
  #isReported = false

  /** @param holding pays for the values; without it only the limits count */
  constructor(holding?: Holding) {
    this.#holding = holding
    this.#limits = holding?.valueLimits ?? DEFAULT_VALUE_LIMITS
    this.#policy = holding?.limits ?? ENFORCED
  }

  /**
   * Lists and maps that are about to be decoded, and how many values are in them; a key of a map is one.
   * @throws DecodeError `too_many_values`, `no_memory`
   */
  count(containers: number, values: number): void {
    const limits = this.#limits
    this.#containers += containers
    this.#values += values
    if (this.#containers > limits.containers)
      this.#exceed(`the body has more than ${limits.containers} lists and maps`)
    else if (this.#values > limits.values)
      this.#exceed(`the body has more than ${limits.values} values`)
    this.#pay(containers * CONTAINER_BYTES + values * VALUE_BYTES)
  }

  /**
   * The text of the body and the texts in it, which may be as long in all.
   * @throws DecodeError `too_many_values`, `no_memory`
   */
  countText(bytes: number): void {
    this.#pay(2 * bytes)
  }

  #exceed(message: string): void {
    if (this.#isReported) return
    if (this.#policy.refuses('body_values')) throw new DecodeError('too_many_values', message)
    this.#isReported = true
  }

  #pay(bytes: number): void {
    if (this.#holding?.reserveValues(bytes) === false)
      throw new DecodeError('no_memory', 'there is no memory for the body now')
  }
}

/** Shorter JSON is not counted: it pays for what it could be at most, `[[],[],…]`. */
const SHORT_JSON_BYTES = 2048
const MOST_PER_JSON_BYTE = 24

/**
 * Counts what a JSON text will be parsed to, without parsing it: one or two nanoseconds per byte. What is no JSON is
 * counted too, somehow.
 *
 * @throws DecodeError `too_many_values`, `no_memory`
 */
export const countJson = (bytes: Uint8Array, meter: ValueMeter): void => {
  if (bytes.length <= SHORT_JSON_BYTES) {
    meter.countText((MOST_PER_JSON_BYTE / 2) * bytes.length)
    return
  }
  let before = NO_MARKS
  for (const marks of countInSteps(bytes)) {
    meter.count(marks.containers - before.containers, valuesIn(marks) - valuesIn(before))
    before = marks
  }
}

/** At least: keys are values, too. */
const valuesIn = ({ containers, commas, colons }: JsonMarks): number => containers + commas + colons
