import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  cookieValues,
  csrfCookieName,
  ticketCookieName,
} from '../../../dataplane/security/session-cookies.ts'
import { anyText } from './any-text.ts'

describe('names of cookies', () => {
  it.each([
    ['com.example.realm', 'com.example.realm'],
    ['com.example.shop-eu_2', 'com.example.shop-eu_2'],
    ['https://example.com/realm', 'https%3A%2F%2Fexample.com%2Frealm'],
    ['urn:example:shop', 'urn%3Aexample%3Ashop'],
    ['com.example@eu', 'com.example%40eu'],
    ['com.example/a=b;c,d', 'com.example%2Fa%3Db%3Bc%2Cd'],
    ["!#$&'*+-.^_`|~", "!#$&'*+-.^_`|~"],
    ['a%3Ab', 'a%253Ab'],
    ['é \r\n"', '%C3%A9%20%0D%0A%22'],
    ['', ''],
  ])('of realm %j', (uri, name) => {
    expect(ticketCookieName(uri)).toBe(`svc_ticket_${name}`)
    expect(csrfCookieName(uri)).toBe(`svc_csrf_${name}`)
  })

  it('are tokens, and lead back to one realm', () => {
    fc.assert(
      fc.property(anyText(), (uri) => {
        const name = ticketCookieName(uri)
        expect(name).toMatch(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/)
        expect(decodeURIComponent(name)).toBe(`svc_ticket_${uri}`)
      }),
    )
  })
})

describe('cookieValues', () => {
  it.each<[readonly string[], readonly string[]]>([
    [[], []],
    [['a=1'], ['1']],
    [['a=1; b=2; a=3'], ['1', '3']],
    [['a=1;a=2;  a=3  '], ['1', '2', '3']],
    [
      ['b=1', 'a=2; c=3', 'a=4'],
      ['2', '4'],
    ],
    [['ba=1; aa=2; a'], []],
    [['A=1; a =2'], []],
    [['a='], ['']],
    [['a=b=c'], ['b=c']],
    [['a="x"'], ['"x"']],
    [['a=%41'], ['%41']],
    [['b=";a=1'], ['1']],
  ])('%j', (headers, values) => {
    const raw = headers.flatMap((header) => ['Cookie', header])
    expect(cookieValues(['Host', 'a=9', ...raw], 'a')).toEqual(values)
  })

  it('reads 16 at most', () => {
    const many = Array.from({ length: 40 }, (_, index) => `a=${index}`).join('; ')
    expect(cookieValues(['cookie', many, 'cookie', 'a=41'], 'a')).toHaveLength(16)
  })
})
