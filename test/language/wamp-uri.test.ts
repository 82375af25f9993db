import { describe, expect, it } from '@jest/globals'
import { isWampPattern, isWampUri, type WampMatch } from '../../language/wamp-uri.ts'

describe('isWampUri', () => {
  it.each([
    'com.acme.add',
    'a',
    'com.acme.Größe-1/2:x',
    'https://acme',
    '__proto__',
    'x'.repeat(99),
  ])('accepts %s', (uri) => {
    expect(isWampUri(uri)).toBe(true)
  })

  it.each([
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'a b',
    'a\tb',
    'a\n',
    'a\u00a0b',
    'a#b',
    '#',
    'a\u001cb',
    'a\u0085b',
    'a\u0000',
  ])('refuses %j', (uri) => {
    expect(isWampUri(uri)).toBe(false)
  })
})

describe('isWampPattern', () => {
  it.each<[string, WampMatch, boolean]>([
    ['a.b', 'exact', true],
    ['a.', 'exact', false],
    ['a..b', 'exact', false],
    ['a.b', 'prefix', true],
    ['a.', 'prefix', true],
    ['a..', 'prefix', false],
    ['.', 'prefix', false],
    ['', 'prefix', false],
    ['a b.', 'prefix', false],
    ['a.b', 'wildcard', true],
    ['a..b', 'wildcard', true],
    ['.b.', 'wildcard', true],
    ['..', 'wildcard', true],
    ['', 'wildcard', false],
    ['a..b#', 'wildcard', false],
    ['a. .b', 'wildcard', false],
  ])('%j as %s: %s', (text, match, expected) => {
    expect(isWampPattern(text, match)).toBe(expected)
  })
})
