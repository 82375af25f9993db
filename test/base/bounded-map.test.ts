import { describe, expect, it } from '@jest/globals'
import { BoundedMap } from '../../base/bounded-map.ts'
import { seededRandom } from '../support/seeded-random.ts'

const mapOf = (...keys: string[]): BoundedMap<string, number> => {
  const map = new BoundedMap<string, number>(keys.length)
  for (const [index, key] of keys.entries()) map.set(key, index)
  return map
}

const keysOf = (map: BoundedMap<string, number>): string[] => [...map].map(([key]) => key)

describe('a bounded map', () => {
  it('forgets the entry that was set longest ago and hands it out', () => {
    const map = mapOf('a', 'b')
    expect(map.set('c', 2)).toEqual(['a', 0])
    expect(keysOf(map)).toEqual(['b', 'c'])
    expect(map.size).toBe(2)
  })

  it.each([
    ['set again', (map: BoundedMap<string, number>) => void map.set('a', 9), ['a', 'c']],
    ['used', (map: BoundedMap<string, number>) => void map.use('a'), ['a', 'c']],
    ['only read', (map: BoundedMap<string, number>) => void map.get('a'), ['b', 'c']],
    ['only asked for', (map: BoundedMap<string, number>) => void map.has('a'), ['b', 'c']],
  ])('an entry that was %s', (_what, touch, left) => {
    const map = mapOf('a', 'b')
    touch(map)
    map.set('c', 2)
    expect(keysOf(map)).toEqual(left)
  })

  it('forgets no entry for a value that replaces another', () => {
    const map = mapOf('a', 'b')
    expect(map.set('a', 7)).toBeUndefined()
    expect(map.get('a')).toBe(7)
    expect(map.has('b')).toBe(true)
  })

  it.each(['constructor', '__proto__', 'hasOwnProperty'])('knows no %s by itself', (key) => {
    const map = mapOf('a')
    expect(map.get(key)).toBeUndefined()
    expect(map.use(key)).toBeUndefined()
    expect(map.delete(key)).toBe(false)
  })

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    'forgets what a list in order of use would, whatever is done to it, by chance %d',
    (seed) => {
      const random = seededRandom(seed)
      const pick = (below: number): number => Math.floor(random() * below)
      const most = 1 + pick(8)
      const map = new BoundedMap<number, number>(most)
      let list: readonly (readonly [number, number])[] = []
      const seen: unknown[] = []
      const wanted: unknown[] = []
      for (let step = 0; step < 500; step++) {
        const key = pick(12)
        const known = list.filter(([each]) => each === key)
        const others = list.filter(([each]) => each !== key)
        const what = pick(100)
        if (what === 0) {
          map.clear()
          list = []
        } else if (what < 70) {
          seen.push(map.set(key, step))
          const set = [...others, [key, step] as const]
          wanted.push(set.length > most ? set[0] : undefined)
          list = set.slice(-most)
        } else if (what < 90) {
          seen.push(map.use(key))
          wanted.push(known[0]?.[1])
          list = [...others, ...known]
        } else {
          seen.push(map.delete(key))
          wanted.push(known.length > 0)
          list = others
        }
        seen.push([...map])
        wanted.push(list)
      }
      expect(seen).toEqual(wanted)
    },
  )

  it('deletes and clears', () => {
    const map = mapOf('a', 'b')
    expect(map.delete('a')).toBe(true)
    expect([...map.values()]).toEqual([1])
    map.clear()
    expect(map.size).toBe(0)
  })
})
