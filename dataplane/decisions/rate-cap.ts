// Admits at most so many events of one kind, and of all kinds, in a second, and counts those that it does not admit.

import { BoundedMap } from '../../base/bounded-map.ts'

export interface RateCap {
  /** Whether this one may be recorded. */
  admits(kind: string): boolean
  /** How many of a kind were not admitted since this was asked last; undefined: none. */
  takeLeftOut(kind: string): number | undefined
}

export interface RateCapOptions {
  /** In one second. */
  readonly mostOfKind: number
  readonly mostInAll: number
  /** Monotonic, milliseconds. */
  readonly now: () => number
}

/** Most kinds that are counted at a time: a kind that was forgotten starts again at 0. */
const MAX_KINDS = 4000

/** @example createRateCap({ mostOfKind: 50, mostInAll: 2000, now: () => performance.now() }) */
export const createRateCap = ({ mostOfKind, mostInAll, now }: RateCapOptions): RateCap => {
  const kinds = new BoundedMap<string, Counted>(MAX_KINDS)
  const all: Counted = { second: 0, count: 0, leftOut: 0 }
  return {
    admits: (kind) => {
      const second = Math.floor(now() / 1000)
      let counted = kinds.get(kind)
      if (counted === undefined) kinds.set(kind, (counted = { second, count: 0, leftOut: 0 }))
      if (isWithin(counted, second, mostOfKind) && isWithin(all, second, mostInAll)) return true
      counted.leftOut++
      return false
    },
    takeLeftOut: (kind) => {
      const counted = kinds.get(kind)
      if (counted === undefined || counted.leftOut === 0) return undefined
      const { leftOut } = counted
      counted.leftOut = 0
      return leftOut
    },
  }
}

interface Counted {
  second: number
  /** In that second. */
  count: number
  leftOut: number
}

const isWithin = (counted: Counted, second: number, most: number): boolean => {
  if (counted.second !== second) {
    counted.second = second
    counted.count = 0
  }
  return ++counted.count <= most
}
