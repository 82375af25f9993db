import { describe, expect, it } from '@jest/globals'
import { reasonOf } from '../../../../dataplane/wamp/session/link-text.ts'

describe('reasonOf', () => {
  it.each([
    ['com.e', '', undefined, 'com.e'],
    ['com.e', 'no realm', undefined, 'com.e: no realm'],
    ['com.e', 'ticket s3cret is wrong: s3cret', 's3cret', 'com.e: ticket *** is wrong: ***'],
    ['com.s3cret', '', 's3cret', 'com.***'],
    ['com.e', 'no secret', '', 'com.e: no secret'],
    ['com.e', 'two\r\nlines\u001b[31m\u202e', undefined, 'com.e: two lines [31m '],
    ['com.e', 'x'.repeat(500), undefined, `com.e: ${'x'.repeat(193)}`],
  ])('%s, %s, secret %s', (uri, text, secret, reason) => {
    expect(reasonOf({ kind: 'refused', uri, text }, secret)).toBe(reason)
  })
})
