import { describe, expect, it } from '@jest/globals'
import { cookieText, parseCookies } from '../../../dataplane/security/parsed-cookies.ts'

describe('a cookie that is parsed', () => {
  it.each<[string, readonly string[], string | undefined]>([
    ['has its value', ['Cookie', 'b=1; a=2; c=3'], '2'],
    ['is decoded', ['Cookie', 'a=%32%zz'], '%32%zz'],
    ['is decoded where it can be', ['Cookie', 'a=%32'], '2'],
    ['may stand in a second header', ['cookie', 'b=1', 'COOKIE', 'a=2'], '2'],
    ['is the first of its name', ['Cookie', 'a=1; a=2', 'Cookie', 'a=3'], '1'],
    ['is an empty text where it is an object', ['Cookie', 'a=j:{"b":1}'], ''],
    ['is an empty text where it is a list', ['Cookie', 'a=j:["b"]'], ''],
    ['is the text where that is no JSON', ['Cookie', 'a=j:b'], 'j:b'],
    ['is not part of another name', ['Cookie', 'ba=1; a.=2'], undefined],
    ['is not there without a header', ['Host', 'a=1'], undefined],
  ])('%s', (_, rawHeaders, expected) => {
    expect(cookieText(parseCookies(rawHeaders), 'a')).toBe(expected)
  })

  it.each(['constructor', '__proto__', 'toString'])('is none that every object has: %s', (name) => {
    expect(cookieText(parseCookies(['Cookie', 'a=1']), name)).toBeUndefined()
    expect(cookieText(parseCookies([]), name)).toBeUndefined()
  })
})
