import { afterEach, describe, expect, it } from '@jest/globals'
import {
  ApiError,
  type ObjectList,
  TYPES,
  type WatchEvent,
} from '../../../../operator/kubernetes/client/api.ts'
import { createReflector } from '../../../../operator/kubernetes/watch/reflector.ts'
import {
  TOO_LARGE_RESPONSE,
  TOO_LARGE_VERSION,
} from '../../../../operator/kubernetes/client/api-error.ts'
import { WatchLog } from '../../../../operator/kubernetes/watch/watch-log.ts'
import type { Watched, WatchedOptions } from '../../../../operator/kubernetes/watch/watched.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'
import type { Log } from '../../../../telemetry/log.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts'
import { settled } from '../../../support/settled.ts'
import { createFakeApi, type Asked, type FakeApi } from '../fake-api.ts'

const stopping: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop()
})

type Listing = Extract<Asked, { call: 'list' }>
type Watching = Extract<Asked, { call: 'watch' }>

interface Rig {
  readonly api: FakeApi
  readonly watched: Watched<string>
  /** The next list that is asked for, after the waits that lead to it. */
  list(): Promise<Listing>
  watch(): Promise<Watching>
  /** What stood there at each `onChange`. */
  readonly told: { readonly keys: string[]; readonly status: number | undefined }[]
  /** What was waited for until something was asked, in milliseconds. */
  readonly waits: number[]
  readonly clock: ManualClock
  readonly errors: string[]
}

const START_MS = 1_800_000_000_000
/** So many turns of the event loop lie between a response and the next question, at most. */
const MOST_TURNS = 20

/** A reflector of texts under `data`. */
const run = (more: Partial<WatchedOptions<string>> = {}): Rig => {
  const fake = createFakeApi()
  const { api, asked } = fake
  const waits: number[] = []
  const errors: string[] = []
  const told: Rig['told'] = []
  const clock = createManualClock({ startMs: START_MS, random: () => 1 })
  const log: Log = { ...createSilentLog(), error: (message) => errors.push(message) }
  const watched = createReflector<string>({
    api,
    type: TYPES.configMaps,
    pageSize: 2,
    read: (object) => (typeof object['data'] === 'string' ? object['data'] : undefined),
    onChange: () => {
      told.push({ keys: [...watched.items.keys()], status: watched.failure?.status })
    },
    clock,
    log: { ...log, child: () => log },
    watchLog: new WatchLog({ clock: createManualClock(), log }),
    ...more,
  })
  watched.start()
  stopping.push(() => watched.stop())
  const next = async (): Promise<Asked> => {
    for (let turns = 0; turns < MOST_TURNS; turns += 1) {
      await settled()
      const first = asked.shift()
      if (first !== undefined) return first
      if (clock.nextInMs === undefined) continue
      waits.push(clock.nextInMs)
      clock.advance(clock.nextInMs)
    }
    throw new Error('nothing is asked')
  }
  return {
    api: fake,
    watched,
    told,
    waits,
    clock,
    errors,
    list: async () => {
      const found = await next()
      if (found.call === 'list') return found
      throw new Error(`it watches from ${found.options.resourceVersion}`)
    },
    watch: async () => {
      const found = await next()
      if (found.call === 'watch') return found
      throw new Error(`it lists ${JSON.stringify(found.options)}`)
    },
  }
}

const object = (name: string, version: number, data = `${name}${version}`): ValueMap => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: String(version) },
  data,
})
const listOf = (version: number, ...items: readonly ValueMap[]): ObjectList => ({
  resourceVersion: String(version),
  items,
})
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', given: ValueMap): WatchEvent => ({
  type,
  object: given,
})
const bookmark = (version: number): WatchEvent => ({
  type: 'BOOKMARK',
  resourceVersion: String(version),
})
const failed = (status: number, reason = 'SomeReason', retryAfterMs?: number): ApiError =>
  new ApiError(`status ${status}`, { status, reason, retryAfterMs })
const away = (reason = ''): ApiError => new ApiError('away', { status: 0, reason })

/** One that has listed a and b at version 10 and watches, quietly, for a while. */
const running = async (
  more: Partial<WatchedOptions<string>> = {},
): Promise<Rig & { readonly first: Watching }> => {
  const rig = run(more)
  ;(await rig.list()).answer(listOf(10, object('a', 1), object('b', 2)))
  const first = await rig.watch()
  first.tell()
  rig.clock.advance(60_000)
  return { ...rig, first }
}

/** Events have been taken in, and an immediate later told. */
const untilTold = async (): Promise<void> => {
  await settled()
  await settled()
}

const holds = (watched: Watched<string>): Record<string, string> =>
  Object.fromEntries(watched.items)

describe('a reflector', () => {
  it('lists by pages, tells once, and watches from there', async () => {
    const rig = run({ namespace: 'shop', labelSelector: 'a=b' })
    expect(rig.watched.hasSynced).toBe(false)
    const scope = { namespace: 'shop', labelSelector: 'a=b' }
    const first = await rig.list()
    expect(first.options).toEqual({ ...scope, limit: 2 })
    first.answer({ ...listOf(10, object('a', 1), object('b', 2)), continue: 'more' })
    const second = await rig.list()
    expect(second.options).toEqual({ ...scope, limit: 2, continue: 'more' })
    expect(rig.told).toEqual([])
    second.answer(listOf(10, object('constructor', 3)))
    const watch = await rig.watch()
    expect(watch.options).toMatchObject({ ...scope, resourceVersion: '10', timeoutSeconds: 600 })
    expect(rig.told).toEqual([
      { keys: ['shop/a', 'shop/b', 'shop/constructor'], status: undefined },
    ])
    expect(rig.watched.hasSynced).toBe(true)
    expect(rig.watched.failure).toBeUndefined()
  })

  it('reports an empty list too', async () => {
    const rig = run()
    ;(await rig.list()).answer(listOf(10))
    await rig.watch()
    expect(rig.told).toEqual([{ keys: [], status: undefined }])
  })

  it('tells the changes of one piece together, and nothing for a bookmark', async () => {
    const rig = await running()
    const before = rig.watched.items
    rig.first.tell(
      event('ADDED', object('c', 11)),
      event('MODIFIED', object('a', 12)),
      event('DELETED', object('b', 13)),
    )
    await untilTold()
    expect(holds(rig.watched)).toEqual({ 'shop/a': 'a12', 'shop/c': 'c11' })
    expect(rig.told).toHaveLength(2)
    expect(holds({ ...rig.watched, items: before })).toEqual({ 'shop/a': 'a1', 'shop/b': 'b2' })
    rig.first.tell(bookmark(20))
    await untilTold()
    expect(rig.told).toHaveLength(2)
    rig.first.tell(event('MODIFIED', object('c', 21)))
    await untilTold()
    expect(rig.told).toHaveLength(3)
  })

  it('checks its last version before it watches again', async () => {
    const rig = await running()
    rig.first.tell(bookmark(20))
    rig.first.end()
    const check = await rig.list()
    expect(check.options).toEqual({
      limit: 1,
      resourceVersion: '20',
      resourceVersionMatch: 'NotOlderThan',
    })
    check.answer(listOf(25, object('a', 1)))
    expect((await rig.watch()).options.resourceVersion).toBe('20')
    expect(rig.told).toHaveLength(1)
    expect(rig.waits).toEqual([])
  })

  it.each([
    ['410', failed(410, 'Expired')],
    ['a version that is too large', failed(504, TOO_LARGE_VERSION, 1000)],
  ])('lists again where the check says %s', async (_, error) => {
    const rig = await running()
    rig.first.end()
    ;(await rig.list()).fail(error)
    const list = await rig.list()
    expect(list.options).toEqual({ limit: 2 })
    list.answer(listOf(5, object('a', 1)))
    expect((await rig.watch()).options.resourceVersion).toBe('5')
    expect(rig.told.at(-1)).toEqual({ keys: ['shop/a'], status: undefined })
    expect(rig.waits).toEqual([])
  })

  it('reads equal versions again only where versions went back', async () => {
    const rig = await running()
    rig.first.end()
    ;(await rig.list()).fail(failed(410))
    ;(await rig.list()).answer(listOf(30, object('a', 1, 'other'), object('b', 2)))
    const watch = await rig.watch()
    expect(holds(rig.watched)['shop/a']).toBe('a1')
    watch.tell(bookmark(31))
    rig.clock.advance(60_000)
    watch.end()
    ;(await rig.list()).fail(failed(504, TOO_LARGE_VERSION))
    ;(await rig.list()).answer(listOf(9, object('a', 1, 'other'), object('b', 2)))
    await rig.watch()
    expect(holds(rig.watched)['shop/a']).toBe('other')
  })

  it('lists again at once after a 410, with a back-off where it comes again', async () => {
    const rig = await running()
    rig.first.fail(failed(410, 'Expired'))
    for (let round = 0; round < 3; round += 1) {
      ;(await rig.list()).answer(listOf(40, object('a', 1), object('b', 2)))
      ;(await rig.watch()).fail(failed(410, 'Expired'))
    }
    await rig.list()
    expect(rig.waits).toEqual([1600, 3200, 6400])
    expect(rig.watched.failure).toMatchObject({ status: 410 })
  })

  it('starts a list again that has expired between two pages', async () => {
    const rig = run()
    ;(await rig.list()).answer({ ...listOf(10, object('a', 1)), continue: 'more' })
    ;(await rig.list()).fail(failed(410, 'Expired'))
    const again = await rig.list()
    expect(again.options).toEqual({ limit: 2 })
    again.answer(listOf(12, object('b', 2)))
    await rig.watch()
    expect(holds(rig.watched)).toEqual({ 'shop/b': 'b2' })
  })

  it('waits longer and longer, and says since when', async () => {
    const rig = run()
    for (let failures = 0; failures < 8; failures += 1) (await rig.list()).fail(failed(500))
    const list = await rig.list()
    expect(rig.waits).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
    expect(rig.watched.failure).toEqual({
      sinceMs: START_MS,
      status: 500,
      message: 'status 500',
    })
    expect(rig.told).toEqual([{ keys: [], status: 500 }])
    expect(rig.watched.hasSynced).toBe(false)
    list.answer(listOf(10))
    ;(await rig.watch()).tell()
    expect(rig.watched.failure).toBeUndefined()
    expect(rig.told.map(({ status }) => status)).toEqual([500, 500, undefined])
  })

  it('waits no longer once the API server is back, and starts with a short back-off again', async () => {
    const rig = run()
    for (let failures = 0; failures < 8; failures += 1) (await rig.list()).fail(away())
    await settled()
    expect(rig.api.waiting).toBe(1)
    rig.waits.length = 0
    rig.api.returned()
    ;(await rig.list()).fail(failed(404))
    ;(await rig.list()).fail(failed(404))
    const last = await rig.list()
    // The spread of those that are woken together, then what a first and a second failure cost.
    expect(rig.waits).toEqual([500, 800, 1600])
    last.answer(listOf(10))
    ;(await rig.watch()).tell()
    expect(rig.watched.failure).toBeUndefined()
    expect([rig.api.waiting, rig.clock.pending]).toEqual([0, 0])
  })

  it.each([
    [
      'a moment later, not all at once',
      (rig: Rig) => {
        rig.api.returned()
      },
      500,
    ],
    [
      'by its own back-off, where that ends sooner',
      (rig: Rig) => {
        rig.clock.advance(400)
        rig.api.returned()
      },
      400,
    ],
  ])('is woken %s', async (_title, wake, waitMs) => {
    const rig = run()
    ;(await rig.list()).fail(away())
    await settled()
    wake(rig)
    await rig.list()
    expect(rig.waits).toEqual([waitMs])
    await settled()
    expect(rig.clock.pending).toBe(0)
  })

  it('waits as long as the API server asks', async () => {
    const rig = run()
    ;(await rig.list()).fail(failed(429, 'TooManyRequests', 9000))
    await rig.list()
    expect(rig.waits).toEqual([9000])
  })

  it.each([
    [404, 'a list'],
    [403, 'a check'],
  ])('keeps what it holds on %d, and goes on with %s', async (status, next) => {
    const rig = await running()
    rig.first.tell(bookmark(20))
    await settled()
    const sinceMs = START_MS + 60_000
    rig.first.fail(failed(status))
    const then = await rig.list()
    expect(then.options.resourceVersion).toBe(next === 'a list' ? undefined : '20')
    expect(holds(rig.watched)).toEqual({ 'shop/a': 'a1', 'shop/b': 'b2' })
    expect(rig.watched.failure).toEqual({ sinceMs, status, message: `status ${status}` })
  })

  it('goes on from its version where a connection only broke', async () => {
    const rig = await running()
    rig.first.tell(bookmark(20))
    rig.first.fail(away('Broken'))
    const check = await rig.list()
    expect(rig.watched.failure).toMatchObject({ status: 0 })
    expect(check.options).toMatchObject({ resourceVersion: '20' })
    check.answer(listOf(21))
    const watch = await rig.watch()
    expect(watch.options.resourceVersion).toBe('20')
    watch.tell()
    expect(rig.watched.failure).toBeUndefined()
  })

  it.each([
    ['could not be reached', away(), true],
    ['broke the check too', away('Broken'), true],
    ['is behind a proxy that says 503', failed(503, ''), true],
    ['is about to stop, or has just started', failed(429, '', 1000), true],
    ['has trouble of its own', failed(503, 'ServiceUnavailable'), false],
  ])('lists where the API server %s: it may have another past', async (_, error, mustList) => {
    const rig = await running()
    rig.first.fail(away('Broken'))
    ;(await rig.list()).fail(error)
    const next = await rig.list()
    expect(next.options.resourceVersion === undefined).toBe(mustList)
  })

  it('lists where the watch after a good check is not begun', async () => {
    const rig = await running()
    rig.first.end()
    ;(await rig.list()).answer(listOf(10))
    ;(await rig.watch()).fail(away('Broken'))
    expect((await rig.list()).options).toEqual({ limit: 2 })
  })

  it('asks whether the API server is there when a watch falls silent: no trouble while it is', async () => {
    const rig = await running()
    rig.first.fail(away('Silent'))
    const check = await rig.list()
    expect(check.options).toMatchObject({ resourceVersion: '10' })
    check.answer(listOf(10))
    const watch = await rig.watch()
    watch.tell()
    rig.clock.advance(90_000)
    watch.fail(away('Silent'))
    ;(await rig.list()).fail(away())
    expect((await rig.list()).options).toEqual({ limit: 2 })
    expect(rig.told.map(({ status }) => status)).toEqual([undefined, 0])
    expect(rig.watched.failure).toEqual({
      sinceMs: START_MS + 60_000,
      status: 0,
      message: 'away',
    })
  })

  it('asks for less where a response is too large', async () => {
    const rig = run({ pageSize: 50 })
    ;(await rig.list()).fail(away(TOO_LARGE_RESPONSE))
    expect((await rig.list()).options).toEqual({ limit: 25 })
  })

  it('does not ask in a hurry where every watch ends at once', async () => {
    const rig = run()
    ;(await rig.list()).answer(listOf(10))
    ;(await rig.watch()).end()
    ;(await rig.list()).answer(listOf(10))
    ;(await rig.watch()).end()
    await rig.list()
    expect(rig.waits).toEqual([800, 1600])
    expect(rig.watched.failure?.message).toContain('closes every watch immediately')
  })

  it('counts failures from 0 after it has worked for a while', async () => {
    const rig = await running()
    rig.first.fail(failed(500))
    ;(await rig.list()).answer(listOf(11))
    const second = await rig.watch()
    second.tell()
    rig.clock.advance(60_000)
    second.fail(failed(500))
    await rig.list()
    expect(rig.waits).toEqual([800, 800])
  })

  it('finds in a list what was deleted while it could not look', async () => {
    const rig = await running()
    const before = rig.watched.items.get('shop/b')
    rig.first.fail(failed(410))
    ;(await rig.list()).answer(listOf(30, object('b', 2), object('c', 20)))
    await rig.watch()
    expect(holds(rig.watched)).toEqual({ 'shop/b': 'b2', 'shop/c': 'c20' })
    expect(rig.watched.items.get('shop/b')).toBe(before)
  })

  it('is not stopped by what its owner throws', async () => {
    const rig = await running({
      read: (given) => {
        if (given['data'] === 'bad') throw new Error('read')
        return typeof given['data'] === 'string' ? given['data'] : undefined
      },
      onChange: () => {
        throw new Error('listener')
      },
    })
    rig.first.tell(event('MODIFIED', object('a', 11, 'bad')), event('ADDED', object('c', 12)))
    await untilTold()
    expect(holds(rig.watched)).toEqual({ 'shop/b': 'b2', 'shop/c': 'c12' })
    expect(rig.errors).toContain('a listener failed')
    expect(rig.errors).toContain('an object could not be read and is left out')
  })

  it('goes on after an error that is none of the API', async () => {
    const rig = await running()
    rig.first.fail(new TypeError('a bug'))
    await rig.list()
    expect(rig.errors).toEqual(['a watch failed unexpectedly'])
    expect(rig.watched.failure).toMatchObject({ status: 0 })
  })
})

describe('a live list', () => {
  it('ends the watch, and is true when it is taken in', async () => {
    const rig = await running()
    const relisted = rig.watched.relist()
    const list = await rig.list()
    expect(list.options).toEqual({ limit: 2 })
    list.answer(listOf(30, object('b', 2)))
    expect(await relisted).toBe(true)
    expect(holds(rig.watched)).toEqual({ 'shop/b': 'b2' })
    expect((await rig.watch()).options.resourceVersion).toBe('30')
    expect(rig.waits).toEqual([])
  })

  it('is false where it fails, and the watch goes on from where it was', async () => {
    const rig = await running()
    const relisted = rig.watched.relist()
    ;(await rig.list()).fail(failed(500))
    expect(await relisted).toBe(false)
    expect(holds(rig.watched)).toEqual({ 'shop/a': 'a1', 'shop/b': 'b2' })
    expect((await rig.list()).options).toMatchObject({ resourceVersion: '10' })
  })

  it('is one for all who ask before it begins, and another for who asks later', async () => {
    const rig = await running()
    const early = [rig.watched.relist(), rig.watched.relist()]
    const list = await rig.list()
    const late = rig.watched.relist()
    list.answer(listOf(30))
    expect(await Promise.all(early)).toEqual([true, true])
    ;(await rig.list()).answer(listOf(31, object('a', 31)))
    expect(await late).toBe(true)
    expect(holds(rig.watched)).toEqual({ 'shop/a': 'a31' })
  })

  it('cuts a wait short', async () => {
    const rig = run()
    ;(await rig.list()).fail(failed(500))
    await settled()
    expect(rig.clock.pending).toBe(1)
    const relisted = rig.watched.relist()
    ;(await rig.list()).answer(listOf(1))
    expect(await relisted).toBe(true)
    expect([rig.waits, rig.clock.pending]).toEqual([[], 0])
  })

  it('is false before the start, and after the stop', async () => {
    const { api } = createFakeApi()
    const log = createSilentLog()
    const watched = createReflector({
      api,
      type: TYPES.pods,
      pageSize: 1,
      read: () => 1,
      onChange: () => undefined,
      clock: createManualClock(),
      log,
    })
    expect(await watched.relist()).toBe(false)
    await watched.stop()
    watched.start()
    expect(await watched.relist()).toBe(false)
  })

  it('that is under way at the stop is false', async () => {
    const rig = await running()
    const relisted = rig.watched.relist()
    await rig.list()
    const late = rig.watched.relist()
    await rig.watched.stop()
    expect(await Promise.all([relisted, late])).toEqual([false, false])
  })
})

describe('a reflector that is stopped', () => {
  it('tells nothing more', async () => {
    const rig = await running()
    rig.first.tell(event('ADDED', object('c', 11)))
    await rig.watched.stop()
    await untilTold()
    expect(rig.told).toHaveLength(1)
  })

  it.each<[string, (list: Listing) => void, number | undefined]>([
    ['list', () => undefined, undefined],
    [
      'wait',
      (list) => {
        list.fail(failed(500))
      },
      500,
    ],
  ])('ends its %s', async (_, meanwhile, status) => {
    const rig = run()
    meanwhile(await rig.list())
    await settled()
    expect(rig.watched.failure?.status).toBe(status)
    await expect(rig.watched.stop()).resolves.toBeUndefined()
    expect(rig.clock.pending).toBe(0)
  })
})
