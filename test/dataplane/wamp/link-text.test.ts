import { describe, expect, it } from '@jest/globals'
import { displayUrl, reasonOf } from '../../../dataplane/wamp/link-text.ts'

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

describe('displayUrl', () => {
  it.each([
    ['ws://router:8080/ws', 'ws://router:8080/ws'],
    ['wss://joe:s3cret@router/ws?token=s3cret#s3cret', 'wss://router/ws'],
    ['rs://joe:s3cret@10.0.0.1:9000', 'rs://10.0.0.1:9000'],
    ['rs+unix:/run/router.sock', 'rs+unix:/run/router.sock'],
    ['s3cret', 'an invalid URL'],
    ['', 'an invalid URL'],
  ])('%s: %s', (url, shown) => {
    expect(displayUrl(url)).toBe(shown)
  })
})
