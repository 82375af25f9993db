// Tests that equal values become one object, and that unequal ones never do.

import { describe, expect, it } from '@jest/globals'
import { createEqualShare, createWeakShare } from '../../base/weak-share.ts'

describe('Sharing by key', () => {
  it('makes the object of a key once while somebody holds it', () => {
    const share = createWeakShare<readonly string[]>()
    const first = share('a', () => ['a'])
    const fail = (): never => {
      throw new Error('it was made again')
    }
    expect(share('a', fail)).toBe(first)
    expect(share('b', () => ['b'])).not.toBe(first)
  })
})

describe('Sharing what is equal', () => {
  it.each([
    [
      ['application/json', 'a'],
      ['application/json', 'a'],
    ],
    [[['x-a', 'é\ud800']], [['x-a', 'é\ud800']]],
    [{ max: 1 }, { max: 1 }],
    [[], []],
    [{}, {}],
  ])('gives the first of %j', (first, second) => {
    const share = createEqualShare()
    expect(share<object>(first)).toBe(first)
    expect(share<object>(second)).toBe(first)
  })

  it.each([
    [['a', 'b'], ['a,b']],
    [[], {}],
    [{ a: 1 }, { a: '1' }],
    [['\ud800'], ['\udfff']],
    [['a'.repeat(2000)], ['a'.repeat(2000)]],
  ])('gives %j and %j themselves', (first, second) => {
    const share = createEqualShare()
    expect(share<object>(first)).toBe(first)
    expect(share<object>(second)).toBe(second)
  })
})
