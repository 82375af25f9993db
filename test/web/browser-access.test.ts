// Tests which requests of browsers are let in: tables over headers as browsers send them.

import { describe, expect, it } from '@jest/globals'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import {
  allowLocal,
  allowLocalHost,
  allowPageFiles,
  type Authorize,
  refuseWebPages,
} from '../../web/browser-access.ts'

type Headers = Readonly<Record<string, string>>

const isLetIn = (authorize: Authorize, method: string, headers: Headers): boolean => {
  const req = new IncomingMessage(new Socket())
  req.method = method
  Object.assign(req.headers, headers)
  return authorize(req) === true
}

describe('refuseWebPages', () => {
  it.each([
    ['a program that reads', 'GET', {}, true],
    ['a program that writes', 'POST', {}, true],
    ['a person at the address bar', 'GET', { 'sec-fetch-site': 'none' }, true],
    ['a page of its own that reads', 'GET', { 'sec-fetch-site': 'same-origin' }, true],
    ['a page of its own that looks', 'HEAD', { 'sec-fetch-site': 'same-origin' }, true],
    ['a page of its own that writes', 'POST', { 'sec-fetch-site': 'same-origin' }, false],
    ['a page of a neighbour that reads', 'GET', { 'sec-fetch-site': 'same-site' }, false],
    ['a foreign page that reads', 'GET', { 'sec-fetch-site': 'cross-site' }, false],
    ['a foreign page that deletes', 'DELETE', { 'sec-fetch-site': 'cross-site' }, false],
    ['a page of an older browser', 'POST', { origin: 'https://evil.example' }, false],
    ['a page without an origin', 'POST', { origin: 'null' }, false],
    ['a preflight', 'OPTIONS', { origin: 'https://evil.example' }, false],
    ['an extension', 'POST', { origin: 'https://a', 'sec-fetch-site': 'none' }, false],
    [
      'a link on a foreign page',
      'GET',
      {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      },
      false,
    ],
    ['nonsense', 'GET', { 'sec-fetch-site': 'NONE' }, false],
  ])('%s: %s', (_title, method, headers, expected) => {
    expect(isLetIn(refuseWebPages, method, headers)).toBe(expected)
  })
})

describe('allowPageFiles', () => {
  const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  it.each<[string, Headers, boolean]>([
    ['a program', {}, true],
    ['the address bar', { 'sec-fetch-site': 'none', ...NAVIGATION }, true],
    ['a link on a foreign page', { 'sec-fetch-site': 'cross-site', ...NAVIGATION }, true],
    ['a link on a page of a neighbour', { 'sec-fetch-site': 'same-site', ...NAVIGATION }, true],
    ['a script of the page', { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'script' }, true],
    ['its icon', { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'image' }, true],
    [
      'a foreign page that frames it',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      false,
    ],
    [
      'a frame of its own origin',
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      false,
    ],
    ['a foreign script', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'script' }, false],
    ['a foreign image', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }, false],
    ['a foreign fetch', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'empty' }, false],
    ['a neighbour', { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'empty' }, false],
    ['a worker', { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'worker' }, false],
    [
      'a service worker',
      { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'serviceworker' },
      false,
    ],
    ['a service worker of an older browser', { 'service-worker': 'script' }, false],
    [
      'a navigation that says it is an object',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' },
      false,
    ],
  ])('%s', (_title, headers, expected) => {
    expect(isLetIn(allowPageFiles, 'GET', headers)).toBe(expected)
  })
})

describe('listeners on loopback', () => {
  it.each<[string, boolean]>([
    ['127.0.0.1:18081', true],
    ['127.0.0.1', true],
    ['[::1]:18081', true],
    ['localhost:18081', true],
    ['LOCALHOST', true],
    ['gateway.localhost:18081', true],
    ['', true],
    ['evil.example:18081', false],
    ['127.0.0.1.evil.example:18081', false],
    ['localhost.evil.example', false],
    ['127.0.0.1.', false],
    ['localhost.', false],
    ['notlocalhost', false],
    ['[::1].evil.example', false],
  ])('are called under the name %j: %s', (host, expected) => {
    expect(isLetIn(allowLocal, 'GET', { host })).toBe(expected)
    expect(isLetIn(allowLocalHost, 'GET', { host })).toBe(expected)
  })

  it('give no data to what has an Origin, under no name', () => {
    const headers = { host: 'localhost', origin: 'https://evil.example' }
    expect(isLetIn(allowLocal, 'GET', headers)).toBe(false)
  })
})
