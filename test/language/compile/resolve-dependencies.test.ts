import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { settleAll } from '../../../language/compile/resolve-dependencies.ts'

type Needs = ReadonlyMap<string, readonly string[]>

/** Settles by `needs`; gives the order, and the cycles that were met. */
const run = (needs: Needs) => {
  const settled = new Set<string>()
  const order: string[] = []
  const cycles: (readonly string[])[] = []
  const attempts = new Map<string, number>()
  settleAll(needs.keys(), {
    isSettled: (name) => settled.has(name),
    attempt: (name) => {
      attempts.set(name, (attempts.get(name) ?? 0) + 1)
      const lacking = (needs.get(name) ?? []).filter((other) => !settled.has(other))
      if (lacking.length > 0) return lacking
      settled.add(name)
      order.push(name)
      return []
    },
    settleCycle: (chain) => {
      cycles.push(chain)
      for (const name of chain) settled.add(name)
    },
  })
  return { settled, order, cycles, attempts }
}

const needs = (entries: Readonly<Record<string, readonly string[]>>): Needs =>
  new Map(Object.entries(entries))

describe('settleAll', () => {
  it.each([
    ['nothing', {}, []],
    ['what needs nothing, in order', { a: [], b: [] }, ['a', 'b']],
    ['what is needed first', { a: ['b'], b: ['c'], c: [] }, ['c', 'b', 'a']],
    ['what two need once', { a: ['c'], b: ['c'], c: [] }, ['c', 'a', 'b']],
    ['what is needed and not asked for', { a: ['z'] }, ['z', 'a']],
  ])('%s', (_, given, order) => {
    expect(run(needs(given)).order).toEqual(order)
  })

  it.each([
    ['itself', { a: ['a'] }, [['a', 'a']]],
    ['two', { a: ['b'], b: ['a'] }, [['a', 'b', 'a']]],
    ['from outside', { x: ['a'], a: ['b'], b: ['a'] }, [['a', 'b', 'a']]],
    [
      'reserved words',
      { __proto__: [], constructor: ['constructor'] },
      [['constructor', 'constructor']],
    ],
  ])('a circle: %s', (_, given, cycles) => {
    const result = run(needs(given))
    expect(result.cycles).toEqual(cycles)
    expect([...result.settled]).toEqual(expect.arrayContaining(Object.keys(given)))
  })

  it('needs no stack for a chain of 100,000, and attempts each twice at most', () => {
    const chain = new Map(
      Array.from(
        { length: 100_000 },
        (_, i) => [`n${i}`, i < 99_999 ? [`n${i + 1}`] : []] as const,
      ),
    )
    const { order, attempts } = run(chain)
    expect(order).toHaveLength(100_000)
    expect(order[0]).toBe('n99999')
    expect(Math.max(...attempts.values())).toBe(2)
  })

  it('always ends with everything settled', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    fc.assert(
      fc.property(fc.dictionary(names, fc.array(names, { maxLength: 4 })), (graph) => {
        const { settled, order } = run(needs(graph))
        for (const name of Object.keys(graph)) expect(settled.has(name)).toBe(true)
        const early = order.flatMap((name, at) =>
          (graph[name] ?? []).filter((other) => order.indexOf(other) > at),
        )
        // Nothing comes before what it needs, but for what a circle has settled.
        expect(early).toEqual([])
      }),
    )
  })
})
