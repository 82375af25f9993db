import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { staticDataPlanes, urlErrorOf } from '../../../operator/fleet/static-data-planes.ts'
import { startEpoch } from '../../../operator/epoch.ts'
import { MassDeleteGuard } from '../../../operator/fleet/sync/mass-delete-guard.ts'
import { type Batch, type BatchPlan, planBatches } from '../../../operator/fleet/sync/batches.ts'
import {
  type Difference,
  differenceOf,
  isEmpty,
  withoutDeletes,
} from '../../../operator/fleet/sync/difference.ts'
import { LoadedState } from '../../../operator/fleet/sync/loaded-state.ts'
import { Rejections } from '../../../operator/fleet/sync/rejections.ts'
import { select } from '../../../operator/fleet/sync/selection.ts'
import {
  completeBody,
  joinBody,
  SyncBodies,
  type SyncBody,
} from '../../../operator/fleet/sync/sync-body.ts'
import {
  readRefusal,
  readStateView,
  readSyncReply,
} from '../../../operator/fleet/client/read-response.ts'
import { type DataPlane, isSelected } from '../../../operator/data-plane.ts'
import { PlaneMemory } from '../../../operator/fleet/sync/plane-memory.ts'
import type { ManagementClient } from '../../../operator/fleet/management-client.ts'
import type { DesiredDocument } from '../../../operator/desired-set.ts'
import type { StateView, SyncRequest } from '../../../language/wire/wire.ts'
import { aDesiredSet, aDocument, aRealm, claim } from '../../support/desired.ts'

const PLANE: DataPlane = { name: 'a', url: 'http://127.0.0.1:1', labels: { tier: 'edge' } }

const state = (
  specs: Readonly<Record<string, string>>,
  more: Partial<StateView> = {},
): StateView => ({
  bootId: 'boot-1',
  version: 1,
  manager: 'op',
  epoch: 1,
  rootDigest: 'root',
  complete: true,
  specs: Object.fromEntries(
    Object.entries(specs).map(([id, digest]) => [id, { digest, managedBy: 'op', warnings: [] }]),
  ),
  realms: {},
  ...more,
})

describe('back-off', () => {
  it('has a real clock', async () => {
    expect(SYSTEM_CLOCK.now()).toBeGreaterThan(1_700_000_000_000)
    expect(SYSTEM_CLOCK.random()).toBeLessThan(1)
    let cancelled = true
    SYSTEM_CLOCK.after(0, () => (cancelled = false))()
    await new Promise<void>((resolve) => {
      SYSTEM_CLOCK.after(1, resolve)
    })
    expect(cancelled).toBe(true)
  })
})

describe('URLs of data planes', () => {
  it.each([
    ['http://127.0.0.1:18081', /^good$/],
    ['http://localhost:1', /^good$/],
    ['http://[::1]:1', /^good$/],
    ['http://127.9.9.9:1', /^good$/],
    ['https://gateway.example.com:18081', /^good$/],
    ['unix:/run/gateway.sock', /^good$/],
    ['unix:', /socket/],
    ['http://10.0.0.1:18081', /loopback/],
    ['http://127.evil.example:1', /loopback/],
    ['http://localhost.evil.example:1', /loopback/],
    ['ftp://127.0.0.1', /scheme/],
    ['nonsense', /not a URL/],
    ['https://u:p@gateway:1', /credentials/],
    ['https://gateway:1/path', /only scheme/],
    ['https://gateway:1/?a=b', /only scheme/],
  ])('%s', (url, fault) => {
    expect(urlErrorOf(url) ?? 'good').toMatch(fault)
  })

  it('name the data planes', () => {
    const found: DataPlane[] = []
    const planes = staticDataPlanes(['http://127.0.0.1:1', 'unix:/a'])
    planes.start((list) => found.push(...list))
    planes.stop()
    expect(found.map(({ name }) => name)).toEqual(['127.0.0.1:1', 'unix:/a'])
  })
})

describe('epochSource without a Lease', () => {
  it('steps back for an operator that was started later', async () => {
    const epochSource = startEpoch(() => 1_000_000)
    expect(await epochSource.challenge(1_000_500, 'gateway')).toBe(false)
    expect(epochSource.epoch('gateway')).toBe(1_000_000)
  })

  it('raises its epoch above one that no leader can have started with', async () => {
    const epochSource = startEpoch(() => 1_000_000)
    expect(await epochSource.challenge(9_000_000, 'gateway')).toBe(true)
    expect(epochSource.epoch('gateway')).toBe(9_000_001)
  })

  it('raises it for the data plane that has reported it, and for no other', async () => {
    const epochSource = startEpoch(() => 1_000_000)
    expect(await epochSource.challenge(2 ** 52 - 1, 'hostile')).toBe(true)
    expect(epochSource.epoch('hostile')).toBe(2 ** 52)
    expect(epochSource.epoch('honest')).toBe(1_000_000)
  })

  it.each([2 ** 52, 2 ** 53 - 2, 2 ** 53 - 1, 2 ** 53, Infinity, Number.NaN])(
    'raises it above no epoch that is none: %p',
    async (reported) => {
      const epochSource = startEpoch(() => 1_000_000)
      expect(await epochSource.challenge(reported, 'gateway')).toBe(false)
      expect(epochSource.epoch('gateway')).toBe(1_000_000)
    },
  )
})

describe('mass-delete guard', () => {
  it.each([
    { wanted: 0, size: 0, decision: 'go' },
    { wanted: 5, size: 5, decision: 'go' },
    { wanted: 6, size: 6, decision: 'hold' },
    { wanted: 20, size: 100, decision: 'go' },
    { wanted: 21, size: 100, decision: 'hold' },
  ])('$wanted of $size: $decision', ({ wanted, size, decision }) => {
    expect(new MassDeleteGuard().decide(wanted, size, 0).decision).toBe(decision)
  })

  it('counts what went within the minute', () => {
    const guard = new MassDeleteGuard()
    guard.deleted(4, 0)
    guard.deleted(0, 1)
    expect(guard.decide(2, 10, 30_000).decision).toBe('hold')
    expect(guard.decide(2, 10, 60_000).decision).toBe('go')
  })

  it('asks for a live listing after a minute, and goes once it is confirmed', () => {
    const guard = new MassDeleteGuard()
    expect(guard.decide(10, 10, 1_000)).toEqual({ decision: 'hold', untilMs: 61_000, wanted: 10 })
    expect(guard.decide(10, 10, 60_999).decision).toBe('hold')
    expect(guard.decide(10, 10, 61_000)).toEqual({ decision: 'confirm', wanted: 10 })
    guard.confirm()
    expect(guard.decide(10, 10, 61_001).decision).toBe('go')
    expect(guard.decide(10, 10, 61_002).decision).toBe('hold')
  })

  it('holds the rest while some come back, until all are back or the minute is over', () => {
    const guard = new MassDeleteGuard()
    expect(guard.decide(10, 10, 0).decision).toBe('hold')
    expect(guard.decide(3, 10, 1_000)).toEqual({ decision: 'hold', untilMs: 60_000, wanted: 3 })
    expect(guard.decide(3, 10, 60_000).decision).toBe('confirm')
    expect(guard.decide(0, 10, 60_001).decision).toBe('go')
    expect(guard.decide(3, 10, 60_002).decision).toBe('go')
  })

  it('starts again when the resources come back', () => {
    const guard = new MassDeleteGuard()
    guard.decide(10, 10, 0)
    expect(guard.decide(0, 10, 50_000).decision).toBe('go')
    expect(guard.decide(10, 10, 61_000).decision).toBe('hold')
  })
})

describe('selection', () => {
  const SIDECAR: DataPlane = { ...PLANE, namespace: 'shop' }
  it.each([
    ['no selector, shared pool', { namespace: 'x' }, PLANE, true],
    [
      'selector that fits',
      { namespace: 'x', selector: { matchLabels: { tier: 'edge' } } },
      PLANE,
      true,
    ],
    [
      'selector that does not',
      { namespace: 'x', selector: { matchLabels: { tier: 'core' } } },
      PLANE,
      false,
    ],
    ['no selector, sidecar', { namespace: 'shop' }, SIDECAR, false],
    ['sidecar selected', { namespace: 'shop', selector: {} }, SIDECAR, true],
    ['sidecar of another namespace', { namespace: 'x', selector: {} }, SIDECAR, false],
  ])('%s', (_name, document, plane, expected) => {
    expect(isSelected(document, plane)).toBe(expected)
  })

  it('takes the realms that its documents use', () => {
    const desired = aDesiredSet([aDocument('a')], { realmList: [aRealm(), aRealm('com.other')] })
    expect([...select(desired, PLANE).realms.keys()]).toEqual(['com.shop'])
  })
})

describe('difference', () => {
  const never = (): boolean => false
  const diff = (
    documents: readonly DesiredDocument[],
    held: StateView,
    more: Parameters<typeof aDesiredSet>[1] & {
      elsewhere?: (document: DesiredDocument) => boolean
    } = {},
  ): Difference => {
    const { elsewhere = never, ...rest } = more
    return differenceOf(
      select(aDesiredSet(documents, rest), PLANE),
      new LoadedState(held, 'op'),
      new Rejections(),
      elsewhere,
    )
  }

  it('is empty where digests agree', () => {
    const held = state(
      { a: 'digest-of-a' },
      { realms: { 'com.shop': { digest: 'digest-of-com.shop', managedBy: 'op', sessions: [] } } },
    )
    expect(isEmpty(diff([aDocument('a')], held))).toBe(true)
  })

  it('puts what differs or is missing, and realms first needed', () => {
    const { documents, realms } = diff([aDocument('a'), aDocument('b')], state({ a: 'old' }))
    expect(documents.put.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(realms.put.map(({ uri }) => uri)).toEqual(['com.shop'])
  })

  it('adopts what was loaded by hand under a wanted id, and leaves the rest of it alone', () => {
    const held = state({})
    const unmanaged = { digest: 'digest-of-a', managedBy: null, warnings: [] }
    const { documents } = diff([aDocument('a')], {
      ...held,
      specs: { a: unmanaged, other: unmanaged },
    })
    expect(documents.put.map(({ id }) => id)).toEqual(['a'])
    expect(documents.delete).toEqual([])
  })

  it('never deletes what a resource without a good version stands for', () => {
    const kept = { documents: new Set(['a']), realms: new Set(['com.kept']) }
    const held = state(
      { a: 'x', b: 'x' },
      { realms: { 'com.kept': { digest: 'x', managedBy: 'op', sessions: [] } } },
    )
    const { documents, realms } = diff([], held, { kept })
    expect(documents.delete).toEqual(['b'])
    expect(realms.delete).toEqual([])
  })

  it('keeps realms while a document stays that may use them', () => {
    const kept = { documents: new Set(['a']), realms: new Set<string>() }
    const realms = { 'com.shop': { digest: 'x', managedBy: 'op', sessions: [] } }
    expect(diff([], state({ a: 'x' }, { realms }), { kept }).realms.delete).toEqual([])
    expect(diff([], state({}, { realms }), { kept }).realms.delete).toEqual(['com.shop'])
  })

  it('deletes what others are selected for only when one of them has it', () => {
    const moved = aDocument('a', { selector: { matchLabels: { tier: 'core' } } })
    expect(diff([moved], state({ a: 'x' })).documents.delete).toEqual([])
    expect(diff([moved], state({ a: 'x' })).documents.waiting).toEqual(['a'])
    expect(diff([moved], state({ a: 'x' }), { elsewhere: () => true }).documents.delete).toEqual([
      'a',
    ])
  })

  it('can do without its deletes', () => {
    const difference = diff([aDocument('b')], state({ a: 'x' }))
    expect(withoutDeletes(difference).documents).toMatchObject({
      put: [aDocument('b')],
      delete: [],
    })
  })

  it('holds ids such as __proto__', () => {
    const specs = JSON.parse(
      '{"__proto__": {"digest": "x", "managedBy": "op", "warnings": []}}',
    ) as StateView['specs']
    expect(diff([], { ...state({}), specs }).documents.delete).toEqual(['__proto__'])
  })
})

describe('rejections', () => {
  const selection = select(aDesiredSet([aDocument('a')]), PLANE)
  const held = new LoadedState(state({}), 'op')
  const refused = (): Rejections => {
    const rejections = new Rejections()
    rejections.review(held, selection)
    rejections.addDocument(aDocument('a'), held, [])
    rejections.addRealm(aRealm(), [])
    return rejections
  }
  it.each([
    ['the same digest and boot', held, selection, 1],
    ['another boot', new LoadedState(state({}, { bootId: 'boot-2' }), 'op'), selection, 0],
    ['another digest', held, select(aDesiredSet([aDocument('a', { digest: 'new' })]), PLANE), 0],
    ['not wanted any more', held, select(aDesiredSet([]), PLANE), 0],
    [
      'another realm',
      new LoadedState(
        state({}, { realms: { 'com.shop': { digest: 'n', managedBy: 'op', sessions: [] } } }),
        'op',
      ),
      selection,
      0,
    ],
  ])('%s', (_name, nextHeld, nextSelection, count) => {
    const rejections = refused()
    rejections.review(nextHeld, nextSelection)
    expect(rejections.documents.size).toBe(count)
  })

  it('forgets a realm with another digest', () => {
    const rejections = refused()
    rejections.review(
      held,
      select(
        aDesiredSet([aDocument('a')], { realmList: [aRealm('com.shop', { digest: 'n' })] }),
        PLANE,
      ),
    )
    expect(rejections.realms.size).toBe(0)
  })
})

describe('batches', () => {
  interface PlanFacts {
    readonly delete?: readonly string[]
    readonly size?: number | ((entry: { readonly id?: string; readonly uri?: string }) => number)
    readonly held?: readonly DesiredDocument[]
    readonly realms?: Difference['realms']
    readonly live?: readonly DesiredDocument[]
  }
  const plan = (put: readonly DesiredDocument[], more: PlanFacts = {}): readonly Batch[] =>
    planWith(put, more).batches
  const planWith = (put: readonly DesiredDocument[], more: PlanFacts): BatchPlan =>
    planBatches(
      {
        realms: more.realms ?? { put: [], delete: [] },
        documents: { put, delete: more.delete ?? [], waiting: [] },
      },
      {
        sizeOf: (entry) => (typeof more.size === 'function' ? more.size(entry) : (more.size ?? 10)),
        loadedClaims: (id) => more.held?.find((document) => document.id === id)?.claims ?? [],
        isLive: (document) => more.live?.includes(document) ?? false,
      },
    )
  const many = (count: number): readonly DesiredDocument[] =>
    Array.from({ length: count }, (_, i) => aDocument(`d${i}`))

  it('sends nothing for nothing', () => {
    expect(plan([])).toEqual([])
  })

  it.each([
    [200, 10, [200]],
    [201, 10, [200, 1]],
    [81, 50_000, [40, 40, 1]],
    [2, 3_000_000, [1, 1]],
  ])('%d documents of %d', (count, size, expected) => {
    expect(plan(many(count), { size }).map(({ puts }) => puts.length)).toEqual(expected)
  })

  it('sends realms first and deletes them last', () => {
    const batches = plan(many(200), { realms: { put: [aRealm()], delete: ['com.old'] } })
    expect(batches[0]?.realmPuts).toHaveLength(1)
    expect(batches[0]?.realmDeletes).toEqual([])
    expect(batches.at(-1)?.realmDeletes).toEqual(['com.old'])
    expect(plan([], { realms: { put: [], delete: ['com.old'] } })).toHaveLength(1)
  })

  it('sends what was edited just now first, and in a batch of its own', () => {
    const documents = many(300)
    const live = documents.slice(250, 252)
    const batches = plan(documents, {
      live,
      realms: { put: [aRealm()], delete: ['com.old'] },
      delete: ['gone'],
    })
    expect(batches.map(({ puts }) => puts.length)).toEqual([2, 200, 98])
    expect(batches[0]).toMatchObject({ puts: live, realmPuts: [aRealm()], realmDeletes: [] })
    expect(batches.at(-1)).toMatchObject({ deletes: ['gone'], realmDeletes: ['com.old'] })
  })

  it('sends large ones last and one by one, the latest edit at the end', () => {
    const documents = ['new', 'edited', 'b', 'large', 'c', 'old'].map((id) => aDocument(id))
    const [newest, edited] = documents
    const { batches, urgentCount } = planWith(documents, {
      live: documents.slice(0, 2),
      size: ({ id }) => (id === newest?.id || id === 'large' || id === 'old' ? 100_000 : 10),
    })
    expect(batches.map(({ puts }) => puts.map(({ id }) => id))).toEqual([
      [edited?.id],
      ['b', 'c'],
      ['old'],
      ['large'],
      [newest?.id],
    ])
    expect(urgentCount).toBe(1)
  })

  it('takes one with very many routes for large, too', () => {
    const claims = Array.from({ length: 1001 }, (_, i) => claim(`host\t/${i}\tget`))
    const batches = plan([aDocument('a', { claims }), aDocument('b')])
    expect(batches.map(({ puts }) => puts.map(({ id }) => id))).toEqual([['b'], ['a']])
  })

  it('keeps together what hands over a claim', () => {
    const [before, after] = [aDocument('a'), aDocument('z', { claims: [claim('host\t/a\tget')] })]
    const others = many(199)
    const taken = plan([...others, after], { delete: ['a'], held: [before] })
    const batch = taken.find(({ deletes }) => deletes.includes('a'))
    expect(batch?.puts.map(({ id }) => id)).toContain('z')
    const chain = plan(
      [
        aDocument('p', { claims: [claim('1'), claim('2')] }),
        aDocument('q', { claims: [claim('3')] }),
        aDocument('r', { claims: [claim('3'), claim('2')] }),
        aDocument('s', { claims: [claim('3')] }),
      ],
      { size: 1_500_000 },
    )
    expect(chain.map(({ puts }) => puts.length)).toEqual([4])
  })
})

describe('sync bodies', () => {
  const putOf = (id: string): object => ({
    id,
    digest: `digest-of-${id}`,
    since: 1,
    resource: `default/${id}`,
    spec: { id },
  })
  const head = { managedBy: 'op', epoch: 3, base: 'root' }
  const parse = ({ bytes, isGzip }: SyncBody): unknown =>
    JSON.parse((isGzip ? gunzipSync(bytes) : bytes).toString())

  it.each([
    ['plain', 1],
    ['compressed', 20_000],
  ])('are what the wire says: %s', async (_name, length) => {
    const bodies = new SyncBodies()
    const key = 'v'.repeat(length)
    const document = aDocument('a', { variables: { key } })
    const batch = {
      realmPuts: [aRealm()],
      puts: [document, aDocument('b')],
      deletes: ['c'],
      realmDeletes: ['d'],
    }
    const body = joinBody(head, await bodies.content(batch))
    expect(body.isGzip).toBe(length > 1)
    expect(body.inflatedBytes).toBe(JSON.stringify(parse(body)).length)
    expect(parse(body)).toEqual({
      ...head,
      realms: {
        put: [{ uri: 'com.shop', digest: 'digest-of-com.shop', realm: { uri: 'com.shop' } }],
        delete: ['d'],
      },
      specs: {
        put: [{ ...putOf('a'), variables: { key } }, putOf('b')],
        delete: ['c'],
      },
    })
  })

  it('name the policies that no gateway may ignore', async () => {
    const puts = [aDocument('a', { confinedTo: 'shop' }), aDocument('b')]
    const batch = { realmPuts: [aRealm()], puts, deletes: [], realmDeletes: [] }
    const body = joinBody(head, await new SyncBodies().content(batch))
    const { realms, specs } = parse(body) as SyncRequest
    expect(specs?.put?.map(({ critical }) => critical)).toEqual([['/confinedTo'], undefined])
    expect(realms?.put?.map(({ critical }) => critical)).toEqual([undefined])
  })

  it('complete', () => {
    expect(parse(completeBody(head, 'x'))).toEqual({ ...head, complete: 'x' })
  })

  const large = (id: string): Batch => ({
    realmPuts: [],
    deletes: [],
    realmDeletes: [],
    puts: [aDocument(id, { spec: { id, text: randomBytes(15_000).toString('hex') } })],
  })

  it('are compressed once for all data planes that are sent the same entries', async () => {
    const bodies = new SyncBodies()
    const batch = large('a')
    const all = await Promise.all(Array.from({ length: 100 }, () => bodies.content({ ...batch })))
    expect(new Set(all.map(({ bytes }) => bytes)).size).toBe(1)
    expect(bodies.compressions).toBe(1)
    // Another text under the same digest: told by what the entries are.
    await bodies.content(large('a'))
    await bodies.content({ ...batch, deletes: ['z'] })
    expect(bodies.compressions).toBe(3)
  })

  it('are kept within bounds, the last used longest', async () => {
    const bodies = new SyncBodies(40_000)
    const [a, b, c] = [large('a'), large('b'), large('c')]
    for (const batch of [a, b, a, c, a]) await bodies.content(batch)
    expect(bodies.compressions).toBe(3)
    await bodies.content(b)
    expect(bodies.compressions).toBe(4)
  })

  it('are not kept when something else is desired', async () => {
    const bodies = new SyncBodies()
    const batch = large('a')
    await bodies.content(batch)
    bodies.forget()
    await bodies.content(batch)
    await bodies.content(batch)
    expect(bodies.compressions).toBe(2)
  })

  it('know the size of an entry', () => {
    const bodies = new SyncBodies()
    const document = aDocument('a', { spec: { id: 'a', text: 'x'.repeat(1000) } })
    expect(bodies.sizeOf(document)).toBeGreaterThan(1000)
    expect(bodies.sizeOf(document)).toBe(bodies.sizeOf(document))
  })
})

describe('responses', () => {
  const good = state({ a: 'x' })
  it.each([
    ['good', good, true],
    ['nothing', undefined, false],
    ['a list', [], false],
    ['no bootId', { ...good, bootId: 5 }, false],
    ['specs no map', { ...good, specs: [] }, false],
    ['an entry without digest', { ...good, specs: { a: {} } }, false],
    ['no specs', { ...good, specs: undefined }, false],
    ['no root digest', { ...good, rootDigest: undefined }, false],
    ['a realm that is no map', { ...good, realms: { a: 1 } }, false],
  ])('state: %s', (_name, body, fits) => {
    expect(readStateView(body) !== undefined).toBe(fits)
  })

  it.each([
    [
      'good',
      { rootDigest: 'x', items: [{ id: 'a', kind: 'spec', result: 'loaded', errors: [] }] },
      true,
    ],
    ['no items', { rootDigest: 'x' }, false],
    ['text', 'ok', false],
  ])('sync: %s', (_name, body, fits) => {
    expect(readSyncReply(body) !== undefined).toBe(fits)
  })

  it.each([
    ['a boot id', { bootId: 'b'.repeat(257) }],
    ['a root digest', { rootDigest: 'b'.repeat(257) }],
    ['a digest', { specs: { a: { digest: 'b'.repeat(257), managedBy: 'op', warnings: [] } } }],
    ['a digest of a realm', { realms: { r: { digest: 'b'.repeat(257) } } }],
  ])('state: %s that is longer than any', (_name, more) => {
    expect(readStateView({ ...good, ...more })).toBeUndefined()
  })

  it.each([
    ['1.4.0', '1.4.0'],
    ['1.4.0-rc.1+build.7', '1.4.0-rc.1+build.7'],
    ['1.4', undefined],
    ['1.4.0, call +1 555 0100', undefined],
    [`1.4.0-${'x'.repeat(50)}`, undefined],
    [140, undefined],
  ])('a version of %s is taken for %s', (gatewayVersion, expected) => {
    expect(readStateView({ ...good, gatewayVersion })?.gatewayVersion).toBe(expected)
  })

  it.each<[what: string, failure: unknown, isTold: boolean]>([
    ['one', { origin: 'http://orders:8080', cause: 'refused' }, true],
    ['one of IPv6', { origin: 'https://[2001:db8::1]', cause: 'timeout' }, true],
    ['one without a cause', { origin: 'http://up' }, false],
    ['one with a cause of its own', { origin: 'http://up', cause: 'call +1 555 0100' }, false],
    ['one with an inherited cause', { origin: 'http://up', cause: 'toString' }, false],
    ['one at no origin', { origin: 'call +1 555 0100', cause: 'refused' }, false],
    ['one with a path', { origin: 'http://up/secret', cause: 'refused' }, false],
    ['one with a password', { origin: 'http://a:b@up', cause: 'refused' }, false],
    ['one of a long name', { origin: `http://${'x'.repeat(256)}`, cause: 'refused' }, false],
    ['a text', 'http://up', false],
  ])('upstreams: %s', (_name, failure, isTold) => {
    const { upstreams = {} } = readStateView({ ...good, upstreams: { a: failure } }) ?? {}
    expect(Object.keys(upstreams)).toEqual(isTold ? ['a'] : [])
  })

  it('upstreams: of 200 documents at most, and none where they are no map', () => {
    const failure = { origin: 'http://up', cause: 'refused' }
    const many = Object.fromEntries(Array.from({ length: 999 }, (_, at) => [`d${at}`, failure]))
    const { upstreams = {} } = readStateView({ ...good, upstreams: many }) ?? {}
    expect(Object.keys(upstreams)).toHaveLength(200)
    expect(readStateView({ ...good, upstreams: [failure] })).toEqual(readStateView(good))
  })

  it.each<[what: string, failure: unknown, read: unknown]>([
    ['one', { provider: 'corp', cause: 'dns' }, { provider: 'corp', cause: 'dns' }],
    [
      'one with an issuer',
      { provider: 'corp', cause: 'issuer', found: 'https://idp.test/a/' },
      { provider: 'corp', cause: 'issuer', found: 'https://idp.test/a/' },
    ],
    [
      'one with a status',
      { provider: 'corp', cause: 'status', found: '404', more: 1 },
      { provider: 'corp', cause: 'status', found: '404' },
    ],
    [
      'one that found something else',
      { provider: 'corp', cause: 'issuer', found: 'https://me:secret@idp.test' },
      { provider: 'corp', cause: 'issuer' },
    ],
    ['one with a cause of its own', { provider: 'corp', cause: 'call us' }, undefined],
    ['one with an inherited cause', { provider: 'corp', cause: 'constructor' }, undefined],
    ['one without a name', { cause: 'dns' }, undefined],
    ['one of a long name', { provider: 'x'.repeat(257), cause: 'dns' }, undefined],
    ['a text', 'corp', undefined],
  ])('providers that fail: %s', (_name, failure, read) => {
    const realm = { digest: 'd', managedBy: 'op', failingProviders: [failure] }
    const { realms = {} } = readStateView({ ...good, realms: { 'com.a': realm } }) ?? {}
    expect(realms['com.a']?.failingProviders).toEqual(read === undefined ? undefined : [read])
  })

  it.each([-1, 1.5, 2 ** 53, Infinity, '7', null])('an epoch of %s is none', (epoch) => {
    expect(readStateView({ ...good, epoch })?.epoch).toBe(0)
    expect(readRefusal({ epoch })).toEqual({ code: '', message: '' })
  })

  it.each([
    [
      { code: 'invalid_path', path: '/a', message: 'm' },
      { code: 'invalid_path', path: '/a', message: 'm' },
    ],
    [
      { code: 'hasOwnProperty', path: '/a\u001b[1m', message: 'x\r\ny' },
      { code: 'invalid_value', path: '/a [1m', message: 'x y' },
    ],
    [
      { code: 7, path: 'p'.repeat(600), message: 'm'.repeat(600) },
      { code: 'invalid_value', path: 'p'.repeat(512), message: 'm'.repeat(500) },
    ],
  ])('an error of an item, %#', (error, expected) => {
    const item = { id: 'a', kind: 'spec', result: 'rejected' }
    const errors = Array.from({ length: 20 }, () => error)
    const reply = readSyncReply({ rootDigest: 'x', items: [{ ...item, errors }] })
    expect(reply?.items[0]?.errors).toEqual(Array.from({ length: 16 }, () => expected))
  })

  it.each([
    [undefined, { code: '', message: '' }],
    [
      { code: 'c', message: 'm', epoch: 4, rootDigest: 'r' },
      { code: 'c', message: 'm', epoch: 4 },
    ],
    [
      { code: 1, message: 'x'.repeat(900) },
      { code: '', message: 'x'.repeat(500) },
    ],
  ])('refusal %#', (body, expected) => {
    expect(readRefusal(body)).toEqual(expected)
  })
})

describe('the version of a state that was read', () => {
  const client = {} as unknown as ManagementClient

  it.each([
    ['follows a call that began at it', { before: '"b-3"', after: '"b-4"' }, '"b-4"'],
    ['stays where a call began at another one', { before: '"b-9"', after: '"b-10"' }, '"b-3"'],
    ['stays where the call tells nothing', undefined, '"b-3"'],
  ])('%s', (_name, state, expected) => {
    const memory = new PlaneMemory(PLANE, client)
    memory.etag = '"b-3"'
    memory.followed({ rootDigest: '', items: [], ...(state !== undefined && { state }) })
    expect(memory.etag).toBe(expected)
  })

  it('is unknown after a doubt, whatever a call tells', () => {
    const memory = new PlaneMemory(PLANE, client)
    memory.invalidate()
    memory.followed({ rootDigest: '', items: [], state: { before: '"b-3"', after: '"b-4"' } })
    expect(memory.etag).toBeUndefined()
  })
})
