import { describe, expect, it } from '@jest/globals'
import { toLocation } from '../../../../dataplane/http/response/location.ts'

describe('toLocation', () => {
  it.each([
    ['/a/b?c=d#e', '/a/b?c=d#e'],
    ['/a b', '/a%20b'],
    ['/a%2Fb', '/a%2Fb'],
    ['/a%20b', '/a%20b'],
    ['/a%', '/a%25'],
    ['/a%zz%4', '/a%25zz%254'],
    ['/%e2%82%ac/€/👍', '/%e2%82%ac/%E2%82%AC/%F0%9F%91%8D'],
    ['http://[::1]:80/a', 'http://[::1]:80/a'],
    ["/!$&'()*+,;=:@-._~", "/!$&'()*+,;=:@-._~"],
    ['/a\r\nset-cookie: b', '/a%0D%0Aset-cookie:%20b'],
    ['/"<>\\^`{|}', '/%22%3C%3E%5C%5E%60%7B%7C%7D'],
    ['/\ud800', '/%EF%BF%BD'],
    ['', ''],
  ])('%j', (uri, location) => {
    expect(toLocation(uri)).toBe(location)
  })
})
