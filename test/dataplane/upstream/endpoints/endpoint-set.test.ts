import { describe, expect, it } from '@jest/globals'
import {
  type Endpoint,
  EndpointSet,
} from '../../../../dataplane/upstream/endpoints/endpoint-set.ts'
import { seededRandom } from '../../../support/seeded-random.ts'

const MOST = 64
const addresses = (...names: string[]) => names.map((address) => ({ address, family: 4 }))
const namesOf = (set: EndpointSet): string[] => set.members.map(({ address }) => address)

const setOf = (...names: string[]): EndpointSet => {
  const set = new EndpointSet()
  set.update(addresses(...names), 0, MOST)
  return set
}

/** How often each is chosen of 1000 times. */
const sharesOf = (
  set: EndpointSet,
  choice: Partial<Parameters<EndpointSet['choose']>[0]> = {},
): Record<string, number> => {
  const random = seededRandom(3)
  const shares = Object.fromEntries(namesOf(set).map((name) => [name, 0]))
  for (let count = 0; count < 1000; count++) {
    const chosen = set.choose({ random, nowMs: 0, ...choice })
    if (chosen !== undefined) shares[chosen.address] = (shares[chosen.address] ?? 0) + 1
  }
  return shares
}

describe('a choice', () => {
  it.each([1, 2, 3, 6])('of %d is even', (count) => {
    const set = setOf(...Array.from({ length: count }, (_, at) => `a${at}`))
    for (const share of Object.values(sharesOf(set))) {
      expect(share).toBeGreaterThan((0.8 * 1000) / count)
      expect(share).toBeLessThan((1.2 * 1000) / count + 1)
    }
  })

  it('of none is none', () => {
    expect(new EndpointSet().choose({ random: () => 0, nowMs: 0 })).toBeUndefined()
  })

  it('is for the address that has fewer outstanding', () => {
    const set = setOf('a', 'b')
    const a = set.find('a')
    if (a !== undefined) a.outstanding = 1
    expect(sharesOf(set)).toEqual({ a: 0, b: 1000 })
  })

  it('gives those that are new a tenth, and more from second to second', () => {
    const set = setOf('a')
    set.update(addresses('a', 'b'), 1000, MOST)
    const shares = [1000, 6000, 11_000].map((nowMs) => sharesOf(set, { nowMs })['b'] ?? 0)
    expect(shares[0]).toBeGreaterThan(60)
    expect(shares[0]).toBeLessThan(130)
    expect(shares[1]).toBeGreaterThan(300)
    expect(shares[1]).toBeLessThan(410)
    expect(shares[2]).toBeGreaterThan(450)
  })

  it('is even again where all are new', () => {
    const set = setOf('a')
    set.update(addresses('b', 'c'), 1000, MOST)
    const { b = 0, c = 0 } = sharesOf(set, { nowMs: 1000 })
    expect([b + c, b > 400, c > 400]).toEqual([1000, true, true])
  })

  it.each<[what: string, not: { out?: string[]; also?: string[]; avoid?: string }, left: string[]]>(
    [
      ['what is out', { out: ['a'] }, ['b', 'c']],
      ['what is to be avoided', { avoid: 'a' }, ['b', 'c']],
      ['both', { out: ['a'], avoid: 'b' }, ['c']],
      [
        'not what is to be avoided where all others are out',
        { out: ['a', 'b'], avoid: 'c' },
        ['c'],
      ],
      [
        'not what is out for one realm, where all are',
        { out: ['a'], also: ['b', 'c'] },
        ['b', 'c'],
      ],
      ['nothing where nothing would be left', { out: ['a', 'b', 'c'] }, ['a', 'b', 'c']],
    ],
  )('leaves out %s', (_, { out = [], also = [], avoid }, left) => {
    const set = setOf('a', 'b', 'c')
    const share =
      (names: readonly string[]) =>
      ({ address }: Endpoint): number =>
        names.includes(address) ? 0 : 1
    const shares = sharesOf(set, {
      shares: [share([...out, ...also]), share(out)],
      avoid: avoid === undefined ? undefined : set.find(avoid),
    })
    expect(Object.keys(shares).filter((name) => (shares[name] ?? 0) > 0)).toEqual(left)
  })
})

describe('a response', () => {
  it('takes the place of the one before; what stays is the same object', () => {
    const set = setOf('a', 'b')
    const b = set.find('b')
    const a = set.find('a')
    set.update(addresses('b', 'c'), 10_000, MOST)
    expect(namesOf(set)).toEqual(['b', 'c'])
    expect(set.find('b')).toBe(b)
    // Its connections may end by themselves.
    expect(a?.isKnown).toBe(true)
    set.update(addresses('b', 'c'), 70_001, MOST)
    expect(a?.isKnown).toBe(false)
    set.update(addresses('a', 'b', 'c'), 70_002, MOST)
    expect(set.find('a')).not.toBe(a)
  })

  it('of which a part comes back for others is one of many: all of a minute count', () => {
    const set = setOf('a', 'b')
    set.update(addresses('c', 'd'), 10_000, MOST)
    expect(namesOf(set)).toEqual(['c', 'd'])
    set.update(addresses('a', 'b'), 20_000, MOST)
    expect(namesOf(set).sort()).toEqual(['a', 'b', 'c', 'd'])
    set.update(addresses('a', 'b'), 30_000, MOST)
    expect(namesOf(set).sort()).toEqual(['a', 'b', 'c', 'd'])
    set.update(addresses('a', 'b'), 80_000, MOST)
    expect(namesOf(set).sort()).toEqual(['a', 'b'])
  })

  it('that one comes back to does not bring back others', () => {
    const set = setOf('a', 'b', 'c')
    set.update(addresses('a'), 10_000, MOST)
    set.update(addresses('a', 'b'), 20_000, MOST)
    expect(namesOf(set).sort()).toEqual(['a', 'b'])
  })

  it('of thousands gives the same ones each time, and what is known stays bounded', () => {
    const set = new EndpointSet()
    const many = Array.from({ length: 5000 }, (_, at) => `a${at}`)
    set.update(addresses(...many), 0, MOST)
    const before = namesOf(set)
    expect(before).toHaveLength(MOST)
    set.update(addresses(...many.toReversed()), 1000, MOST)
    expect(namesOf(set).sort()).toEqual(before.sort())
    for (let round = 2; round < 50; round++) {
      const part = Array.from({ length: 1000 }, (_, at) => `b${(round % 7) * 1000 + at}`)
      set.update(addresses(...part), 1000 * round, MOST)
      expect(set.size).toBeLessThanOrEqual(3 * MOST)
    }
  })

  it('with one address twice counts it once', () => {
    expect(setOf('a', 'a', 'b').size).toBe(2)
  })
})
