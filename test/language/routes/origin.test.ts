import { describe, expect, it } from '@jest/globals'
import { isOneOf, parseOriginPattern } from '../../../language/routes/origin.ts'

const isAllowed = (written: string, sent: string): boolean | string => {
  const pattern = parseOriginPattern(written)
  return typeof pattern === 'string' ? pattern : isOneOf([pattern], sent)
}

describe('an origin that a document names', () => {
  it.each<[string, string, string, boolean]>([
    ['is the same text', 'https://app.example.com', 'https://app.example.com', true],
    ['is compared without case', 'https://App.Example.com', 'https://app.example.com', true],
    ['has the port of its scheme', 'https://app.example.com:443', 'https://app.example.com', true],
    ['has it where a client sends it', 'https://a.test', 'https://a.test:443', true],
    ['has another port', 'https://app.example.com', 'https://app.example.com:8443', false],
    ['has a port of its own', 'http://localhost:3000', 'http://localhost:3000', true],
    ['has another scheme', 'https://app.example.com', 'http://app.example.com', false],
    ['is not the end of a name', 'https://example.com', 'https://evilexample.com', false],
    ['is not the beginning of one', 'https://example.com', 'https://example.com.evil.test', false],
    ['is not within a user', 'https://example.com', 'https://example.com@evil.test', false],
    ['does not cover names below', 'https://example.com', 'https://app.example.com', false],
    ['has no dot at its end', 'https://example.com', 'https://example.com.', false],
    ['is not a page', 'https://example.com', 'https://example.com/', false],
    ['is one only', 'https://example.com', 'https://example.com, https://evil.test', false],
    ['is not null', 'https://example.com', 'null', false],
    ['is not empty', 'https://example.com', '', false],
    ['has no blanks', 'https://example.com', ' https://example.com', false],
    ['has an address', 'http://[::1]:8080', 'http://[0:0::1]:8080', true],
    ['is one of an app', 'capacitor://localhost', 'capacitor://localhost', true],
    ['is one of an extension', 'chrome-extension://abcdef', 'chrome-extension://abcdeg', false],
    ['has names below', 'https://*.example.com', 'https://app.example.com', true],
    ['has names far below', 'https://*.example.com', 'https://a.b.example.com', true],
    ['is not the name itself', 'https://*.example.com', 'https://example.com', false],
    ['has names that end alike', 'https://*.example.com', 'https://evilexample.com', false],
    ['has empty labels', 'https://*.example.com', 'https://.example.com', false],
    ['has them by two dots', 'https://*.example.com', 'https://a..example.com', false],
    ['goes on', 'https://*.example.com', 'https://a.example.com.evil.test', false],
    ['has names below on a port', 'https://*.example.com:8443', 'https://a.example.com', false],
    ['has them on that port', 'https://*.example.com:8443', 'https://a.example.com:8443', true],
    ['has them by http', 'https://*.example.com', 'http://a.example.com', false],
    ['is as long as one can be', 'https://a.test', `https://${'a'.repeat(10_000)}.test`, false],
  ])('%s: %s, and %s is sent', (_, written, sent, allowed) => {
    expect(isAllowed(written, sent)).toBe(allowed)
  })

  it.each([
    ['null', /null is the origin/],
    ['app.example.com', /no origin/],
    ['https://app.example.com/', /no origin/],
    ['https://app.example.com/path', /no origin/],
    ['https://user@example.com', /no origin/],
    ['https://bücher.example', /xn--/],
    ['https://a.test:99999', /no origin/],
    ['https://*', /first labels/],
    ['https://*.com', /two labels/],
    ['https://*.', /first labels/],
    ['https://a*.example.com', /first labels/],
    ['https://a.*.example.com', /first labels/],
    ['https://*.*.example.com', /first labels/],
    ['https://*.example.com:*', /first labels/],
    ['https://*.example.com/*', /first labels/],
    ['*://app.example.com', /first labels/],
    ['*.example.com', /first labels/],
  ])('is refused: %s', (written, message) => {
    expect(parseOriginPattern(written)).toMatch(message)
  })
})
