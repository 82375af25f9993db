import { describe, expect, it } from '@jest/globals'
import { ApiError } from '../../../../operator/kubernetes/client/api.ts'
import { createLeaseLeadership } from '../../../../operator/kubernetes/leader-election/election.ts'
import { LEASE_FORMAT } from '../../../../operator/resource/lease-format.ts'
import { createSilentLog, type Log } from '../../../../telemetry/log.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { QUICK, type Travel } from './fake-leases.ts'
import { Contest } from './rig.ts'

/** A Lease that no replica holds, as a chart may install it: the first one need not wait. */
const FREE = { metadata: { name: 'lease' } }

const aContest = (): Contest => {
  const contest = new Contest()
  contest.leases.put(FREE)
  return contest
}

describe('a leader term begins', () => {
  it('at once where no replica holds the Lease', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    expect(a.terms).toEqual([{ beganMs: expect.any(Number), epoch: 1 }])
    expect(contest.leases.spec()).toMatchObject({
      holderIdentity: expect.stringMatching(/^a_[0-9a-z]{8}$/),
      leaseDurationSeconds: 15,
      leaseTransitions: 1,
      renewTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    })
    expect(a.leadership.facts).toMatchObject({
      isLeading: true,
      holder: a.leadership.facts.identity,
      epoch: 1,
      failure: undefined,
    })
  })

  it('where there is no Lease, only when the holder of an earlier one must have stopped', async () => {
    const contest = new Contest()
    const a = await contest.add('a')
    await contest.pass(5_900)
    expect(contest.leases.writes).toEqual([])
    await contest.pass(3_000)
    expect(contest.leases.spec()).toMatchObject({ holderIdentity: a.leadership.facts.identity })
    await contest.pass(9_000)
    expect(a.terms).toEqual([])
    expect(a.leadership.isLeading).toBe(false)
    await contest.pass(5_000)
    expect(a.terms).toMatchObject([{ epoch: 1 }])
  })

  it('when the holder has not renewed for as long as it said, by our own clock', async () => {
    const contest = new Contest()
    contest.leases.put({
      ...FREE,
      // Its times are of a machine whose clock is wrong.
      spec: {
        holderIdentity: 'dead',
        leaseDurationSeconds: 30,
        leaseTransitions: 8,
        renewTime: '1999-01-01T00:00:00.000000Z',
      },
    })
    const a = await contest.add('a')
    await contest.pass(29_900)
    expect(a.terms).toEqual([])
    await contest.pass(5_000)
    expect(a.terms).toMatchObject([{ epoch: 9 }])
  })

  it('within a retry, when the holder goes', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    const b = await contest.add('b')
    await contest.pass(5_000)
    expect(b.terms).toEqual([])
    await contest.during(a.leadership.stop())
    expect(contest.leases.spec()).toMatchObject({ holderIdentity: '', leaseTransitions: 1 })
    expect(a.leadership.isLeading).toBe(false)
    await contest.pass(2_500)
    expect(b.terms).toMatchObject([{ epoch: 2 }])
  })

  it('after a crash, when the lease has expired', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    const b = await contest.add('b')
    await contest.pass(10_000)
    const [leader, other] = a.terms.length > 0 ? [a, b] : [b, a]
    leader.process.kill()
    await contest.pass(12_000)
    expect(other.terms).toEqual([])
    await contest.pass(8_000)
    expect(other.terms).toMatchObject([{ epoch: 2 }])
  })

  it('not with the name of an earlier life: that one may still act', async () => {
    const contest = aContest()
    const a = await contest.add('pod-1')
    await contest.pass(10)
    a.process.kill()
    const again = await contest.add('pod-1')
    await contest.pass(10_000)
    expect(again.terms).toEqual([])
    await contest.pass(10_000)
    expect(again.terms).toMatchObject([{ epoch: 2 }])
  })
})

describe('a leader term goes on', () => {
  it('with one request each two seconds', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    const { requests } = contest.leases
    await contest.pass(200_000)
    expect(contest.leases.requests - requests).toBeGreaterThan(75)
    expect(contest.leases.requests - requests).toBeLessThan(130)
    expect(a.terms).toMatchObject([{ epoch: 1 }])
  })

  it('when somebody edits the Lease, or deletes it', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    const b = await contest.add('b')
    await contest.pass(5_000)
    const [leader, other] = a.terms.length > 0 ? [a, b] : [b, a]
    contest.leases.edit((spec) => ({ ...spec, renewTime: '2020-01-01T00:00:00.000000Z' }))
    await contest.pass(5_000)
    contest.leases.remove()
    await contest.pass(30_000)
    expect(leader.terms).toMatchObject([{ epoch: 1 }])
    expect(leader.epochSource).toBeDefined()
    expect(other.terms).toEqual([])
    expect(contest.leases.spec()).toMatchObject({
      holderIdentity: leader.leadership.facts.identity,
      leaseTransitions: 1,
    })
  })

  it('through failures that end before the deadline', async () => {
    const contest = aContest()
    let travel: Travel = QUICK
    const a = await contest.add('a', { travel: () => travel })
    await contest.pass(1_000)
    for (const fate of ['lost_there', 'lost_back', 429, 500, 403] as const) {
      travel = { ...QUICK, fate }
      await contest.pass(4_500)
      expect(a.leadership.facts.failure).toBeDefined()
      travel = QUICK
      await contest.pass(6_000)
      expect(a.leadership.facts.failure).toBeUndefined()
    }
    expect(a.terms).toMatchObject([{ epoch: 1 }])
    expect(a.epochSource).toBeDefined()
  })

  it('when one request hangs', async () => {
    const contest = aContest()
    let travel: Travel = QUICK
    const a = await contest.add('a', { travel: () => travel })
    await contest.pass(10)
    travel = { thereMs: 1_000_000, backMs: 1 }
    await contest.pass(2_500)
    travel = QUICK
    await contest.pass(60_000)
    expect(a.terms).toHaveLength(1)
    expect(a.epochSource).toBeDefined()
  })
})

describe('a leader term ends', () => {
  it('ten seconds after the last renewal, and goes on under the same epoch when no other held it', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(5_000)
    contest.leases.pausedUntilMs = 65_000
    await contest.pass(60_000)
    const [term] = a.terms
    expect(term?.endedMs).toBeGreaterThan(12_000)
    expect(term?.endedMs).toBeLessThan(15_010)
    await contest.pass(10_000)
    expect(a.terms).toMatchObject([{ epoch: 1 }, { epoch: 1 }])
    expect(a.epochSource).toBeDefined()
  })

  it('so that another one is above it', async () => {
    const contest = aContest()
    let travel: Travel = QUICK
    const a = await contest.add('a', { travel: () => travel })
    await contest.pass(3_000)
    const b = await contest.add('b')
    travel = { ...QUICK, fate: 'lost_there' }
    await contest.pass(40_000)
    expect(b.terms).toMatchObject([{ epoch: 2 }])
    expect(a.terms[0]?.endedMs).toBeLessThan(b.terms[0]?.beganMs ?? 0)
    travel = QUICK
    await contest.pass(10_000)
    await contest.during(b.leadership.stop())
    await contest.pass(5_000)
    expect(a.terms).toMatchObject([{ epoch: 1 }, { epoch: 3 }])
  })

  it('before anything else is done, when the event loop has stood still', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(1_000)
    const { epochSource } = a
    a.process.freeze()
    await contest.pass(11_000)
    // What runs first is some other timer of the process, which is about to make a call.
    const order: string[] = []
    a.process.deliver(() => {
      order.push(
        `${String(epochSource?.epoch('gateway'))} ${a.epochSource === undefined ? 'lost' : 'leading'}`,
      )
    })
    a.process.thaw()
    expect(order).toEqual(['1 lost'])
    expect(a.terms[0]?.endedMs).toBe(contest.time.nowMs)
  })

  it.each([
    ['asked for, by the wall clock (a machine that slept)', 20_000],
    ['not for a wall clock that was set back', -3_600_000],
  ])('when isLeading is %s', async (_title, jumpMs) => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(1_000)
    a.process.wallOffsetMs += jumpMs
    expect(a.leadership.isLeading).toBe(jumpMs < 0)
    await contest.pass(30_000)
    expect(a.epochSource).toBeDefined()
    expect(a.terms).toHaveLength(jumpMs < 0 ? 1 : 2)
  })

  it.each([
    ['another one stands there', { holderIdentity: 'intruder' }, 1],
    ['its name was taken out', { holderIdentity: '' }, 2],
  ])('when %s', async (_title, edit, terms) => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    contest.leases.edit((spec) => ({ ...spec, ...edit }))
    await contest.pass(5_000)
    expect(a.terms[0]?.endedMs).toBeLessThan(3_000)
    expect(a.terms).toHaveLength(terms)
  })
})

describe('a data plane knows a higher epoch', () => {
  it.each<[string, number, number]>([
    ['of an operator that had lost its Lease', 7, 8],
    ['that an int32 just holds', 2 ** 31 - 2, 2 ** 31 - 1],
    ['that an int32 can not hold', 2 ** 31 - 1, 2 ** 31],
    ['of an operator without Kubernetes', 1_795_000_000_000, 1_795_000_000_001],
  ])('%s: raised above it', async (_title, reported, epoch) => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    const { epochSource } = a
    expect(
      await contest.during(epochSource?.challenge(reported, 'gateway') ?? Promise.resolve(false)),
    ).toBe(true)
    expect(epochSource?.epoch('gateway')).toBe(epoch)
    expect(Number(contest.leases.epochOf())).toBe(epoch)
    expect(a.terms).toHaveLength(1)
    // The next leader is above it too, and keeps it through renewals.
    await contest.pass(10_000)
    expect(Number(contest.leases.epochOf())).toBe(epoch)
    await contest.during(a.leadership.stop())
    expect(Number(contest.leases.epochOf())).toBe(epoch)
    const b = await contest.add('b')
    await contest.pass(3_000)
    expect(b.terms).toMatchObject([{ epoch: epoch + 1 }])
  })

  it('no longer: nothing is written', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    const writes = contest.leases.writes.length
    expect(await a.epochSource?.challenge(0, 'gateway')).toBe(true)
    expect(contest.leases.writes).toHaveLength(writes)
  })

  it('a hundred at once cost one look and one write', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    const { requests } = contest.leases
    const challenges = Array.from({ length: 100 }, async () =>
      a.epochSource?.challenge(50, 'gateway'),
    )
    expect(new Set(await contest.during(Promise.all(challenges)))).toEqual(new Set([true]))
    expect(contest.leases.requests - requests).toBeLessThanOrEqual(4)
    expect(a.epochSource?.epoch('gateway')).toBe(51)
  })

  it('since it has taken over: steps down', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    contest.leases.edit((spec) => ({ ...spec, holderIdentity: 'b', leaseTransitions: 2 }))
    const { epochSource } = a
    expect(
      await contest.during(epochSource?.challenge(2, 'gateway') ?? Promise.resolve(true)),
    ).toBe(false)
    expect(a.epochSource).toBeUndefined()
    expect(await epochSource?.challenge(3, 'gateway')).toBe(false)
  })

  it('while the API server is away: waits, and is false when the term ends', async () => {
    const contest = aContest()
    let travel: Travel = QUICK
    const a = await contest.add('a', { travel: () => travel })
    await contest.pass(10)
    travel = { ...QUICK, fate: 500 }
    const { requests } = contest.leases
    expect(
      await contest.during(a.epochSource?.challenge(9, 'gateway') ?? Promise.resolve(true)),
    ).toBe(false)
    expect(contest.leases.requests - requests).toBeLessThan(15)
    expect(a.terms[0]?.endedMs).toBeGreaterThan(9_900)
  })

  it('for a moment: goes on when it is back', async () => {
    const contest = aContest()
    let travel: Travel = { ...QUICK }
    const a = await contest.add('a', { travel: () => travel })
    await contest.pass(10)
    travel = { ...QUICK, fate: 'lost_back' }
    const challenge = a.epochSource?.challenge(9, 'gateway')
    await contest.pass(3_000)
    travel = QUICK
    expect(await contest.during(challenge ?? Promise.resolve(false))).toBe(true)
    expect(a.terms).toHaveLength(1)
  })

  it.each([2 ** 52, 2 ** 53 - 1, Infinity, Number.NaN])(
    'of %p, which is none: refused, or later leaders could not count on',
    async (reported) => {
      const contest = aContest()
      const a = await contest.add('a')
      await contest.pass(10)
      expect(await a.epochSource?.challenge(reported, 'gateway')).toBe(false)
      expect(a.epochSource?.epoch('gateway')).toBe(1)
    },
  )

  it('when the operator is ending: refused', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    const { epochSource } = a
    const challenge = epochSource?.challenge(5, 'gateway')
    await contest.during(a.leadership.stop())
    expect(await challenge).toBe(false)
    expect(contest.leases.spec()).toMatchObject({ holderIdentity: '' })
  })
})

describe('an operator ends', () => {
  it('in bounded time, also when the API server does not answer', async () => {
    const contest = aContest()
    const a = await contest.add('a')
    await contest.pass(10)
    contest.leases.pausedUntilMs = 10_000_000
    const before = contest.time.nowMs
    await contest.during(a.leadership.stop())
    expect(contest.time.nowMs - before).toBeLessThan(5_200)
  })

  it('without a word to the API where it never held the Lease', async () => {
    const contest = aContest()
    await contest.add('a')
    await contest.pass(10)
    const b = await contest.add('b')
    await contest.pass(10)
    const { requests } = contest.leases
    await b.leadership.stop()
    await b.leadership.stop()
    expect(contest.leases.requests).toBe(requests)
  })

  it('and gives back what it was given by a response that got lost', async () => {
    const contest = aContest()
    let calls = 0
    const a = await contest.add('a', {
      travel: () => ({ ...QUICK, ...((calls += 1) === 2 && { fate: 'lost_back' }) }),
    })
    await contest.pass(20)
    expect(a.terms).toEqual([])
    expect(contest.leases.spec()).toMatchObject({ holderIdentity: a.leadership.facts.identity })
    await contest.during(a.leadership.stop())
    expect(contest.leases.spec()).toMatchObject({ holderIdentity: '', leaseTransitions: 1 })
  })
})

describe('a standby sees', () => {
  it('nothing at first, then who holds it and since when, then that it is not renewed', async () => {
    const contest = aContest()
    const leader = await contest.add('a')
    await contest.pass(10)
    const { identity } = leader.leadership.facts
    let travel: Travel = QUICK
    const standby = await contest.add('b', { travel: () => travel })
    expect(standby.leadership.facts).toMatchObject({ hasLooked: false, holder: '' })
    await contest.pass(5_000)
    expect(standby.leadership.facts).toMatchObject({
      hasLooked: true,
      isLeading: false,
      isExpired: false,
      holder: identity,
      heldSinceMs: leader.leadership.facts.heldSinceMs,
    })
    expect(leader.leadership.facts).toMatchObject({ isLeading: true, isExpired: false })
    expect(leader.leadership.facts.heldSinceMs).toBeGreaterThan(0)
    leader.process.kill()
    travel = { ...QUICK, fate: 403 }
    await contest.pass(20_000)
    expect(standby.leadership.facts).toMatchObject({ holder: identity, isExpired: true })
    expect(standby.leadership.facts.failure).toBeDefined()
  })
})

describe('failure', () => {
  it('is logged when it begins, changes and ends, not at every retry', async () => {
    const contest = aContest()
    let travel: Travel = QUICK
    const lines: string[] = []
    const log: Log = {
      ...createSilentLog(),
      warn: (message) => lines.push(message),
      info: (message) => lines.push(message),
    }
    await contest.add('a', { travel: () => travel, log })
    await contest.pass(10)
    travel = { ...QUICK, fate: 403 }
    await contest.pass(60_000)
    travel = { ...QUICK, fate: 500 }
    await contest.pass(60_000)
    travel = QUICK
    await contest.pass(5_000)
    expect(lines).toEqual([
      'leading',
      'the lease could not be read or written',
      'no longer leading',
      'the lease could not be read or written',
      'leading',
      'the lease can be read and written again',
    ])
  })

  it('makes a candidate wait as long as the server says', async () => {
    const contest = aContest()
    let asked = 0
    const api = {
      ...contest.leases.for((await contest.add('z')).process),
      get: () => {
        asked += 1
        return Promise.reject(new ApiError('slow down', { status: 429, retryAfterMs: 30_000 }))
      },
    }
    const { process } = contest.contenders[0] ?? (await contest.add('y'))
    const leadership = createLeaseLeadership({
      api,
      namespace: 'svc',
      name: 'other',
      format: LEASE_FORMAT,
      identity: 'b',
      log: createSilentLog(),
      clock: process.clock,
      monotonicMs: process.monotonicMs,
    })
    await leadership.start({ onLead: () => undefined, onLose: () => undefined })
    await contest.pass(70_000)
    expect(asked).toBe(3)
    expect(leadership.facts.failure).toBe('slow down')
    await leadership.stop()
  })
})

it.each([
  { durationMs: 10_000, renewDeadlineMs: 10_000, retryMs: 2_000 },
  { durationMs: 15_000, renewDeadlineMs: 2_000, retryMs: 2_000 },
])('times that contradict each other are refused: %j', (times) => {
  expect(() =>
    createLeaseLeadership({
      namespace: 'svc',
      name: 'lease',
      format: LEASE_FORMAT,
      identity: 'a',
      log: createSilentLog(),
      ...times,
      api: {
        get: () => Promise.reject(new Error('never')),
        create: () => Promise.reject(new Error('never')),
        replace: () => Promise.reject(new Error('never')),
      },
      clock: createManualClock(),
    }),
  ).toThrow(/durationMs > renewDeadlineMs > retryMs/)
})
