import { afterEach, describe, expect, it } from '@jest/globals'
import { staticDataPlanes } from '../../../operator/fleet/static-data-planes.ts'
import { startEpoch } from '../../../operator/epoch.ts'
import { createLog } from '../../../telemetry/log.ts'
import { aDesiredSet, aDocument, aRealm } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  aFleet,
  aPlane,
  closeAll,
  edited,
  many,
  NEVER,
  report,
  synced,
  whileTimePasses,
} from './rig.ts'

afterEach(closeAll)

describe('one data plane', () => {
  it('is brought to hold the desired set and completed', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    expect(report(fleet).phase).toBe('connecting')
    fleet.apply(aDesiredSet([aDocument('a'), aDocument('b')]))
    await synced(fleet)
    expect([...plane.specs.keys()]).toEqual(['a', 'b'])
    expect([...plane.realms.keys()]).toEqual(['com.shop'])
    expect(plane.complete).toBe(true)
    expect(report(fleet).documents.get('a')).toEqual({
      digest: 'digest-of-a',
      resource: 'default/a',
      warnings: [],
    })
  })

  it('is believed what it says of upstreams, as far as it makes sense', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('a'), aDocument('b')]))
    await synced(fleet)
    expect(report(fleet).upstreams?.size).toBe(0)
    plane.upstreams = {
      a: { origin: 'http://up:80', cause: 'dns' },
      b: { origin: 'http://up:80', cause: '<b>' },
    }
    plane.touch()
    await eventually(() => {
      expect([...(report(fleet).upstreams ?? [])]).toEqual([
        ['a', { origin: 'http://up:80', cause: 'dns' }],
      ])
    })
    plane.upstreams = undefined
    plane.touch()
    await eventually(() => {
      expect(report(fleet).upstreams?.size).toBe(0)
    })
  })

  it('is completed also for zero documents', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([]))
    await synced(fleet)
    expect(plane.syncs.map(({ complete }) => complete)).toEqual([plane.rootDigest()])
  })

  it('that starts is waited for a minute before its absence is a warning', async () => {
    const startMs = 1_000_000
    const clock = createManualClock({ startMs })
    const lines: string[] = []
    const say = (line: string): void => void lines.push(line)
    const log = createLog({ level: 'info', name: 'svc-operator', destination: { write: say } })
    const levels = (): readonly unknown[] =>
      lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ phase }) => phase === 'unreachable')
        .map(({ level }) => level)
    const { fleet } = aFleet([], {
      dataPlanes: staticDataPlanes(['http://127.0.0.1:1']),
      clock,
      log,
    })
    fleet.apply(aDesiredSet([]))
    await eventually(() => {
      expect(levels()).toEqual(['info'])
    })
    /** Until it has tried again and waits: a turn lasts longer. */
    const untilNextTry = (): Promise<number> =>
      eventually(() => {
        const { nextInMs = Infinity } = clock
        expect(nextInMs).toBeLessThanOrEqual(1_000)
        return nextInMs
      })
    clock.advance(59_000)
    while (clock.now() < startMs + 60_000) {
      expect(levels()).toEqual(['info'])
      clock.advance(await untilNextTry())
    }
    await eventually(() => {
      expect(levels()).toEqual(['info', 'warn'])
    })
  })

  it('gets only what changed, then nothing more: polls are answered 304', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(50))
    await synced(fleet)
    const before = plane.syncs.length
    const changed = many(50)
    fleet.apply({
      ...changed,
      documents: new Map([...changed.documents, ['d0007', aDocument('d0007', { digest: 'new' })]]),
    })
    await eventually(() => {
      expect(plane.specs.get('d0007')?.digest).toBe('new')
    })
    const calls = plane.syncs.slice(before)
    expect(calls.flatMap(({ specs }) => specs?.put?.map(({ id }) => id) ?? [])).toEqual(['d0007'])
    await eventually(() => {
      expect(plane.calls.slice(-5).map(({ status }) => status)).toEqual([304, 304, 304, 304, 304])
    })
  })

  it('gets large sets in batches, compressed', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(450))
    await synced(fleet)
    const sizes = plane.syncs.map(({ specs }) => specs?.put?.length ?? 0)
    expect(sizes).toEqual([199, 200, 51, 0])
    expect(plane.calls.some(({ headers }) => headers['content-encoding'] === 'gzip')).toBe(true)
    expect(plane.specs.size).toBe(450)
  })

  it('loses what is no longer desired', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('a'), aDocument('b')]))
    await synced(fleet)
    fleet.apply(
      aDesiredSet([aDocument('b', { realmUri: 'com.new' })], { realmList: [aRealm('com.new')] }),
    )
    await eventually(() => {
      expect([...plane.specs.keys()]).toEqual(['b'])
      expect([...plane.realms.keys()]).toEqual(['com.new'])
    })
  })

  it('is given everything again after a restart', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(3))
    await synced(fleet)
    plane.restart()
    await eventually(() => {
      expect(plane.complete).toBe(true)
      expect(plane.specs.size).toBe(3)
    })
  })

  it('that restarts with its snapshot is only completed', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(3))
    await synced(fleet)
    const before = plane.syncs.length
    plane.restart({ keeps: true })
    await eventually(() => {
      expect(plane.complete).toBe(true)
    })
    expect(plane.syncs.slice(before)).toHaveLength(1)
  })

  it('that was changed by hand is mended', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(3))
    await synced(fleet)
    plane.specs.delete('d0001')
    plane.touch()
    await eventually(() => {
      expect(plane.specs.has('d0001')).toBe(true)
    })
  })

  it('sees the bearer token', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane], {
      credentials: () => Promise.resolve({ token: 's3cret', tls: {} }),
    })
    fleet.apply(aDesiredSet([]))
    await synced(fleet)
    expect(plane.calls[0]?.headers.authorization).toBe('Bearer s3cret')
  })
})

describe('a document that is refused', () => {
  const PROBLEM = { code: 'invalid_value', path: '/host', message: 'no such host' } as const

  it('is not sent again, does not hold back the others, and is reported', async () => {
    const plane = await aPlane()
    plane.refuses.set('bad', PROBLEM)
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('bad'), aDocument('good')]))
    await synced(fleet)
    const before = plane.calls.length
    await eventually(() => {
      expect(plane.calls.length).toBeGreaterThan(before + 3)
    })
    const puts = plane.syncs.flatMap(({ specs }) => specs?.put?.map(({ id }) => id) ?? [])
    expect(puts.filter((id) => id === 'bad')).toHaveLength(1)
    expect([...plane.specs.keys()]).toEqual(['good'])
    expect(report(fleet).rejected.documents.get('bad')?.errors).toEqual([PROBLEM])
  })

  it('is sent again after a restart', async () => {
    const plane = await aPlane()
    plane.refuses.set('bad', PROBLEM)
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('bad')]))
    await synced(fleet)
    plane.refuses.clear()
    plane.restart()
    await eventually(() => {
      expect(plane.specs.has('bad')).toBe(true)
      expect(report(fleet).rejected.documents.size).toBe(0)
    })
  })

  it('keeps the version that the data plane holds, also in the digest it is completed with', async () => {
    const plane = await aPlane()
    plane.specs.set('bad', { digest: 'older', managedBy: 'svc-operator', warnings: [] })
    plane.refuses.set('bad', PROBLEM)
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('bad')]))
    await synced(fleet)
    expect(plane.specs.get('bad')?.digest).toBe('older')
    expect(report(fleet).documents.get('bad')?.digest).toBe('older')
  })

  it('a realm too', async () => {
    const plane = await aPlane()
    plane.refuses.set('com.shop', PROBLEM)
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('a')]))
    await synced(fleet)
    expect(report(fleet).rejected.realms.get('com.shop')?.errors).toEqual([PROBLEM])
  })

  it('withholds a fresh data plane where another one serves it', async () => {
    const [good, fresh] = [await aPlane(), await aPlane()]
    const { fleet } = aFleet([good, fresh])
    fresh.misbehaviours.push(...Array.from({ length: 5 }, () => ({ status: 500 })))
    fresh.refuses.set('a', PROBLEM)
    fleet.apply(aDesiredSet([aDocument('a')]))
    await synced(fleet)
    await eventually(() => {
      expect(report(fleet, 1)).toMatchObject({ phase: 'withheld', ready: false })
    })
    expect(fresh.complete).toBe(false)
    expect(report(fleet, 1).message).toContain('a')
  })
})

describe('a data plane that misbehaves', () => {
  it.each([
    ['500 to state', { status: 500, on: 'state' }],
    ['500 to sync', { status: 500, on: 'sync' }],
    ['412 to sync', { status: 412, on: 'sync' }],
    ['409 without an epoch', { status: 409, on: 'sync', body: {} }],
    ['401', { status: 401, on: 'state' }],
    ['404', { status: 404, on: 'state' }],
    ['418', { status: 418, on: 'sync' }],
    ['304 to a sync call', { status: 304, on: 'sync' }],
    ['a response that is none', { status: 200, body: { hello: 1 } }],
    ['a broken connection', { reset: true, on: 'sync' }],
    ['silence', { until: NEVER, on: 'state' }],
  ] as const)('%s: tried again until it is well', async (_name, misbehaviour) => {
    const plane = await aPlane()
    plane.misbehaviours.push(misbehaviour, misbehaviour)
    // Short for `silence`. A worker that is stopped meanwhile tries again, too.
    const { fleet } = aFleet([plane], { timeoutMs: 100 })
    fleet.apply(many(2))
    await synced(fleet)
    expect(plane.specs.size).toBe(2)
  })

  it('leaves an item out of its response: observed again', async () => {
    const plane = await aPlane()
    plane.forgets.add('d0000')
    const { fleet } = aFleet([plane])
    fleet.apply(many(2))
    await synced(fleet)
    expect(report(fleet).documents.has('d0000')).toBe(true)
  })

  it('nothing listens: said in words, and found when it comes', async () => {
    const port = await freePort()
    const { fleet, reports } = aFleet([], {
      dataPlanes: staticDataPlanes([`http://127.0.0.1:${port}`]),
    })
    fleet.apply(many(1))
    await eventually(() => {
      expect(report(fleet)).toMatchObject({ phase: 'unreachable', ready: false })
    })
    expect(report(fleet).message).toContain('is the gateway running')
    await aPlane(port)
    await synced(fleet)
    expect(reports.at(-1)?.phase).toBe('synced')
  })

  it('does not keep the others waiting', async () => {
    const [slow, quick] = [await aPlane(), await aPlane()]
    slow.misbehaviours.push({ until: NEVER }, { until: NEVER })
    const { fleet } = aFleet([slow, quick], { timeoutMs: 10_000 })
    fleet.apply(many(1))
    await synced(fleet, 1)
    expect(report(fleet, 0).phase).toBe('connecting')
  })

  it('goes on changing under our hands: backed off, then well', async () => {
    const plane = await aPlane()
    plane.misbehaviours.push(
      ...Array.from({ length: 8 }, () => ({ status: 412, on: 'sync' as const })),
    )
    const { fleet } = aFleet([plane])
    fleet.apply(many(1))
    await synced(fleet)
    expect(plane.misbehaviours).toEqual([])
  })

  it('credentials that cannot be read are a failure in words', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane], {
      credentials: () => Promise.reject(new Error("can't read the credential file /x")),
    })
    fleet.apply(many(1))
    await eventually(() => {
      expect(report(fleet).message).toContain('/x')
    })
  })
})

describe('who owns a data plane', () => {
  it('another manager: nothing is sent', async () => {
    const plane = await aPlane()
    plane.manager = 'somebody'
    const { fleet } = aFleet([plane])
    fleet.apply(many(1))
    await eventually(() => {
      expect(report(fleet)).toMatchObject({ phase: 'not_owner' })
    })
    expect(report(fleet).message).toContain("managed by 'somebody'")
    expect(plane.syncs).toEqual([])
  })

  it('no manager: 403 in words that help', async () => {
    const plane = await aPlane()
    plane.manager = null
    const { fleet } = aFleet([plane])
    fleet.apply(many(1))
    await eventually(() => {
      expect(report(fleet).message).toContain('--managed svc-operator')
    })
  })

  it('a later operator of our name: this one stops, and goes on when that is over', async () => {
    const plane = await aPlane()
    plane.epoch = Date.now() + 60_000
    const { fleet } = aFleet([plane])
    fleet.apply(many(1))
    await eventually(() => {
      expect(report(fleet)).toMatchObject({ phase: 'superseded', ready: false })
    })
    expect(plane.syncs).toEqual([])
    plane.epoch = 0
    plane.touch()
    await synced(fleet)
  })

  it('a later operator that comes between observing and sending', async () => {
    const plane = await aPlane()
    const epoch = Date.now() + 60_000
    plane.misbehaviours.push({
      status: 409,
      on: 'sync',
      body: { code: 'svc.error.stale_epoch', epoch },
    })
    const { fleet, reports } = aFleet([plane])
    fleet.apply(many(1))
    await synced(fleet)
    expect(reports.map(({ phase }) => phase)).toContain('superseded')
  })

  it('an epoch from the far future is overcome', async () => {
    const plane = await aPlane()
    plane.epoch = Date.now() + 1_000_000_000
    const { fleet } = aFleet([plane])
    fleet.apply(many(1))
    await synced(fleet)
    expect(plane.syncs.at(-1)?.epoch).toBe(plane.epoch)
  })

  it('an epoch from the far future that appears with a 409', async () => {
    const plane = await aPlane()
    const epoch = Date.now() + 1_000_000_000
    plane.misbehaviours.push({ status: 409, on: 'sync', body: { epoch } })
    const { fleet } = aFleet([plane])
    fleet.apply(many(1))
    await synced(fleet)
    expect(plane.syncs.at(-1)?.epoch).toBe(epoch + 1)
  })

  it.each([
    { epoch: 2 ** 52 - 1, how: 'state', phase: 'synced' },
    { epoch: 2 ** 52, how: 'state', phase: 'superseded' },
    { epoch: Number.MAX_SAFE_INTEGER, how: 'state', phase: 'superseded' },
    { epoch: Number.MAX_SAFE_INTEGER, how: '409', phase: 'superseded' },
  ])(
    'an epoch of $epoch that one data plane reports ($how) changes nothing for the others',
    async ({ epoch, how, phase }) => {
      const [hostile, honest] = [await aPlane(), await aPlane()]
      if (how === 'state') hostile.epoch = epoch
      else
        for (let i = 0; i < 100; i++)
          hostile.misbehaviours.push({ status: 409, on: 'sync', body: { epoch } })
      const { fleet } = aFleet([hostile, honest])
      const desired = many(1)
      fleet.apply(desired)
      await synced(fleet, 1)
      await eventually(() => {
        expect(report(fleet, 0).phase).toBe(phase)
      })
      fleet.apply(edited(desired, aDocument('later')))
      await eventually(() => {
        expect(honest.specs.has('later')).toBe(true)
      })
      // An operator that is started later continues from there.
      expect(honest.epoch).toBeLessThanOrEqual(Date.now())
    },
  )
})

describe('deletes', () => {
  it('are held back while the source says so', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(3))
    await synced(fleet)
    fleet.apply(aDesiredSet([], { holdDeletes: 'the directory is gone' }))
    await eventually(() => {
      expect(report(fleet)).toMatchObject({ phase: 'holding', ready: true })
    })
    expect(report(fleet).message).toBe('4 deletes are held back: the directory is gone')
    expect(plane.specs.size).toBe(3)
    fleet.apply(aDesiredSet([]))
    await eventually(() => {
      expect(plane.specs.size).toBe(0)
    })
  })

  it('too many at once wait a minute and for a live listing', async () => {
    const clock = createManualClock()
    let confirmations = 0
    let isConfirmed = false
    const lines: string[] = []
    const say = (line: string): void => void lines.push(line)
    const plane = await aPlane()
    const { fleet } = aFleet([plane], {
      clock,
      log: createLog({ level: 'info', name: 'svc-operator', destination: { write: say } }),
      epochSource: startEpoch(() => 1),
      confirmDeletes: () => {
        confirmations += 1
        return Promise.resolve(isConfirmed)
      },
    })
    fleet.apply(many(20))
    await synced(fleet)
    fleet.apply(aDesiredSet([]))
    await whileTimePasses(clock, () => {
      expect(report(fleet).message).toContain('a live listing confirms them')
    })
    expect([plane.specs.size, confirmations]).toEqual([20, 0])
    clock.advance(60_000)
    await whileTimePasses(clock, () => {
      expect(report(fleet).message).toContain('must confirm them has failed')
    })
    expect(plane.specs.size).toBe(20)
    isConfirmed = true
    await whileTimePasses(clock, () => {
      expect(plane.specs.size).toBe(0)
      expect(report(fleet).phase).toBe('synced')
    })
    const syncing = lines.filter((line) => line.includes('"phase":"syncing"'))
    expect(syncing.join()).toContain('the deletes are confirmed')
    for (const line of syncing) expect(line).toContain('"level":"info"')
  })

  it('do not stand in the way of what is put', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(20))
    await synced(fleet)
    fleet.apply(aDesiredSet([aDocument('new')]))
    await eventually(() => {
      expect(plane.specs.has('new')).toBe(true)
    })
    expect(plane.specs.size).toBe(21)
  })
})
