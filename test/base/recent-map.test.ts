import { expect, it } from '@jest/globals'
import { RecentMap } from '../../base/recent-map.ts'

it('remembers what was set or read of late, and no more than two generations', () => {
  const map = new RecentMap<number>(10)
  const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`)
  for (const [index, key] of keys.entries()) {
    map.set(key, index)
    expect(map.get('key-0')).toBe(0)
  }
  const known = keys.filter((key) => map.get(key) !== undefined)
  expect(known.length).toBeLessThanOrEqual(20)
  expect(known.slice(-9)).toEqual(keys.slice(-9))
})

it('does not keep long texts', () => {
  const map = new RecentMap<number>(10)
  map.set('x'.repeat(257), 1)
  map.set('x'.repeat(256), 2)
  expect([map.get('x'.repeat(257)), map.get('x'.repeat(256))]).toEqual([undefined, 2])
})
