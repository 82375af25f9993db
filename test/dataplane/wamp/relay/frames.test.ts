import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { closeFrame } from '../../../../dataplane/wamp/relay/close-frame.ts'
import { FrameScanner } from '../../../../dataplane/wamp/relay/frames.ts'
import { close, frame } from '../frames.ts'

const MAX = 70_000

/** Feeds `bytes` in pieces as a relay does: what has passed, and what was wrong. */
const feed = (bytes: Buffer, pieceBytes: readonly number[], isMasked = false) => {
  const scanner = new FrameScanner({ rules: { isMasked, maxMessageBytes: MAX } })
  const passed: Buffer[] = []
  let rest = Buffer.alloc(0)
  let at = 0
  for (let turn = 0; at < bytes.length && scanner.error === undefined; turn++) {
    const count = pieceBytes[turn % pieceBytes.length] ?? 1
    const chunk = Buffer.concat([rest, bytes.subarray(at, at + count)])
    at += count
    const taken = scanner.scan(chunk)
    passed.push(chunk.subarray(0, taken))
    rest = Buffer.from(chunk.subarray(taken))
  }
  const { error, hasClosed, payloadLeft } = scanner
  return {
    passed: Buffer.concat(passed).toString('latin1'),
    error: error?.code,
    hasClosed,
    payloadLeft,
  }
}

const WHOLE = [Number.MAX_SAFE_INTEGER]
const text = { opcode: 1 }
const first = { opcode: 1, isFinal: false }
const middle = { opcode: 0, isFinal: false }
const last = { opcode: 0 }
const ping = { opcode: 9 }
const masked = { isMasked: true }

const FINE: readonly (readonly [string, boolean, readonly Buffer[]])[] = [
  ['an empty frame', false, [frame('')]],
  ['short frames', false, [frame('hello', text), frame('x'), frame('', { opcode: 10 })]],
  [
    '125, 126, 65535 and 65536 bytes',
    false,
    [125, 126, 65_535, 65_536].map((n) => frame(Buffer.alloc(n))),
  ],
  ['masked frames', true, [frame('hello', masked), frame(Buffer.alloc(300), masked)]],
  [
    'a fragmented message with a ping within',
    false,
    [frame('a', first), frame('x', ping), frame('b', middle), frame('c', last), frame('d')],
  ],
  [
    'fragments up to the limit',
    false,
    [frame(Buffer.alloc(40_000), first), frame(Buffer.alloc(30_000), last)],
  ],
]

describe('frames that are right pass untouched', () => {
  it.each(FINE)('%s', (_, isMasked, frames) => {
    const bytes = Buffer.concat(frames)
    const expected = {
      passed: bytes.toString('latin1'),
      error: undefined,
      hasClosed: false,
      payloadLeft: 0,
    }
    expect(feed(bytes, WHOLE, isMasked)).toEqual(expected)
    expect(feed(bytes, [1], isMasked)).toEqual(expected)
  })

  it('however they are cut', () => {
    const bytes = Buffer.concat(FINE.flatMap(([, isMasked, frames]) => (isMasked ? [] : frames)))
    const whole = bytes.toString('latin1')
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }), (pieces) => {
        const { passed, error } = feed(bytes, pieces)
        expect([passed === whole, error]).toEqual([true, undefined])
      }),
    )
  })
})

describe('frames that are wrong do not pass', () => {
  it.each<readonly [string, readonly Buffer[], number]>([
    ['a reserved bit', [frame('x', { reserved: 4 })], 1002],
    ['another reserved bit', [frame('x', { reserved: 1 })], 1002],
    ['an unknown data opcode', [frame('x', { opcode: 3 })], 1002],
    ['an unknown control opcode', [frame('x', { opcode: 15 })], 1002],
    ['a mask where none may be', [frame('x', masked)], 1002],
    ['a control frame in fragments', [frame('x', { opcode: 9, isFinal: false })], 1002],
    ['a control frame too long', [frame(Buffer.alloc(126), ping)], 1002],
    ['a continuation of nothing', [frame('x', last)], 1002],
    ['a message within a message', [frame('x', first), frame('y', text)], 1002],
    ['a message over the limit', [frame(Buffer.alloc(MAX + 1))], 1009],
    ['a length over 2^53', [frame('x', { length: 2n ** 53n })], 1009],
    ['a length over 2^63', [frame('x', { length: 2n ** 63n + 1n })], 1009],
    ['fragments over the limit', [frame(Buffer.alloc(MAX), first), frame('x', last)], 1009],
  ])('%s', (_, frames, code) => {
    const before = Buffer.concat([frame('fine'), ...frames.slice(0, -1)])
    const bytes = Buffer.concat([before, ...frames.slice(-1), frame('behind it')])
    for (const pieces of [WHOLE, [1]])
      expect(feed(bytes, pieces)).toEqual({
        passed: before.toString('latin1'),
        error: code,
        hasClosed: false,
        payloadLeft: 0,
      })
  })

  it('a client must mask', () => {
    expect(feed(frame('x'), WHOLE, true).error).toBe(1002)
  })
})

describe('Close', () => {
  it.each([
    ['with a code', close(1000)],
    ['empty', frame('', { opcode: 8 })],
  ])('%s is the last that passes', (_, bytes) => {
    const both = Buffer.concat([frame('x'), bytes, frame('y')])
    for (const pieces of [WHOLE, [1]])
      expect(feed(both, pieces)).toMatchObject({
        passed: Buffer.concat([frame('x'), bytes]).toString('latin1'),
        error: undefined,
        hasClosed: true,
      })
  })

  it('is over only when all of it has passed', () => {
    expect(feed(close(1000).subarray(0, 3), WHOLE)).toMatchObject({
      hasClosed: false,
      payloadLeft: 1,
    })
  })
})

describe('the end of a frame can be waited for', () => {
  it('without going further', () => {
    const scanner = new FrameScanner({ rules: { isMasked: false, maxMessageBytes: MAX } })
    const bytes = frame('hello')
    scanner.scan(bytes.subarray(0, 4))
    expect(scanner.payloadLeft).toBe(3)
    expect(scanner.finishFrame(Buffer.concat([bytes.subarray(4), frame('more')]))).toBe(3)
    expect([scanner.payloadLeft, scanner.finishFrame(frame('x'))]).toEqual([0, 0])
  })
})

describe('our own Close frame', () => {
  it.each([
    ['', '88 02 03 e9'],
    ['bye', '88 05 03 e9 62 79 65'],
    ['x'.repeat(124), '88 02 03 e9'],
  ])('with the reason %j', (reason, hex) => {
    expect(closeFrame(1001, reason)).toEqual(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
  })

  it('is masked towards a router', () => {
    const mask = Buffer.from([0x12, 0x34, 0x56, 0x78])
    expect(closeFrame(1001, 'bye', mask)).toEqual(
      frame(Buffer.from([3, 0xe9, ...Buffer.from('bye')]), { opcode: 8, isMasked: true }),
    )
  })
})
