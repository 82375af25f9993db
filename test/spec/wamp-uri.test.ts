import { describe, expect, it } from '@jest/globals'
import { isWampUri } from '../../spec/wamp-uri.ts'

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

  it.each(['', '.', 'a.', '.a', 'a..b', 'a b', 'a\tb', 'a\n', 'a\u00a0b', 'a#b', '#'])(
    'refuses %j',
    (uri) => {
      expect(isWampUri(uri)).toBe(false)
    },
  )
})
