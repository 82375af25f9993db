// Tests which 101 proves that a peer switches to the WebSocket that was asked for (RFC 6455 §4.1).

import { describe, expect, it } from '@jest/globals'
import { isWebSocketKey, readWebSocketSwitch } from '../../dataplane/web-socket-switch.ts'

/** RFC 6455 §1.3. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
const OFFER = { key: KEY, protocols: ['a', 'b'], extensions: 'permessage-deflate; x="a,b", y' }

const read = (lines: readonly string[]) => readWebSocketSwitch(lines, OFFER)
const RIGHT = ['upgrade', 'websocket', 'connection', 'Upgrade', 'sec-websocket-accept', ACCEPT]

describe('a switch', () => {
  it.each<[string, readonly string[], string | undefined, string | undefined]>([
    ['with nothing chosen', RIGHT, undefined, undefined],
    [
      'in other cases',
      ['upgrade', 'WebSocket', 'connection', 'keep-alive, UPGRADE', ...RIGHT.slice(4)],
      undefined,
      undefined,
    ],
    ['with a sub-protocol', [...RIGHT, 'sec-websocket-protocol', 'b'], 'b', undefined],
    [
      'with extensions in two lines',
      [
        ...RIGHT,
        'sec-websocket-extensions',
        'y',
        'sec-websocket-extensions',
        'permessage-deflate; z=1',
      ],
      undefined,
      'y, permessage-deflate; z=1',
    ],
  ])('%s', (_, lines, protocol, extensions) => {
    expect(read(lines)).toEqual({ accept: ACCEPT, protocol, extensions })
  })

  it.each<[string, readonly string[], string]>([
    ['nothing', [], 'it switches to no WebSocket'],
    [
      'two protocols',
      ['upgrade', 'websocket', ...RIGHT.slice(0, 1), 'h2c', ...RIGHT.slice(2)],
      'it switches to no WebSocket',
    ],
    [
      'no Connection',
      [...RIGHT.slice(0, 2), ...RIGHT.slice(4)],
      'its Connection does not name Upgrade',
    ],
    ['no accept', RIGHT.slice(0, 4), 'its Sec-WebSocket-Accept is wrong'],
    ['two accepts', [...RIGHT, ...RIGHT.slice(4)], 'its Sec-WebSocket-Accept is wrong'],
    ['the key as accept', [...RIGHT.slice(0, 5), KEY], 'its Sec-WebSocket-Accept is wrong'],
    [
      'a foreign sub-protocol',
      [...RIGHT, 'sec-websocket-protocol', 'c'],
      'it takes a sub-protocol that was not offered',
    ],
    [
      'an empty sub-protocol',
      [...RIGHT, 'sec-websocket-protocol', ''],
      'it takes a sub-protocol that was not offered',
    ],
    [
      'a foreign extension',
      [...RIGHT, 'sec-websocket-extensions', 'y, c'],
      'it uses extensions that were not offered',
    ],
  ])('is none with %s', (_, lines, why) => {
    expect(read(lines)).toBe(why)
  })
})

it.each([
  [KEY, true],
  ['', false],
  ['abc', false],
  [`${KEY}=`, false],
  [`${KEY}, ${KEY}`, false],
  [` ${KEY}`, false],
])('the key %j', (text, isKey) => {
  expect(isWebSocketKey(text)).toBe(isKey)
})
