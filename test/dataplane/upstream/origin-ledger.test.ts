import { describe, expect, it } from '@jest/globals'
import { OriginLedger, type OriginRecord } from '../../../dataplane/upstream/origin-ledger.ts'

const MINUTE = 60_000

const rig = () => {
  let nowMs = 0
  const ledger = new OriginLedger(() => nowMs)
  const open = (origin: string, realm?: string): OriginRecord => {
    const record = ledger.acquire({ origin, confinedTo: undefined })
    if (realm !== undefined) ledger.name(record, realm)
    return record
  }
  return {
    ledger,
    open,
    /** So many origins of one realm, each with a request. */
    openMany: (count: number, realm: string | undefined): OriginRecord[] =>
      Array.from({ length: count }, (_, at) => {
        const record = open(`http://${realm ?? 'made-up'}-${at}`, realm)
        record.counts.requests++
        return record
      }),
    labels: () => new Map(ledger.counts.read().map(({ label, requests }) => [label, requests])),
    pass: (ms: number): void => {
      nowMs += ms
    },
  }
}

describe('requests', () => {
  it('are counted by the origin that a document names', () => {
    const { open, labels } = rig()
    const record = open('http://up', 'a')
    record.counts.requests++
    record.counts.requests++
    expect([...labels()]).toEqual([['http://up', 2]])
  })

  it('to origins that are made up are counted together', () => {
    const { openMany, open, labels } = rig()
    openMany(5000, undefined)
    open('http://up', 'a').counts.requests++
    expect([...labels()]).toEqual([
      ['http://up', 1],
      ['other', 5000],
    ])
  })

  it('to an origin that is made up first and named then are counted by it from then on', () => {
    const { ledger, open, labels } = rig()
    const record = open('http://up')
    record.counts.requests++
    ledger.name(record, 'a')
    record.counts.requests++
    expect([...labels()]).toEqual([
      ['http://up', 1],
      ['other', 1],
    ])
  })

  it('of documents that are confined and of others are counted together', () => {
    const { ledger, open, labels } = rig()
    const confined = ledger.acquire({ origin: 'http://up', confinedTo: 'shop' })
    ledger.name(confined, 'a')
    for (const record of [confined, open('http://up', 'a')]) record.counts.requests++
    expect([...labels()]).toEqual([['http://up', 2]])
  })

  it('are counted for 200 origins at most', () => {
    const { openMany, labels } = rig()
    openMany(1000, 'a')
    expect([labels().size, labels().get('other')]).toEqual([201, 800])
  })

  it('of a realm with few origins are counted, however many another realm has', () => {
    const { openMany, labels } = rig()
    const many = openMany(1000, 'a')
    openMany(300, 'b')
    for (const { counts } of many) counts.requests++
    const names = [...labels().keys()]
    expect([
      names.filter((name) => name.startsWith('http://a-')).length,
      names.filter((name) => name.startsWith('http://b-')).length,
    ]).toEqual([100, 100])
  })

  it('to what was idle for ten minutes make room, and to nothing else', () => {
    const { openMany, open, labels, pass } = rig()
    const [busy, ...idle] = openMany(200, 'a')
    labels()
    pass(10 * MINUTE)
    if (busy !== undefined) busy.counts.requests++
    const added = Array.from({ length: 200 }, (_, at) => open(`http://new-${at}`, 'a'))
    expect(busy?.counts.label).toBe('http://a-0')
    expect(idle.every(({ counts }) => counts.label === 'other')).toBe(true)
    expect(added.filter(({ counts }) => counts.label === 'other')).toHaveLength(1)
  })
})

describe('failures', () => {
  it('are counted by origin and cause', () => {
    const { ledger, open } = rig()
    const record = open('http://up', 'a')
    record.onFailure('refused', 'shared', 'a')
    record.onFailure('refused', 'shared', 'a')
    record.onResponse(503, 'a')
    record.onResponse(200, 'a')
    open('http://made-up').onFailure('dns', 'shared')
    expect(ledger.counts.readFailures()).toEqual([
      { origin: 'http://up', cause: 'refused', count: 2 },
      { origin: 'http://up', cause: 'status_503', count: 1 },
      { origin: 'other', cause: 'dns', count: 1 },
    ])
  })

  it('are remembered with their time, but not what clients give up', () => {
    const { open, pass } = rig()
    const record = open('http://up', 'a')
    pass(5)
    record.onFailure('timeout', 'realm', 'a')
    record.onFailure('aborted', 'none', 'a')
    expect(record.lastFailure).toEqual({ cause: 'timeout', atMs: 5 })
  })

  it.each([
    ['shared', [{ realm: undefined, isFailing: true }]],
    ['realm', [{ realm: 'a', isFailing: true }]],
    ['none', []],
  ] as const)('with blame %s', (blame, troubles) => {
    const { open, pass } = rig()
    const record = open('http://up', 'a')
    for (let count = 0; count < 5; count++) record.onFailure('reset', blame, 'a')
    pass(30_000)
    expect(record.streaks()).toMatchObject(troubles)
  })
})

describe('a record', () => {
  it('outlives its connections by ten minutes', () => {
    const { ledger, open, pass } = rig()
    const record = open('http://up', 'a')
    ledger.release(record)
    pass(10 * MINUTE - 1)
    expect(open('http://up')).toBe(record)
    ledger.release(record)
    pass(10 * MINUTE)
    expect(ledger.records()).toEqual([])
    expect(open('http://up')).not.toBe(record)
  })

  it('is kept for a thousand origins without connections, and for all that have some', () => {
    const { ledger, openMany } = rig()
    const [first, ...rest] = openMany(3000, undefined)
    for (const record of rest) ledger.release(record)
    expect([ledger.records().length, ledger.records()[0] === first]).toEqual([1001, true])
  })
})
