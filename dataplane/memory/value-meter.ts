// Counts the values that a body decodes to, before or while it is decoded, and stops the decoding when there are too
// many: otherwise a body of 4 MB may become a gigabyte of empty maps.

import { countInSteps, type JsonMarks, NO_MARKS } from '../../base/json-weight.ts'
import { DecodeError } from '../decode-error.ts'
import { type Holding, MAX_BODY_VALUES } from './memory-budget.ts'

/** The share of the values that may be lists and maps, which take several times the memory of the others. */
const CONTAINERS = 0.1

/** JSON of this many bytes cannot exceed the limits of a meter without a holding: each container takes two bytes. */
export const HARMLESS_JSON_BYTES = 2 * CONTAINERS * MAX_BODY_VALUES

/** What V8 takes, measured: `{}` in a list 64 to 76 bytes, `{a1: 1}` with a shape of its own 250. */
const CONTAINER_BYTES = 128
/**
 * A number that is no small integer takes 16 and its slot 8; an entry of a large map with its key up to 100 for both.
 */
const VALUE_BYTES = 48

export class ValueMeter {
  readonly #maxValues: number
  readonly #maxContainers: number
  readonly #holding: Holding | undefined
  #values = 1
  #containers = 0

  /** @param holding is charged for the values; without it only the limits apply */
  constructor(holding?: Holding) {
    this.#holding = holding
    this.#maxValues = holding?.maxBodyValues ?? MAX_BODY_VALUES
    this.#maxContainers = Math.floor(CONTAINERS * this.#maxValues)
  }

  /**
   * Counts lists and maps that are about to be decoded, and the values in them; a key of a map is a value.
   * @throws DecodeError `too_many_values`, `no_memory`
   */
  count(containers: number, values: number): void {
    this.#containers += containers
    this.#values += values
    if (this.#containers > this.#maxContainers)
      throw tooManyValues(`${this.#maxContainers} lists and maps`)
    if (this.#values > this.#maxValues) throw tooManyValues(`${this.#maxValues} values`)
    this.#pay(containers * CONTAINER_BYTES + values * VALUE_BYTES)
  }

  /**
   * Counts the text of the body and the strings in it, which together may be as long again.
   * @throws DecodeError `too_many_values`, `no_memory`
   */
  countText(bytes: number): void {
    this.#pay(2 * bytes)
  }

  #pay(bytes: number): void {
    if (this.#holding?.reserveValues(bytes) === false)
      throw new DecodeError(
        'no_memory',
        'the gateway is short of memory and cannot decode the body now',
      )
  }
}

const tooManyValues = (most: string): DecodeError =>
  new DecodeError('too_many_values', `the body has more than ${most}`)

/** Shorter JSON is not counted: it is charged for the most that it could be, `[[],[],…]`. */
const SHORT_JSON_BYTES = 2048
const MOST_PER_JSON_BYTE = 24

/**
 * Counts what a JSON text will be parsed to, without parsing it: one or two nanoseconds per byte. For a text that is
 * no JSON the count has no meaning.
 *
 * @returns how deep it is nested; undefined: that was not counted
 * @throws DecodeError `too_many_values`, `no_memory`
 */
export const countJson = (bytes: Uint8Array, meter: ValueMeter): number | undefined => {
  if (bytes.length <= SHORT_JSON_BYTES) {
    meter.countText((MOST_PER_JSON_BYTE / 2) * bytes.length)
    return undefined
  }
  let before = NO_MARKS
  for (const marks of countInSteps(bytes)) {
    meter.count(marks.containers - before.containers, valuesIn(marks) - valuesIn(before))
    before = marks
  }
  return before.deepest
}

/** A lower bound; keys are values, too. */
const valuesIn = ({ containers, commas, colons }: JsonMarks): number => containers + commas + colons
