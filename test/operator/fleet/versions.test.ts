import { afterEach, describe, expect, it } from '@jest/globals'
import { LoadedState } from '../../../operator/fleet/sync/loaded-state.ts'
import { readStateView, readSyncReply } from '../../../operator/fleet/client/read-response.ts'
import { describeSkew } from '../../../operator/fleet/skew.ts'
import { aDesiredSet, aDocument } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import {
  aFleet,
  aPlane,
  closeAll,
  edited,
  named,
  putsOf,
  report,
  synced,
  ToldDataPlanes,
} from './rig.ts'

afterEach(closeAll)

describe('words for two versions', () => {
  it.each([
    ['1.4.0', '1.4.0', /^$/],
    [undefined, '1.4.0', /^$/],
    ['1.4.0', undefined, /^$/],
    ['1.4.1', '1.4.0', /^its version is 1\.4\.1, that of this operator 1\.4\.0$/],
    ['1.3.9', '1.4.0', /^its version is 1\.3\.9, that of this operator 1\.4\.0$/],
    ['1.5.0', '1.4.0', /^its version is 1\.5\.0, that of this operator 1\.4\.0$/],
    ['1.4.0-rc.1', '1.4.0', /^its version is 1\.4\.0-rc\.1, that of this operator 1\.4\.0$/],
    ['1.2.0', '1.4.0', /neighbouring minor versions/],
    ['2.4.0', '1.4.0', /neighbouring minor versions/],
    ['constructor', '1.4.0', /neighbouring minor versions/],
  ])('%s and %s', (theirs, ours, words) => {
    expect(describeSkew(theirs, ours)).toMatch(words)
  })
})

/** As data planes of other versions have answered, or may come to. */
const ENTRY = { digest: 'x', managedBy: 'op', warnings: [] }
const STATE = {
  bootId: 'b',
  version: 3,
  gatewayVersion: '1.4.0',
  manager: 'op',
  epoch: 2,
  rootDigest: 'r',
  complete: true,
  specs: { a: ENTRY },
  realms: {},
}
const without = (key: keyof typeof STATE): object =>
  Object.fromEntries(Object.entries(STATE).filter(([name]) => name !== key))

describe('the state as another version tells it', () => {
  it.each([
    ['as we do', STATE, {}],
    ['before versions were reported', without('gatewayVersion'), { gatewayVersion: undefined }],
    ['without a counter', without('version'), { version: 0 }],
    ['without an epoch', without('epoch'), { epoch: 0 }],
    ['without realms', without('realms'), { realms: {} }],
    ['without a manager', without('manager'), { manager: null }],
    ['without completion', without('complete'), { complete: false }],
    [
      'entries without warnings',
      { ...STATE, specs: { a: { digest: 'x', managedBy: 'op' } } },
      { specs: { a: ENTRY } },
    ],
    [
      'entries without an owner',
      { ...STATE, specs: { a: { digest: 'x', warnings: [] } } },
      { specs: { a: { ...ENTRY, managedBy: null } } },
    ],
    [
      'realms without sessions',
      { ...STATE, realms: { r: { digest: 'y', managedBy: 'op' } } },
      { realms: { r: { digest: 'y', managedBy: 'op', sessions: [] } } },
    ],
    [
      'more than we know',
      {
        ...STATE,
        shards: [1],
        specs: {
          a: {
            ...ENTRY,
            heat: 3,
            warnings: [
              { code: 'Odd', path: '/a', message: 'm' },
              { code: 'Shadowed', path: '/a', message: 'm', x: 1 },
              { code: 'ConnectionAddress', path: '/b', message: 'n' },
            ],
          },
        },
      },
      {
        specs: {
          a: {
            ...ENTRY,
            warnings: [
              { code: 'Shadowed', path: '/a', message: 'm' },
              { code: 'ConnectionAddress', path: '/b', message: 'n' },
            ],
          },
        },
      },
    ],
    [
      'conditions and sessions of another shape',
      {
        ...STATE,
        specs: { a: { ...ENTRY, warnings: ['text', { code: 'Shadowed', path: 7 }] } },
        realms: { r: { digest: 'y', managedBy: 'op', sessions: [{ url: 'ws://r' }, null] } },
      },
      {
        specs: { a: { ...ENTRY, warnings: [{ code: 'Shadowed', path: '', message: '' }] } },
        realms: {
          r: { digest: 'y', managedBy: 'op', sessions: [{ url: 'ws://r', state: 'connecting' }] },
        },
      },
    ],
    [
      'an id that is called __proto__',
      JSON.parse(JSON.stringify(STATE).replace('"a":', '"__proto__":')) as object,
      {
        specs: JSON.parse('{"__proto__":{"digest":"x","managedBy":"op","warnings":[]}}') as object,
      },
    ],
  ])('%s', (_name, body, differs) => {
    const read = readStateView(body)
    expect(read).toEqual({ ...STATE, ...differs })
    expect(read && new LoadedState(read, 'op').bootId).toBe('b')
  })
})

describe('the response to a sync call as another version gives it', () => {
  const ITEM = { id: 'a', kind: 'spec', result: 'loaded', errors: [], warnings: [] }
  it.each([
    ['as we do', { rootDigest: 'x', items: [ITEM] }, [ITEM]],
    [
      'without conditions',
      { rootDigest: 'x', items: [{ id: 'a', kind: 'spec', result: 'loaded' }] },
      [ITEM],
    ],
    ['with more', { rootDigest: 'x', took: 5, items: [{ ...ITEM, ms: 2 }] }, [ITEM]],
    [
      'a result, a kind, an item that we do not know',
      { rootDigest: 'x', items: [{ ...ITEM, result: 'eaten' }, { ...ITEM, kind: 'pet' }, 5, ITEM] },
      [ITEM],
    ],
    [
      'a result called constructor',
      { rootDigest: 'x', items: [{ ...ITEM, result: 'constructor' }] },
      [],
    ],
  ])('%s', (_name, body, items) => {
    expect(readSyncReply(body)).toEqual({ rootDigest: 'x', items })
  })
})

describe('a data plane of another version', () => {
  const PROBLEM = { code: 'invalid_value', path: '/new', message: 'unknown here' } as const

  it('is reported as such, and serves', async () => {
    const plane = await aPlane()
    plane.gatewayVersion = '1.3.0'
    const { fleet } = aFleet([plane], { version: '1.4.0' })
    fleet.apply(aDesiredSet([aDocument('a')]))
    await eventually(() => {
      expect(report(fleet)).toMatchObject({
        phase: 'synced',
        ready: true,
        version: '1.3.0',
        message: 'its version is 1.3.0, that of this operator 1.4.0',
      })
    })
  })

  it('of our version, or one that does not say: nothing is said', async () => {
    const [same, silent] = [await aPlane(), await aPlane()]
    same.gatewayVersion = '1.4.0'
    const { fleet } = aFleet([same, silent], { version: '1.4.0' })
    fleet.apply(aDesiredSet([aDocument('a')]))
    await synced(fleet, 0)
    await synced(fleet, 1)
    expect(fleet.reports().map(({ version }) => version)).toEqual(['1.4.0', undefined])
  })

  it('is not sent again what it refused, until the document or its version changes', async () => {
    const plane = await aPlane()
    const told = new ToldDataPlanes()
    plane.gatewayVersion = '1.3.0'
    plane.refuses.set('new', PROBLEM)
    const { fleet } = aFleet([], { dataPlanes: told, version: '1.4.0' })
    let desired = aDesiredSet([aDocument('new'), aDocument('old')])
    fleet.apply(desired)
    told.tell([named('p', plane, { incarnation: 'c1' })])
    const puts = (): number =>
      putsOf(plane)
        .flat()
        .filter((id) => id === 'new').length
    await eventually(() => {
      expect(report(fleet).rejected.documents.get('new')?.errors).toEqual([PROBLEM])
      expect(report(fleet).ready).toBe(true)
    })
    const polls = fleet.counters().polls.unchanged
    desired = edited(desired, aDocument('other'))
    fleet.apply(desired)
    plane.touch()
    await eventually(() => {
      expect(plane.specs.has('other')).toBe(true)
      expect(fleet.counters().polls.unchanged).toBeGreaterThan(polls + 3)
    })
    expect(puts()).toBe(1)
    desired = edited(desired, aDocument('new', { digest: 'mended' }))
    fleet.apply(desired)
    await eventually(() => {
      expect(report(fleet).rejected.documents.get('new')?.digest).toBe('mended')
    })
    expect(puts()).toBe(2)
    plane.refuses.clear()
    plane.restart()
    plane.gatewayVersion = '1.4.0'
    await synced(fleet)
    expect(puts()).toBe(3)
    expect(report(fleet)).toMatchObject({ version: '1.4.0', rejected: { documents: new Map() } })
  })

  it('that is fresh and refuses what another serves says of which version it is', async () => {
    const [good, fresh] = [await aPlane(), await aPlane()]
    const told = new ToldDataPlanes()
    fresh.gatewayVersion = '1.2.0'
    fresh.refuses.set('new', PROBLEM)
    const { fleet } = aFleet([], { dataPlanes: told, version: '1.4.0' })
    fleet.apply(aDesiredSet([aDocument('new')]))
    told.tell([named('good', good)])
    await synced(fleet)
    told.tell([named('good', good), named('fresh', fresh)])
    await eventually(() => {
      expect(report(fleet, 1)).toMatchObject({ phase: 'withheld', ready: false, version: '1.2.0' })
    })
    expect(report(fleet, 1).message).toMatch(/new.*version is 1\.2\.0.*update the older/)
  })
})

describe('what a data plane holds that we did not put there', () => {
  it('an unknown digest of ours: sent again', async () => {
    const plane = await aPlane()
    plane.specs.set('a', { digest: 'of another time', managedBy: 'svc-operator', warnings: [] })
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('a')]))
    await synced(fleet)
    expect(plane.specs.get('a')?.digest).toBe('digest-of-a')
  })

  it('an unknown digest that appears later: sent again', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('a')]))
    await synced(fleet)
    plane.specs.set('a', { digest: 'odd', managedBy: 'svc-operator', warnings: [] })
    plane.touch()
    await eventually(() => {
      expect(plane.specs.get('a')?.digest).toBe('digest-of-a')
    })
  })

  it('entries of another manager, or loaded by hand: left alone, and outside what is verified', async () => {
    const plane = await aPlane()
    plane.specs.set('theirs', { digest: 'x', managedBy: 'somebody', warnings: [] })
    plane.specs.set('by-hand', { digest: 'y', managedBy: null, warnings: [] })
    plane.realms.set('com.hand', { digest: 'z', managedBy: null, warnings: [] })
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('a')]))
    await synced(fleet)
    fleet.apply(aDesiredSet([]))
    await eventually(() => {
      expect([...plane.specs.keys()]).toEqual(['theirs', 'by-hand'])
      expect([...plane.realms.keys()]).toEqual(['com.hand'])
      expect(report(fleet).documents.size).toBe(0)
    })
  })

  it('a document loaded by hand under an id that is wanted: adopted', async () => {
    const plane = await aPlane()
    plane.specs.set('a', { digest: 'digest-of-a', managedBy: null, warnings: [] })
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([aDocument('a')]))
    await synced(fleet)
    expect(plane.specs.get('a')?.managedBy).toBe('svc-operator')
  })

  it('403 that is not about the owner: our certificate carries a name it does not know', async () => {
    const plane = await aPlane()
    plane.misbehaviours.push(
      ...Array.from({ length: 500 }, () => ({
        status: 403,
        body: { code: 'svc.error.forbidden' },
      })),
    )
    const { fleet } = aFleet([plane])
    fleet.apply(aDesiredSet([]))
    await eventually(() => {
      expect(report(fleet)).toMatchObject({ phase: 'unauthorized', ready: false })
    })
    expect(report(fleet).message).toContain('--management-client-name')
  })
})
