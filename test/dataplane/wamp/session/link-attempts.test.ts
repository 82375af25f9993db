import { describe, expect, it } from '@jest/globals'
import {
  afterFailure,
  afterJoin,
  afterLoss,
  type Attempts,
  type LinkFailure,
  NO_ATTEMPTS,
} from '../../../../dataplane/wamp/session/link-attempts.ts'

const unreachable = (url: string): LinkFailure => ({ url, isRejection: false, reason: 'gone' })
const rejected = (url: string): LinkFailure => ({ url, isRejection: true, reason: 'no' })
const attempts = (more: Partial<Attempts>): Attempts => ({ ...NO_ATTEMPTS, ...more })

interface Case {
  readonly title: string
  readonly before: Partial<Attempts>
  readonly failure: LinkFailure
  readonly addresses: number
  readonly after: Partial<Attempts>
}

interface RoundCase extends Case {
  readonly backOff: { readonly attempt: number; readonly longestMs: number }
  readonly reported: LinkFailure
}

describe('after an attempt that failed', () => {
  it.each<Case>([
    {
      title: 'the first of two addresses fails',
      before: {},
      failure: unreachable('a'),
      addresses: 2,
      after: { at: 1, round: [unreachable('a')] },
    },
    {
      title: 'a round that began with the second address goes on with the first',
      before: { at: 2, round: [unreachable('b')], failures: 4, rejections: 1 },
      failure: rejected('c'),
      addresses: 3,
      after: { at: 0, round: [unreachable('b'), rejected('c')], failures: 4, rejections: 1 },
    },
  ])('$title: the next address is tried at once', ({ before, failure, addresses, after }) => {
    expect(afterFailure(attempts(before), failure, addresses)).toEqual({
      kind: 'next_address',
      attempts: attempts(after),
    })
  })

  it.each<RoundCase>([
    {
      title: 'the only address cannot be reached',
      before: {},
      failure: unreachable('a'),
      addresses: 1,
      after: { failures: 1 },
      backOff: { attempt: 1, longestMs: 1000 },
      reported: unreachable('a'),
    },
    {
      title: 'the only address rejects',
      before: { rejections: 2, failures: 5 },
      failure: rejected('a'),
      addresses: 1,
      after: { rejections: 3, failures: 5 },
      backOff: { attempt: 3, longestMs: 30_000 },
      reported: rejected('a'),
    },
    {
      title: 'one of two rejects, which is reported',
      before: { at: 1, round: [rejected('a')], failures: 2, rejections: 7 },
      failure: unreachable('b'),
      addresses: 2,
      after: { failures: 3 },
      backOff: { attempt: 3, longestMs: 1000 },
      reported: rejected('a'),
    },
    {
      title: 'both reject, and the first is reported',
      before: { at: 1, round: [rejected('a')] },
      failure: rejected('b'),
      addresses: 2,
      after: { rejections: 1 },
      backOff: { attempt: 1, longestMs: 30_000 },
      reported: rejected('a'),
    },
    {
      title: 'neither can be reached, and the last is reported',
      before: { at: 0, round: [unreachable('b')] },
      failure: unreachable('a'),
      addresses: 2,
      after: { at: 1, failures: 1 },
      backOff: { attempt: 1, longestMs: 1000 },
      reported: unreachable('a'),
    },
  ])('$title: the link backs off', ({ before, failure, addresses, after, backOff, reported }) => {
    expect(afterFailure(attempts(before), failure, addresses)).toEqual({
      kind: 'back_off',
      attempts: attempts(after),
      backOff,
      reported,
    })
  })
})

describe('after a session', () => {
  it('a join ends the round and the rejections, and keeps the address', () => {
    const before = attempts({ at: 1, round: [rejected('a')], failures: 3, rejections: 2 })
    expect(afterJoin(before)).toEqual(attempts({ at: 1, failures: 3 }))
  })

  it.each([
    [4999, 4],
    [5000, 1],
  ])('one of %i ms is failure number %i in a row', (sessionMs, attempt) => {
    expect(afterLoss(attempts({ at: 1, failures: 3 }), sessionMs)).toEqual({
      attempts: attempts({ at: 1, failures: attempt }),
      backOff: { attempt, longestMs: 1000 },
    })
  })
})
