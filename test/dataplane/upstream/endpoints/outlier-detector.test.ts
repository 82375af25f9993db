import { describe, expect, it } from '@jest/globals'
import {
  OutlierDetector,
  shareAfter,
  type EjectionChange,
} from '../../../../dataplane/upstream/endpoints/outlier-detector.ts'

const SECOND = 1000

const rig = (count = 2) => {
  let nowMs = 0
  const ejectionCounter = { count: 0 }
  const detector = new OutlierDetector({ now: () => nowMs, ejectionCounter })
  const members = new Set(Array.from({ length: count }, (_, at) => `10.0.0.${at + 1}`))
  return {
    detector,
    members,
    ejectionCounter,
    pass: (ms: number): void => {
      nowMs += ms
    },
    /** `+` and `-`: what became of requests to an address, in order. @returns the verdicts. */
    tell: (address: string, outcomes: string): (EjectionChange | undefined)[] =>
      Array.from(outcomes, (each) =>
        detector.report(
          { address, isFailure: each === '-', begunAt: ejectionCounter.count },
          members,
        ),
      ),
    /** Of a request that was given its address so long ago. */
    tellLate: (address: string, isFailure: boolean, begunAt: number): EjectionChange | undefined =>
      detector.report({ address, isFailure, begunAt }, members),
  }
}

const EJECTED = { kind: 'ejected', why: 'in a row', forMs: 10_000 }

describe('an address is ejected', () => {
  it.each([
    ['five in a row', '-----', true],
    ['after some that went well', '++-----', true],
    ['not by four', '----', false],
    ['not by more with one that went well among them', '----+----', false],
  ])('%s', (_, outcomes, isEjected) => {
    const { tell, detector } = rig()
    const verdicts = tell('10.0.0.1', outcomes)
    expect(verdicts.at(-1)).toEqual(isEjected ? EJECTED : undefined)
    expect(verdicts.slice(0, -1).every((each) => each === undefined)).toBe(true)
    expect([detector.isTroubled, detector.shareOf('10.0.0.1')]).toEqual([
      isEjected,
      isEjected ? 0 : 1,
    ])
  })

  it.each([
    ['three times the rate of the others', '+-', '+++++-', true],
    ['not where others fail as often', '+-', '+-', false],
    ['not for a failure now and then', '+++++++++-', '++++++++++', false],
  ])('%s', (_, own, others, isEjected) => {
    const { tell, detector } = rig()
    tell('10.0.0.2', others.repeat(10))
    const verdicts = tell('10.0.0.1', own.repeat(20))
    expect(verdicts.some((each) => each?.kind === 'ejected')).toBe(isEjected)
    expect(detector.shareOf('10.0.0.1')).toBe(isEjected ? 0 : 1)
  })

  it('by what was seen of late only', () => {
    const { tell, pass } = rig()
    tell('10.0.0.2', '+'.repeat(60))
    tell('10.0.0.1', '+-'.repeat(9))
    pass(11 * SECOND)
    expect(tell('10.0.0.1', '+-').every((each) => each === undefined)).toBe(true)
  })

  it.each([
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 2],
    [64, 32],
  ])('of %d at most %d', (count, most) => {
    const { tell, detector, members } = rig(count)
    for (const each of members) tell(each, '-'.repeat(20))
    expect([...members].filter((each) => detector.shareOf(each) === 0)).toHaveLength(most)
  })

  it('where one that is out is no address of the origin any more', () => {
    const { tell, members } = rig(2)
    tell('10.0.0.1', '-----')
    members.delete('10.0.0.1')
    members.add('10.0.0.3')
    expect(tell('10.0.0.2', '-----').at(-1)).toEqual(EJECTED)
  })

  it('for twice as long each time, five minutes at most, and for ten seconds after five good minutes', () => {
    const { tell, pass } = rig()
    const times: number[] = []
    let verdict = tell('10.0.0.1', '-----').at(-1)
    for (let round = 0; round < 8; round++) {
      const forMs = verdict?.kind === 'ejected' ? verdict.forMs : 0
      times.push(forMs / SECOND)
      pass(forMs)
      verdict = tell('10.0.0.1', '-').at(-1)
    }
    expect(times).toEqual([10, 20, 40, 80, 160, 300, 300, 300])
    pass(300 * SECOND)
    tell('10.0.0.1', '+')
    expect(tell('10.0.0.1', '-----').at(-1)).toMatchObject({ forMs: 300 * SECOND })
    pass(300 * SECOND)
    tell('10.0.0.1', '+')
    pass(301 * SECOND)
    expect(tell('10.0.0.1', '-----').at(-1)).toEqual(EJECTED)
  })
})

describe('an address that is out', () => {
  it('is tried by one request, whose outcome decides', () => {
    const { tell, pass, detector } = rig()
    tell('10.0.0.1', '-----')
    pass(9 * SECOND)
    expect(detector.isDue('10.0.0.1', true)).toBe(false)
    expect(tell('10.0.0.1', '+')).toEqual([undefined])
    pass(SECOND)
    expect([detector.isDue('10.0.0.1', true), detector.isDue('10.0.0.2', true)]).toEqual([
      true,
      false,
    ])
    detector.beginProbe('10.0.0.1')
    expect(detector.isDue('10.0.0.1', true)).toBe(false)
    expect(tell('10.0.0.1', '+')).toEqual([{ kind: 'readmitted' }])
    expect(detector.shareOf('10.0.0.1')).toBeCloseTo(0.1)
  })

  it('is tried by another where nothing is heard of the first for ten seconds', () => {
    const { tell, pass, detector } = rig()
    tell('10.0.0.1', '-----')
    pass(10 * SECOND)
    detector.beginProbe('10.0.0.1')
    pass(9 * SECOND)
    expect(detector.isDue('10.0.0.1', true)).toBe(false)
    pass(SECOND)
    expect(detector.isDue('10.0.0.1', true)).toBe(true)
  })

  it('is tried by one that must not be repeated only after ten seconds without another', () => {
    const { tell, pass, detector } = rig()
    tell('10.0.0.1', '-----')
    pass(19 * SECOND)
    expect(detector.isDue('10.0.0.1', false)).toBe(false)
    pass(SECOND)
    expect(detector.isDue('10.0.0.1', false)).toBe(true)
  })

  it('is not validated by requests that were under way', () => {
    const { tell, tellLate, pass, detector } = rig()
    tell('10.0.0.1', '-----')
    pass(10 * SECOND)
    expect(tellLate('10.0.0.1', false, 0)).toBeUndefined()
    expect(tellLate('10.0.0.1', true, 0)).toBeUndefined()
    tell('10.0.0.1', '+')
    for (let late = 0; late < 10; late++) expect(tellLate('10.0.0.1', true, 1)).toBeUndefined()
    expect(detector.shareOf('10.0.0.1')).toBeGreaterThan(0)
  })

  it('is let in where it is more than half of what is left', () => {
    const { tell, members, detector } = rig(4)
    tell('10.0.0.1', '-----')
    tell('10.0.0.2', '-----')
    members.delete('10.0.0.3')
    detector.matchEndpoints(members)
    expect([...members].filter((each) => detector.shareOf(each) === 0)).toEqual(['10.0.0.1'])
  })
})

describe('what is remembered', () => {
  it('can be forgotten after a good minute', () => {
    const { tell, pass, detector } = rig()
    tell('10.0.0.1', '-----')
    pass(100 * SECOND)
    expect(detector.isForgettable).toBe(false)
    tell('10.0.0.1', '+')
    expect(detector.isForgettable).toBe(true)
    tell('10.0.0.1', '-')
    expect(detector.isForgettable).toBe(false)
    pass(61 * SECOND)
    expect(detector.isForgettable).toBe(true)
  })

  it('is bounded, whatever addresses come and go', () => {
    const { tell, detector, members } = rig(0)
    for (let at = 0; at < 4000; at++) {
      members.add(`a${at}`)
      tell(`a${at}`, '-----')
    }
    expect([...members].filter((each) => detector.shareOf(each) === 0).length).toBeLessThanOrEqual(
      512,
    )
  })
})

describe('a share grows', () => {
  it.each([
    [0, 0.1],
    [5000, 0.55],
    [10_000, 1],
    [Infinity, 1],
    [-5, 0.1],
  ])('after %d ms to %d', (ms, share) => {
    expect(shareAfter(ms)).toBeCloseTo(share)
  })
})

describe('addresses that can not be reached', () => {
  const WAIT_MS = 8 * SECOND

  const unreachable = (count: number, dead: number, waitedMs = WAIT_MS) => {
    const made = rig(count)
    const { detector, members, ejectionCounter } = made
    for (const address of [...members].slice(0, dead))
      for (let failures = 0; failures < 5; failures++)
        detector.report(
          { address, isFailure: true, begunAt: ejectionCounter.count, waitedMs },
          members,
        )
    const out = [...members].map((each) => detector.shareOf(each) === 0)
    return { ...made, out }
  }

  it.each([
    [1, 1],
    [2, 2],
    [4, 3],
  ])('of %d, %d, are all ejected', (count, dead) => {
    expect(unreachable(count, dead).out.filter(Boolean)).toHaveLength(dead)
  })

  it.each([
    [WAIT_MS, WAIT_MS, true],
    [WAIT_MS, WAIT_MS + 1, false],
    [SECOND, WAIT_MS, false],
    [Infinity, 600 * SECOND, true],
  ])(
    'after waits of %d ms are so for a request that waits %d ms: %s',
    (waitedMs, connectTimeoutMs, expected) => {
      const { detector } = unreachable(1, 1, waitedMs)
      expect(detector.isUnreachable('10.0.0.1', connectTimeoutMs)).toBe(expected)
    },
  )

  it('stay ejected where the origin loses others, and leave no room for those that fail otherwise', () => {
    const { detector, tell } = unreachable(4, 1)
    tell('10.0.0.2', '-----')
    expect(detector.shareOf('10.0.0.2')).toBe(0)
    detector.matchEndpoints(new Set(['10.0.0.1', '10.0.0.2', '10.0.0.3']))
    expect(['10.0.0.1', '10.0.0.2'].map((each) => detector.shareOf(each) === 0)).toEqual([
      true,
      false,
    ])
  })

  it('are open again with the first connection, whatever was waited for', () => {
    const { detector } = unreachable(1, 1)
    expect(detector.onConnected('10.0.0.1')).toEqual({ kind: 'readmitted' })
    expect(detector.isUnreachable('10.0.0.1', WAIT_MS)).toBe(false)
    expect(detector.onConnected('10.0.0.1')).toBeUndefined()
  })
})
