// Implements the functions on lists, which give an element, a part or a number. Positions count from 1, as documents
// write them.

import type { Apply, Host, VerifyArguments } from './apply.ts'
import { decimalOf } from './conversions.ts'
import { kindOf, FunctionError } from '../errors.ts'
import { bytesOfPlaces, spend, spendWork, UNITS } from './spend.ts'
import { isList, type Value } from '../value.ts'

export const firstOf: Apply = (input) => listFrom(input)[0] ?? emptyFor(input)

export const lastOf: Apply = (input) => listFrom(input).at(-1) ?? emptyFor(input)

export const restOf: Apply = (input, _args, host) => {
  const list = listFrom(input)
  spendElements(host, list.length)
  spend(host, bytesOfPlaces(Math.max(0, list.length - 1)))
  return list.slice(1)
}

export const elementAt: Apply = (input, args) => {
  const list = listFrom(input)
  const position = countFrom(args[0])
  const element = list[position - 1]
  if (element !== undefined) return element
  throw new FunctionError(`finds no element ${position} in a list of ${list.length}`)
}

export const verifyPosition: VerifyArguments = ([position]) => {
  if (position !== undefined && countFrom(position) === 0)
    throw new FunctionError('counts from 1: nth(1) is the first element')
}

export const lengthOf: Apply = (input) => listFrom(input).length

export const smallestOf: Apply = (input, _args, host) => extremeOf(input, -1, host)

export const greatestOf: Apply = (input, _args, host) => extremeOf(input, 1, host)

/** Elements of distinct positions, in the order in which they were drawn. */
export const pickRandom: Apply = (input, args, host) => {
  const list = listFrom(input)
  const count = countFrom(args[0])
  if (count > list.length) {
    throw new FunctionError(`can't draw ${count} elements from a list of ${list.length}`)
  }
  spendElements(host, list.length + 2 * count)
  spend(host, bytesOfPlaces(list.length))
  return draw([...list], count, host.random ?? Math.random)
}

export const verifyCount: VerifyArguments = ([count]) => {
  if (count !== undefined) countFrom(count)
}

const draw = (rest: Value[], count: number, random: () => number): readonly Value[] => {
  for (let index = 0; index < count; index++) {
    const other = index + Math.floor(random() * (rest.length - index))
    const drawn = rest[other] ?? null
    rest[other] = rest[index] ?? null
    rest[index] = drawn
  }
  return rest.slice(0, count)
}

const spendElements = (host: Host, count: number): void => {
  spendWork(host, count * UNITS.element)
}

const listFrom = (input: Value): readonly Value[] => {
  if (isList(input)) return input
  throw new FunctionError('takes a list', input)
}

/** A null element is an element: only a list without any gives the empty text. */
const emptyFor = (input: Value): Value => (isList(input) && input.length > 0 ? null : '')

const countFrom = (arg: Value | undefined): number => {
  const count = typeof arg === 'string' ? decimalOf(arg) : arg
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count
  throw new FunctionError(`takes a whole number as argument, not ${kindOf(arg ?? null)}`)
}

/** Numbers come before texts. */
const extremeOf = (input: Value, direction: 1 | -1, host: Host): Value => {
  const list = listFrom(input)
  spendElements(host, list.length)
  let extreme: number | string | undefined
  for (const element of list) {
    if (typeof element !== 'number' && typeof element !== 'string') {
      throw new FunctionError('takes numbers and texts in its list', element)
    }
    // Texts that begin alike are compared to their ends.
    if (typeof element === 'string') spendWork(host, element.length)
    if (extreme === undefined || compare(element, extreme) === direction) extreme = element
  }
  return extreme ?? ''
}

const compare = (left: number | string, right: number | string): number => {
  if (typeof left !== typeof right) return typeof left === 'number' ? -1 : 1
  if (left === right) return 0
  return left < right ? -1 : 1
}
