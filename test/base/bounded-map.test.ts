import { describe, expect, it } from '@jest/globals'
import { BoundedMap } from '../../base/bounded-map.ts'

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

  it('deletes and clears', () => {
    const map = mapOf('a', 'b')
    expect(map.delete('a')).toBe(true)
    expect([...map.values()]).toEqual([1])
    map.clear()
    expect(map.size).toBe(0)
  })
})
