import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { put, type PersistentMap } from '../../../language/router/persistent-map.ts'

type Model = ReadonlyMap<string, number>

/** The keys whose value is not that of `model`. */
const faultyKeys = (
  map: PersistentMap<number> | undefined,
  model: Model,
  keys: readonly string[],
): readonly string[] =>
  keys.filter((key) => {
    const value = model.get(key)
    return map?.get(key) !== value || map?.find(`<${key}>`, 1, key.length + 1) !== value
  })

describe('a persistent map', () => {
  const anyKey = fc.oneof(
    fc.constantFrom('', '__proto__', 'constructor', 'toString'),
    fc.nat(400).map((at) => `k${at}`),
  )
  const anyChange = fc.tuple(anyKey, fc.option(fc.nat(), { nil: undefined }))
  const anyBatches = fc.array(fc.array(anyChange, { maxLength: 150 }), { maxLength: 6 })

  it('holds what a Map holds, and every older one what it held', () => {
    fc.assert(
      fc.property(anyBatches, (batches) => {
        let map: PersistentMap<number> | undefined
        let model: Model = new Map()
        const past: { map: typeof map; model: Model }[] = []
        const keys = [...new Set(batches.flatMap((batch) => batch.map(([key]) => key)))]
        for (const batch of batches) {
          const owner = Symbol('batch')
          const next = new Map(model)
          for (const [key, value] of batch) {
            map = value === undefined ? map?.remove(key, owner) : put(map, key, value, owner)
            if (value === undefined) next.delete(key)
            else next.set(key, value)
          }
          model = next
          past.push({ map, model })
        }
        for (const older of past) expect(faultyKeys(older.map, older.model, keys)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('is undefined when its last entry goes, at any size', () => {
    for (const size of [1, 4, 5, 32, 33, 2000]) {
      const owner = Symbol('batch')
      const keys = Array.from({ length: size }, (_, at) => `k${at}`)
      let map: PersistentMap<number> | undefined
      for (const [at, key] of keys.entries()) map = put(map, key, at, owner)
      expect(faultyKeys(map, new Map(keys.map((key, at) => [key, at])), keys)).toEqual([])
      for (const key of keys) map = map?.remove(key, Symbol('batch'))
      expect([size, map]).toEqual([size, undefined])
    }
  })

  it('removes nothing for a key that it has not', () => {
    const owner = Symbol('batch')
    for (const size of [1, 10, 100]) {
      let map: PersistentMap<number> | undefined
      for (let at = 0; at < size; at += 1) map = put(map, `k${at}`, at, owner)
      map = map?.remove('other', owner)
      expect(map?.get('k0')).toBe(0)
    }
  })

  it('holds keys whose hashes are equal', () => {
    // FNV-1a of 16-bit units: of pairs that begin differently, those whose halves cancel out.
    const colliding = collidingKeys(80)
    const owner = Symbol('batch')
    let map: PersistentMap<number> | undefined
    for (const [at, key] of colliding.entries()) map = put(map, key, at, owner)
    expect(faultyKeys(map, new Map(colliding.map((key, at) => [key, at])), colliding)).toEqual([])
  })
})

/** 2^n keys of one FNV-1a hash: stage by stage two pairs of units that lead to the same state. */
function collidingKeys(least: number): readonly string[] {
  let keys: readonly string[] = ['']
  let state = 0x811c9dc5
  while (keys.length < least) {
    const [[left, right], next] = collidingPair(state)
    keys = keys.flatMap((key) => [key + left, key + right])
    state = next
  }
  return keys
}

function collidingPair(state: number): readonly [readonly [string, string], number] {
  const byUpperHalf = new Map<number, number>()
  for (let unit = 0; unit < 0x10000; unit += 1) {
    const after = step(state, unit)
    const other = byUpperHalf.get(after >>> 16)
    if (other !== undefined) {
      const difference = (after ^ step(state, other)) & 0xffff
      return [
        [String.fromCharCode(unit, difference), String.fromCharCode(other, 0)],
        step(after, difference),
      ]
    }
    byUpperHalf.set(after >>> 16, unit)
  }
  throw new Error('65536 units have 65536 different upper halves')
}

const step = (state: number, unit: number): number => Math.imul(state ^ unit, 0x01000193)
