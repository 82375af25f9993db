// Equal values become one object from the second use on, unequal ones never do, and nothing is kept that nothing uses.

import { describe, expect, it } from '@jest/globals'
import { createInterner, identityOf, internData } from '../../base/intern.ts'

const fail = (): never => {
  throw new Error('it was made again')
}

describe('createInterner', () => {
  it('shares what has the same key from the second use on, while it is in use', () => {
    const intern = createInterner<readonly string[]>()
    const [first, second] = [intern('a', () => ['a']), intern('a', () => ['a'])]
    expect(second).not.toBe(first)
    expect(intern('a', fail)).toBe(second)
    const others = [1, 2, 3].map(() => intern('b', () => ['b']))
    expect(others[2]).toBe(others[1])
    expect(others[1]).toEqual(['b'])
  })

  it('shares from the first use on where it is to', () => {
    const intern = createInterner<object>({ from: 'first' })
    const first = intern('a', () => ({}))
    expect(intern('a', fail)).toBe(first)
    expect(intern('b', () => ({}))).not.toBe(first)
  })

  it('knows nothing of what another one has', () => {
    const [intern, another] = [createInterner<object>(), createInterner<object>()]
    const made = [1, 2].map(() => intern('of both', () => ({})))
    expect(made).not.toContain(another('of both', () => ({})))
    expect(made).not.toContain(another('of both', () => ({})))
  })

  it('leaves values with long keys to themselves', () => {
    const intern = createInterner<object>()
    const key = 'x'.repeat(5000)
    expect(new Set([1, 2, 3].map(() => intern(key, () => ({})))).size).toBe(3)
  })

  it('shares what comes in turns, however much comes once', () => {
    const intern = createInterner<object>()
    const turns = Array.from({ length: 600 }, (_, index) => `/path-${index}`)
    for (let index = 0; index < 200_000; index++) intern(`once-${index}`, () => ({}))
    const used = [1, 2, 3].map(() => turns.map((key) => intern(key, () => ({}))))
    expect(used[2]?.filter((value, at) => value === used[1]?.[at]).length).toBeGreaterThan(590)
  })
})

describe('internData', () => {
  const internThrice = (value: () => object): readonly object[] =>
    [1, 2, 3].map(() => internData(value()))

  it.each<[string, () => object]>([
    ['a list', () => ['application/json', 'a']],
    ['lists in a list', () => [['x-a', 'é\ud800']]],
    ['a map', () => ({ max: 1 })],
    ['an empty list', () => []],
    ['an empty map', () => ({})],
    ['reserved words', () => JSON.parse('{"__proto__":1,"constructor":2}') as object],
  ])('gives one object for %s', (_, value) => {
    const [, second, third] = internThrice(value)
    expect(third).toBe(second)
    expect(third).toEqual(value())
  })

  it.each<[string, object, object]>([
    ['a list of two and of one', ['a', 'b'], ['a,b']],
    ['a list and a map', [], {}],
    ['a number and a text', { a: 1 }, { a: '1' }],
    ['halves of characters', ['\ud800'], ['\udfff']],
  ])('tells %s apart', (_, one, other) => {
    const ones = internThrice(() => structuredClone(one))
    for (const value of internThrice(() => structuredClone(other))) {
      expect(ones).not.toContain(value)
      expect(value).toEqual(other)
    }
  })
})

it('an object has one number, and no other has it', () => {
  const [one, other] = [{}, {}]
  expect(identityOf(one)).not.toBe(identityOf(other))
  expect(identityOf(one)).toBe(identityOf(one))
})
