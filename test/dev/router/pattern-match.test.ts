// Patterns of URIs: which are well-formed, what they match, and what is found by them.

import { describe, expect, it } from '@jest/globals'
import {
  isPattern,
  type MatchPolicy,
  matchesPattern,
  PatternTable,
} from '../../../dev/router/pattern-match.ts'

describe('isPattern', () => {
  it.each<[string, Readonly<Record<MatchPolicy, boolean>>]>([
    ['com.example', { exact: true, prefix: true, wildcard: true }],
    ['a-b.C_1.é', { exact: true, prefix: true, wildcard: true }],
    ['constructor', { exact: true, prefix: true, wildcard: true }],
    ['', { exact: false, prefix: true, wildcard: true }],
    ['com.', { exact: false, prefix: true, wildcard: true }],
    ['.', { exact: false, prefix: false, wildcard: true }],
    ['com..x', { exact: false, prefix: false, wildcard: true }],
    ['.com', { exact: false, prefix: false, wildcard: true }],
    ['com..', { exact: false, prefix: false, wildcard: true }],
    ['a b', { exact: false, prefix: false, wildcard: false }],
    ['a#', { exact: false, prefix: false, wildcard: false }],
    ['a\n.', { exact: false, prefix: false, wildcard: false }],
  ])('%j', (pattern, wanted) => {
    const policies = ['exact', 'prefix', 'wildcard'] as const
    const found = policies.map((policy) => [policy, isPattern(pattern, policy)])
    expect(Object.fromEntries(found)).toEqual(wanted)
  })
})

describe('matchesPattern', () => {
  it.each<[MatchPolicy, string, string, boolean]>([
    ['exact', 'com.a', 'com.a', true],
    ['exact', 'com.a', 'com.a.b', false],
    ['prefix', 'com.a', 'com.a', true],
    ['prefix', 'com.a', 'com.ab', true],
    ['prefix', 'com.a.', 'com.a', false],
    ['prefix', '', 'com', true],
    ['wildcard', 'com..c', 'com.b.c', true],
    ['wildcard', 'com..c', 'com.c', false],
    ['wildcard', 'com..c', 'com.b.c.d', false],
    ['wildcard', '..', 'a.b.c', true],
    ['wildcard', 'com.', 'com.x', true],
    ['wildcard', '', 'com', true],
    ['wildcard', '', 'com.x', false],
  ])('%s %j and %j', (policy, pattern, uri, isMatch) => {
    expect(matchesPattern(pattern, policy, uri)).toBe(isMatch)
  })
})

describe('PatternTable', () => {
  const filled = (): PatternTable<string> => {
    const table = new PatternTable<string>()
    table.set('wildcard', 'com..c', 'wild')
    table.set('wildcard', '..c', 'wilder')
    table.set('prefix', 'com', 'short')
    table.set('prefix', 'com.b', 'long')
    table.set('exact', 'com.b.c', 'exact')
    return table
  }

  it.each([
    ['com.b.c', 'exact', ['exact', 'short', 'long', 'wild', 'wilder']],
    ['com.b.d', 'long', ['short', 'long']],
    ['com.x.c', 'short', ['short', 'wild', 'wilder']],
    ['net.x.c', 'wilder', ['wilder']],
    ['constructor', undefined, []],
  ])('for %s', (uri, best, all) => {
    expect(filled().best(uri)).toBe(best)
    expect(filled().all(uri)).toEqual(all)
  })

  it('forgets what is deleted, by its own policy', () => {
    const table = filled()
    table.delete('prefix', 'com.b.c')
    expect(table.best('com.b.c')).toBe('exact')
    table.delete('exact', 'com.b.c')
    expect(table.get('exact', 'com.b.c')).toBeUndefined()
    expect(table.best('com.b.c')).toBe('long')
  })
})
