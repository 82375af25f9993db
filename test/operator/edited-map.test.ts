// Maps edited again and again hold what plain ones hold, and tell where they differ as looking at all entries does.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { changedKeys, edited, type Edits } from '../../operator/edited-map.ts'

interface Value {
  readonly of: string
}

const VALUES: readonly Value[] = ['a', 'b', 'c'].map((of) => ({ of }))
const KEYS = ['constructor', '__proto__', ...Array.from({ length: 60 }, (_, i) => `k${i}`)]

const someEdits: fc.Arbitrary<Edits<Value>> = fc
  .array(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(undefined, ...VALUES)), {
    maxLength: 45,
  })
  .map((pairs) => new Map(pairs))

const plain = (before: ReadonlyMap<string, Value>, edits: Edits<Value>): Map<string, Value> => {
  const next = new Map(before)
  for (const [key, value] of edits) {
    if (value === undefined) next.delete(key)
    else next.set(key, value)
  }
  return next
}

const differing = (
  left: ReadonlyMap<string, Value>,
  right: ReadonlyMap<string, Value>,
): readonly string[] => KEYS.filter((key) => left.get(key) !== right.get(key)).sort()

describe('a map that is edited', () => {
  it('holds what a copy would, whatever was edited before, and the ones before stay as they are', () => {
    fc.assert(
      fc.property(someEdits, fc.array(someEdits, { maxLength: 8 }), (first, steps) => {
        const start = plain(new Map(), first)
        const [maps, copies] = [[start as ReadonlyMap<string, Value>], [new Map(start)]]
        for (const edits of steps) {
          maps.push(edited(maps.at(-1) ?? start, edits))
          copies.push(plain(copies.at(-1) ?? start, edits))
        }
        maps.forEach((map, i) => {
          const copy = copies[i] ?? new Map<string, Value>()
          expect(map.size).toBe(copy.size)
          expect(new Map(map)).toEqual(copy)
          expect(new Set(map.keys())).toEqual(new Set(copy.keys()))
          expect([...map.values()]).toHaveLength(copy.size)
          const seen = new Map<string, Value>()
          map.forEach((value, key) => seen.set(key, value))
          expect(seen).toEqual(copy)
          expect(differing(map, copy)).toEqual([])
          expect(KEYS.filter((key) => map.has(key) !== copy.has(key))).toEqual([])
        })
        const inPairs = <T, R>(all: readonly T[], of: (left: T, right: T) => R): readonly R[] =>
          all.flatMap((left) => all.map((right) => of(left, right)))
        // One expectation for all: thousands of them took longer than the maps.
        expect(inPairs(maps, (left, right) => [...changedKeys(left, right)].sort().join())).toEqual(
          inPairs(copies, (left, right) => differing(left, right).join()),
        )
      }),
    )
  })

  it.each<[string, Edits<Value>]>([
    ['nothing', new Map()],
    ['what is there already', new Map([['a', VALUES[0]]])],
    ['what is gone already', new Map([['b', undefined]])],
  ])('with %s is the same map', (_, edits) => {
    const before = edited(
      new Map([['b', { of: 'b' }]]),
      new Map([
        ['a', VALUES[0]],
        ['b', undefined],
      ]),
    )
    expect(edited(before, edits)).toBe(before)
  })

  it('is compared with another at the cost of what lies between', () => {
    const value = { of: 'x' }
    const many = new Map(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, { of: `${i}` }]))
    let looks = 0
    const counting = Object.assign(new Map(many), {
      get: (key: string) => {
        looks += 1
        return many.get(key)
      },
    })
    let map = edited(counting, new Map([['k1', value]]))
    for (let i = 2; i < 500; i += 1) {
      const next = edited(map, new Map([[`k${i}`, value]]))
      looks = 0
      expect(changedKeys(map, next)).toEqual(new Set([`k${i}`]))
      expect(looks).toBeLessThan(500)
      map = next
    }
  })
})
