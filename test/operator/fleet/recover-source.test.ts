import { afterEach, describe, expect, it } from '@jest/globals'
import type { ManagementResponse } from '../../../operator/fleet/management-client.ts'
import { type Holder, RecoverSource } from '../../../operator/fleet/recover-source.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { aDesiredSet, aDocument } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'
import { aFleet, allSynced, aPlane, closeAll, HASTY, named, ToldDataPlanes } from './rig.ts'

afterEach(closeAll)

interface Wanted {
  readonly key: string
  readonly id?: string
  readonly digest: string
  readonly namespace: string
}

const wanted = (id: string): Wanted => ({
  key: id,
  id,
  digest: `digest-of-${id}`,
  namespace: 'default',
})

const good = (id: string): ManagementResponse<unknown> => ({
  result: 'ok',
  value: { id },
  etag: `"digest-of-${id}"`,
})

/** Longer than all that is waited for between two questions. */
const A_WHILE_MS = 60_000

const HUNG = new Promise<never>(() => undefined)

/** A source with holders that answer what they are told to, one after the other. */
const aSource = (holdersOf: (version: Wanted) => readonly Holder[], isGood = true) => {
  const recovered: string[] = []
  const rounds: number[] = []
  const clock = createManualClock()
  const source = new RecoverSource<Wanted>({
    holders: (version) => holdersOf(version as Wanted),
    recover: (version, document) => {
      recovered.push(`${version.key} ${JSON.stringify(document)}`)
      return Promise.resolve(isGood)
    },
    onRecovered: () => rounds.push(recovered.length),
    clock,
    log: createSilentLog(),
  })
  return { source, recovered, rounds, clock }
}

const answers = (key: string, ...list: readonly ManagementResponse<unknown>[]) => {
  const left = [...list]
  const state = { asked: 0 }
  const holder: Holder = {
    key,
    source: () => {
      state.asked += 1
      const next = left.length > 1 ? left.shift() : left[0]
      return next === undefined ? HUNG : Promise.resolve(next)
    },
  }
  return { holder, state }
}

describe('texts that only data planes have', () => {
  it('are requested from one that has them, and reported once for all of them', async () => {
    const { source, recovered, rounds } = aSource(({ key }) => [answers('p', good(key)).holder])
    source.want(Array.from({ length: 20 }, (_, i) => wanted(`d${i}`)))
    await settled()
    expect(rounds).toEqual([20])
    expect(recovered).toHaveLength(20)
    expect(recovered[0]).toBe('d0 {"id":"d0"}')
    source.stop()
  })

  it.each([
    ['none', { result: 'failed', message: 'x' }],
    ['404', { result: 'refused', status: 404, refusal: { code: '', message: '' } }],
    ['another version by now', { ...good('d'), etag: '"other"' }],
    ['no tag', { result: 'ok', value: { id: 'd' }, etag: undefined }],
    ['no document', { result: 'ok', value: [], etag: '"digest-of-d"' }],
  ] as const)('a response that is %s: the next one is called', async (_name, bad) => {
    const [first, second] = [answers('p', bad), answers('q', good('d'))]
    const { source, rounds } = aSource(() => [first.holder, second.holder])
    source.want([wanted('d')])
    await settled()
    expect(rounds).toEqual([1])
    expect([first.state.asked, second.state.asked]).toEqual([1, 1])
    source.stop()
  })

  it('no data plane has them yet: requested when one has', async () => {
    const holders: Holder[] = []
    const { source, rounds } = aSource(() => holders)
    source.want([wanted('d')])
    source.lookAgain()
    holders.push(answers('p', good('d')).holder)
    source.lookAgain()
    await settled()
    expect(rounds).toEqual([1])
    source.stop()
  })

  it('the only one that has them fails for a while: requested again', async () => {
    const failed = { result: 'failed', message: 'x' } as const
    const only = answers('p', failed, failed, failed, good('d'))
    const { source, rounds, clock } = aSource(() => [only.holder])
    source.want([wanted('d')])
    await settled()
    expect([only.state.asked, rounds]).toEqual([1, []])
    await clock.run(A_WHILE_MS)
    expect([only.state.asked, rounds]).toEqual([4, [1]])
    source.stop()
  })

  it('a text that stands for something else is not requested again, but for a new wish', async () => {
    const only = answers('p', good('d'))
    const { source, rounds, clock } = aSource(() => [only.holder], false)
    const version = wanted('d')
    source.want([version])
    await settled()
    expect(only.state.asked).toBe(1)
    source.want([version])
    source.lookAgain()
    await clock.run(A_WHILE_MS)
    expect([only.state.asked, rounds]).toEqual([1, []])
    source.want([{ ...version }])
    await settled()
    expect(only.state.asked).toBe(2)
    source.stop()
  })

  it('few are requested at once', async () => {
    let asked = 0
    const { source, clock } = aSource(() => [
      {
        key: 'p',
        source: () => {
          asked += 1
          return HUNG
        },
      },
    ])
    source.want(Array.from({ length: 50 }, (_, i) => wanted(`d${i}`)))
    source.lookAgain()
    await clock.run(A_WHILE_MS)
    expect(asked).toBe(2)
    source.stop()
  })

  it.each([
    [
      'it is not wanted any more',
      (source: RecoverSource<Wanted>): void => {
        source.want([])
      },
    ],
    [
      'it was stopped',
      (source: RecoverSource<Wanted>): void => {
        source.stop()
      },
    ],
  ])('a response that comes when %s is not taken', async (_name, end) => {
    const response = Promise.withResolvers<ManagementResponse<unknown>>()
    const { source, recovered, clock } = aSource(() => [
      { key: 'p', source: () => response.promise },
    ])
    source.want([wanted('d')])
    end(source)
    response.resolve(good('d'))
    await clock.run(A_WHILE_MS)
    expect(recovered).toEqual([])
    source.stop()
  })

  it('what breaks while it is taken in is not the end', async () => {
    let attempts = 0
    const clock = createManualClock()
    const source = new RecoverSource<Wanted>({
      holders: () => [answers('p', good('d')).holder],
      recover: () => {
        attempts += 1
        if (attempts === 1) throw new Error('a bug')
        return Promise.resolve(true)
      },
      onRecovered: () => undefined,
      clock,
      log: createSilentLog(),
    })
    source.want([wanted('d')])
    await clock.run(A_WHILE_MS)
    expect(attempts).toBe(2)
    source.stop()
  })

  it.each([
    ['confined since', '"digest-of-d@shop"'],
    ['confined no more', '"digest-of-d"', '@shop'],
  ])('a text that was %s is that text', async (_name, etag, suffix = '') => {
    const response = { result: 'ok', value: { id: 'd' }, etag } as const
    const { source, recovered } = aSource(() => [answers('p', response).holder])
    source.want([{ ...wanted('d'), digest: `digest-of-d${suffix}` }])
    await settled()
    expect(recovered).toEqual(['d {"id":"d"}'])
    source.stop()
  })
})

describe('a fleet', () => {
  it('knows who is ready and holds a version, and gets its text', async () => {
    const [one, two] = [await aPlane(), await aPlane()]
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told })
    const document = aDocument('a/b', { spec: { id: 'a/b', name: 'the last good one' } })
    fleet.apply(aDesiredSet([document]))
    told.tell([named('one', one, { incarnation: 'c1' }), named('two', two)])
    await allSynced(fleet)
    const keys = (version: { id?: string; digest: string }) =>
      fleet.holders({ ...version, namespace: 'default' }).map(({ key }) => key)
    const { id, digest } = document
    expect(keys({ id, digest })).toEqual(['one c1', 'two'])
    expect(keys({ digest })).toEqual(['one c1', 'two'])
    // Wherever it may lead by now.
    expect(keys({ id, digest: `${digest}@shop` })).toEqual(['one c1', 'two'])
    expect(keys({ digest: `${digest}@shop` })).toEqual(['one c1', 'two'])
    expect(keys({ id, digest: 'other' })).toEqual([])
    expect(keys({ id: 'other', digest: '' })).toEqual([])
    expect(keys({ digest: 'other' })).toEqual([])
    const taken: unknown[] = []
    const source = new RecoverSource({
      holders: (version) => fleet.holders(version),
      recover: (_version, text) => Promise.resolve(taken.push(text) > 0),
      onRecovered: () => undefined,
      clock: HASTY,
      log: createSilentLog(),
    })
    source.want([{ digest, namespace: 'default' }])
    await eventually(() => {
      expect(taken).toEqual([{ id: 'a/b', name: 'the last good one' }])
    })
    source.stop()
  })
})
