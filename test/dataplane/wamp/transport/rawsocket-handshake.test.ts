import { describe, expect, it } from '@jest/globals'
import {
  greeting,
  readResponse,
  takenBytes,
} from '../../../../dataplane/wamp/transport/rawsocket-handshake.ts'

describe('the greeting', () => {
  it.each([
    [1, 2 ** 24, '7ff10000', 2 ** 24],
    [2, 2 ** 30, '7ff20000', 2 ** 24],
    [3, 25_000_000, '7ff30000', 2 ** 24],
    [1, 2 ** 24 - 1, '7ff10000', 2 ** 24],
    [1, 2 ** 24 - 2, '7fe10000', 2 ** 23],
    [1, 1_000_000, '7fa10000', 2 ** 19],
    [1, 512, '7f010000', 512],
    [1, 1, '7f010000', 512],
  ])('serializer %i, up to %i bytes', (serializerId, maxMessageBytes, hex, taken) => {
    expect(greeting(serializerId, maxMessageBytes).toString('hex')).toBe(hex)
    expect(takenBytes(maxMessageBytes)).toBe(taken)
  })
})

describe('the response', () => {
  it.each([
    ['7ff10000', { kind: 'ready', takesBytes: 2 ** 24 - 1 }],
    ['7f010000', { kind: 'ready', takesBytes: 512 }],
    ['7f100000', { kind: 'other-serializer' }],
    ['7f200000', { kind: 'refused', why: expect.stringContaining('length') }],
    ['7f300000', { kind: 'refused', why: expect.stringContaining('reserved') }],
    ['7f400000', { kind: 'refused', why: expect.stringContaining('connection count') }],
    ['7f000000', { kind: 'refused', why: expect.stringContaining('error 0') }],
    ['7ff00000', { kind: 'refused', why: expect.stringContaining('error 15') }],
    ['7ff20000', { kind: 'refused', why: expect.stringContaining('not asked for') }],
    ['7ff10001', { kind: 'refused', why: expect.stringContaining('not asked for') }],
    ['48545450', { kind: 'refused', why: expect.stringContaining('does not speak') }],
    ['', { kind: 'refused', why: expect.stringContaining('does not speak') }],
  ])('%s to serializer 1', (hex, response) => {
    expect(readResponse(Buffer.from(hex, 'hex'), 1)).toEqual(response)
  })
})
