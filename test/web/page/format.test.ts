// Tests the parts of the web page that need no browser: how values are written, addresses of views, and what is kept of
// a request that is to be explained.

import { describe, expect, it } from '@jest/globals'
import { withoutCredentials as withoutCredentialsOfCommand } from '../../../language/explain/read-request.ts'
import { requestOf, withoutCredentials } from '../../../web/page/explain.js'
import { decisionsOf } from '../../../web/page/failures.js'
import {
  hashOf,
  isWebAddress,
  lagText,
  readHash,
  sessionsText,
  shortDigest,
  timeText,
} from '../../../web/page/format.js'
import { shownText } from '../../../web/page/list.js'

describe('texts of the page', () => {
  it.each([
    [shortDigest('0123456789abcdef'), '01234567'],
    [shortDigest('0123456789abcdef@shop'), '01234567@shop'],
    [shortDigest(null), 'none'],
    [lagText({ missing: 0, outdated: 0, extra: 0 }), 'none'],
    [lagText({ missing: 1, outdated: 2, extra: 3 }), '1 missing, 2 outdated, 3 to delete'],
    [sessionsText({ open: 2, connecting: 0, waiting: 1, refused: 0 }), '2 open, 1 waiting'],
    [sessionsText({ open: 0, connecting: 0, waiting: 0, refused: 0 }), 'none'],
    [timeText('no time'), 'no time'],
    [shownText(100, 1002, 'document'), '100 of 1,002 documents'],
    [shownText(1, 1, 'document'), '1 document'],
  ])('%j', (text, expected) => {
    expect(text).toBe(expected)
  })

  it('writes times in the zone of the reader', () => {
    const time = new Date(2026, 0, 2, 3, 4, 5)
    expect(timeText(time.toISOString())).toBe('2026-01-02 03:04:05')
  })
})

describe('addresses of views', () => {
  it.each([
    ['documents', {}, '#/documents'],
    ['documents', { match: '', state: null }, '#/documents'],
    ['documents', { match: 'a b&c#d/é' }, '#/documents?match=a+b%26c%23d%2F%C3%A9'],
  ])('%s %j', (view, parameters, hash) => {
    expect(hashOf(view, parameters)).toBe(hash)
    const read = readHash(hash)
    const given = Object.entries(parameters).filter(([, value]) => Boolean(value))
    expect([read.view, Object.fromEntries(read.parameters)]).toEqual([
      view,
      Object.fromEntries(given),
    ])
  })

  it.each(['', '#', '#main', '#/UPPER', '#/a/b', '#//', '#documents'])('%j names none', (hash) => {
    expect(readHash(hash).view).toBe('')
  })
})

it.each([
  ['https://a.test/x', true],
  ['HTTP://a.test', true],
  ['javascript:alert(1)', false],
  ['java\nscript:alert(1)', false],
  ['data:text/html,x', false],
  [' https://a.test', false],
  ['https://a.test/ x', false],
  ['https://', false],
  ['//a.test', false],
])('%j becomes a link: %s', (text, expected) => {
  expect(isWebAddress(text)).toBe(expected)
})

describe('what is sent of a request that is to be explained', () => {
  it.each([
    ['http://a.test/x', 'http://a.test/x'],
    [' http://a.test/x?token=1#y ', 'http://a.test/x'],
    ['http://me:hush@a.test/x', 'http://a.test/x'],
    ['http://me:hu@sh@a.test/x@y', 'http://a.test/x@y'],
    ['/x@y?z', '/x@y'],
  ])('of the URL %j', (url, sent) => {
    expect(requestOf('GET', url, '').url).toBe(sent)
  })

  it.each([
    'Accept: text/html',
    'Authorization: Basic YTpi',
    'Authorization: hush',
    'Authorization:Bearer hush',
    'Cookie: a=hush',
    'X-Api-Key: hush',
    'Content-Type: application/json',
    'Empty:',
    'no colon',
  ])('of the header %j, as the command line does', (line) => {
    const [sent] = requestOf('GET', '/', `\n  ${line}  \n`).header
    expect(sent).toBe(withoutCredentialsOfCommand(line))
    expect(withoutCredentials(line)).not.toContain('hush')
  })
})

it('reads decisions of a gateway and of an operator alike', () => {
  const decision = { id: 'a' } as never
  expect(decisionsOf({ decisions: [decision] })).toEqual([[decision, null]])
  expect(decisionsOf({ gateways: [{ name: 'gw', decisions: [decision] }] })).toEqual([
    [decision, 'gw'],
  ])
})
