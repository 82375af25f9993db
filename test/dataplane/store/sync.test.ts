import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import type { SyncCall } from '../../../dataplane/store/sync-call.ts'
import type { SyncResult } from '../../../dataplane/store/sync-result.ts'
import { rootDigest } from '../../../language/wire/digest.ts'
import {
  makeDocument,
  makeRig,
  REALM,
  realmPut,
  type Rig,
  rootOf,
  specPut,
  stateOf,
  syncCall,
} from './rig.ts'
import { expand } from '../../../dataplane/store/packed/compact.ts'

const managed = (allowUnmanaged = false): Rig => makeRig({ manager: 'op', allowUnmanaged })

const sync = (rig: Rig, more: Partial<SyncCall> = {}): Promise<SyncResult> =>
  rig.store.sync(syncCall(rig.store, more))

const results = (outcome: SyncResult): readonly string[] =>
  'items' in outcome
    ? outcome.items.map(({ kind, id, result, errors, warnings }) =>
        [
          kind,
          id,
          result,
          ...errors.map(({ code }) => code),
          ...warnings.map(({ code }) => code),
        ].join(' '),
      )
    : [outcome.reason]

const put = (...specs: (() => unknown)[]): Partial<SyncCall> => ({
  realms: { put: [realmPut(REALM)], delete: [] },
  specs: { put: specs, delete: [] },
})

describe('a sync call', () => {
  it('loads realms and documents in one build and says so in the state', async () => {
    const rig = managed()
    const document = makeDocument('a')
    const outcome = await sync(rig, put(specPut(document, 5)))
    expect(results(outcome)).toEqual([`realm ${REALM} loaded`, 'spec a loaded'])
    expect(rig.changes).toHaveLength(1)
    expect(rig.changes[0]?.put.map(({ rank, since }) => [rank, since])).toEqual([[0, 5]])
    const state = stateOf(rig.store)
    expect(state).toMatchObject({ manager: 'op', epoch: 1, complete: false })
    expect(state.specs['a']?.managedBy).toBe('op')
    const digest = state.specs['a']?.digest ?? ''
    const realmDigest = state.realms[REALM]?.digest ?? ''
    expect(state.rootDigest).toBe(
      rootDigest([
        { kind: 'spec', key: 'a', digest },
        { kind: 'realm', key: REALM, digest: realmDigest },
      ]),
    )
  })

  it('leaves alone what is held already', async () => {
    const rig = managed()
    const call = put(specPut(makeDocument('a'), 5))
    await sync(rig, call)
    const { etag } = rig.store.state()
    expect(results(await sync(rig, call))).toEqual([`realm ${REALM} unchanged`, 'spec a unchanged'])
    expect([rig.changes.length, rig.store.state().etag]).toEqual([1, etag])
  })

  it('loads again what has another age', async () => {
    const rig = managed()
    await sync(rig, put(specPut(makeDocument('a'), 5)))
    expect(results(await sync(rig, put(specPut(makeDocument('a'), 6))))).toContain('spec a loaded')
  })

  it('keeps the last good version of what it refuses, and its digest', async () => {
    const rig = managed()
    await sync(rig, put(specPut(makeDocument('a'), 5)))
    const before = stateOf(rig.store)
    const outcome = await sync(
      rig,
      put(specPut(makeDocument('a', { body: '{{' }), 5), specPut(makeDocument('b'), 5)),
    )
    expect(results(outcome)).toEqual([
      `realm ${REALM} unchanged`,
      'spec a rejected invalid_expression',
      'spec b loaded',
    ])
    expect(stateOf(rig.store).specs['a']).toEqual(before.specs['a'])
  })

  it('lays variables over the document and never keeps them in its source', async () => {
    const rig = managed()
    const document = { ...makeDocument('a', { body: '{{variables.key}}' }) }
    expect(results(await sync(rig, put(specPut(document, 1))))).toContain(
      'spec a rejected invalid_expression',
    )
    const outcome = await sync(rig, put(specPut(document, 1, { variables: { key: 's3cret' } })))
    expect(results(outcome)).toContain('spec a loaded')
    const content = rig.changes.at(-1)?.put[0]?.content
    expect(content && expand(content).toString()).toContain('s3cret')
    const source = rig.store.document('a')?.source
    expect(source && expand(source).toString()).toMatch(/^\{(?!.*s3cret)/s)
    expect(rig.store.state().text()).not.toContain('s3cret')
  })

  it('serves a document within the namespace that it is confined to, and takes each change of that', async () => {
    const rig = managed()
    for (const confinedTo of ['shop', 'bank', undefined, 'shop'])
      await sync(
        rig,
        put(specPut(makeDocument('a'), 1, confinedTo === undefined ? {} : { confinedTo })),
      )
    const served = rig.changes.flatMap((change) => change.put.map(({ confinedTo }) => confinedTo))
    expect(served).toEqual(['shop', 'bank', undefined, 'shop'])
    expect(rig.store.document('a')?.confinedTo).toBe('shop')
  })

  it.each(['', 'Shop', 'a.b', '-a', 'x'.repeat(64), 7, null, ['shop']])(
    'refuses a document that is confined to %j',
    async (confinedTo) => {
      const outcome = await sync(managed(), put(specPut(makeDocument('a'), 1, { confinedTo })))
      expect(results(outcome)).toContain('spec a rejected invalid_datatype')
    },
  )

  it('never refuses a conflict: the younger is shadowed until a batch settles it', async () => {
    const rig = managed()
    const same = { paths: ['/same'] }
    const outcome = await sync(
      rig,
      put(specPut(makeDocument('young', same), 9), specPut(makeDocument('old', same), 5)),
    )
    expect(results(outcome)).toEqual([
      `realm ${REALM} loaded`,
      'spec young loaded Shadowed',
      'spec old loaded',
    ])
    await sync(rig, { specs: { put: [], delete: ['old'] } })
    expect(stateOf(rig.store).specs['young']?.warnings).toEqual([])
  })

  it.each([
    ['goes in the same call', { put: [], delete: [REALM] }, REALM],
    ['comes in the same call', { put: [realmPut('com.new')], delete: [] }, 'com.new'],
    ['is not there', { put: [], delete: [] }, 'com.nowhere'],
    ['is refused', { put: [realmPut('com.bad', { users: 7 })], delete: [] }, 'com.bad'],
  ])(
    'takes a document, as the operator has validated it, whose realm %s',
    async (_name, realms, uri) => {
      const rig = managed()
      await sync(rig, { realms: { put: [realmPut(REALM)], delete: [] } })
      const specs = { put: [specPut(makeDocument('a', { realm: uri }), 1)], delete: [] }
      expect(results(await sync(rig, { realms, specs }))).toContain('spec a loaded')
      expect(rig.served()).toEqual(['a'])
    },
  )

  it('deletes what it put, and what is not there is deleted already', async () => {
    const rig = managed()
    await sync(rig, put(specPut(makeDocument('a'), 5)))
    const outcome = await sync(rig, {
      realms: { put: [], delete: [REALM, 'com.none'] },
      specs: { put: [], delete: ['a', 'nobody', '__proto__'] },
    })
    expect(results(outcome)).toEqual([
      'spec a deleted',
      'spec nobody deleted',
      'spec __proto__ deleted',
      `realm ${REALM} deleted`,
      'realm com.none deleted',
    ])
    expect([rig.served(), rig.store.realms()]).toEqual([[], []])
  })

  it('may move an id in one call', async () => {
    const rig = managed()
    await sync(rig, put(specPut(makeDocument('a'), 5)))
    const outcome = await sync(rig, {
      specs: { put: [specPut(makeDocument('a', { body: 'new' }), 5)], delete: ['a'] },
    })
    expect(results(outcome)).toEqual(['spec a deleted', 'spec a loaded'])
    expect([rig.served(), rig.store.documents().length]).toEqual([['a'], 1])
  })

  const document = makeDocument('a')
  const realm = { uri: REALM }
  it.each([
    [
      'no map',
      7,
      'spec  rejected invalid_datatype invalid_datatype missing_required_value invalid_datatype',
    ],
    ['no spec', { id: 'a', digest: 'd', since: 1 }, 'spec a rejected missing_required_value'],
    [
      'a digest with a line break',
      { id: 'a', digest: 'd\n', since: 1, spec: document },
      'spec a rejected invalid_datatype',
    ],
    [
      'a since of no integer',
      { id: 'a', digest: 'd', since: 1.5, spec: document },
      'spec a rejected invalid_datatype',
    ],
    [
      'variables of no map',
      { id: 'a', digest: 'd', since: 1, spec: document, variables: [] },
      'spec a rejected invalid_datatype',
    ],
    [
      'another id inside',
      { id: 'b', digest: 'd', since: 1, spec: document },
      'spec b rejected invalid_value',
    ],
  ])('refuses an entry with %s', async (_name, entry, expected) => {
    const rig = managed()
    expect(
      results(
        await sync(
          rig,
          put(() => entry),
        ),
      ),
    ).toContain(expected)
    expect(rig.served()).toEqual([])
  })

  it.each([
    ['no map', null, 'realm  rejected invalid_datatype invalid_datatype missing_required_value'],
    ['another uri inside', { uri: 'x.y', digest: 'd', realm }, 'realm x.y rejected invalid_value'],
    [
      'an invalid record',
      { uri: REALM, digest: 'd', realm: { uri: REALM, users: 1 } },
      `realm ${REALM} rejected invalid_datatype`,
    ],
  ])('refuses a realm with %s', async (_name, entry, expected) => {
    const rig = managed()
    const outcome = await sync(rig, { realms: { put: [() => entry], delete: [] } })
    expect(results(outcome)).toEqual([expected])
  })
})

describe('what a call has changed of the state view', () => {
  const document = makeDocument('a')
  const rival = { ...document, id: 'b' }

  it.each<[string, () => Partial<SyncCall>, boolean]>([
    [
      'another version of a document',
      () => ({ specs: { put: [specPut({ ...document, variables: { n: 1 } }, 5)], delete: [] } }),
      true,
    ],
    [
      'a document that is refused',
      () => ({ specs: { put: [specPut({ id: 'a', host: 7 }, 5)], delete: [] } }),
      true,
    ],
    ['nothing', () => ({}), true],
    ['a realm too', () => put(specPut(document, 5)), false],
    [
      'an older document with the same routes',
      () => ({ specs: { put: [specPut(rival, 1)], delete: [] } }),
      false,
    ],
    [
      'a younger document with the same routes',
      () => ({ specs: { put: [specPut(rival, 9)], delete: [] } }),
      true,
    ],
    ['a document less', () => ({ specs: { put: [], delete: ['a'] } }), false],
    [
      'a new epoch',
      () => ({ epoch: 2, specs: { put: [specPut(document, 6)], delete: [] } }),
      false,
    ],
  ])('with %s: is sent as versions where its items say all', async (_name, call, isTold) => {
    const rig = managed()
    await sync(rig, put(specPut(document, 5)))
    const [before, view] = [rig.store.state().etag, stateOf(rig.store)]
    const result = await sync(rig, call())
    const after = rig.store.state().etag
    expect('state' in result ? result.state : undefined).toEqual(
      isTold ? { before, after } : undefined,
    )
    const items = 'items' in result ? result.items.map(({ id }) => id) : []
    const others = (specs: typeof view.specs): object =>
      Object.fromEntries(Object.entries(specs).filter(([id]) => !items.includes(id)))
    const isSame = isDeepStrictEqual(others(stateOf(rig.store).specs), others(view.specs))
    expect(isSame || !isTold).toBe(true)
  })

  it('begins at the version that the call found, whatever its sender has read', async () => {
    const rig = managed()
    await sync(rig, put(specPut(document, 5)))
    const read = rig.store.state().etag
    rig.store.touch()
    const result = await sync(rig, { specs: { put: [specPut(document, 6)], delete: [] } })
    expect('state' in result ? result.state.before : undefined).not.toBe(read)
  })
})

describe('complete', () => {
  const spec = specPut(makeDocument('a'), 5)

  it('matches what is held: then, and for good, the state is complete', async () => {
    const completions: boolean[] = []
    const rig = makeRig({
      manager: 'op',
      observer: { synced: (isComplete) => completions.push(isComplete) },
    })
    const [, empty] = [await sync(rig, put(spec)), rootOf(rig.store)]
    expect((await sync(rig, { complete: empty })).reason).toBe('done')
    await sync(rig, { specs: { put: [], delete: ['a'] } })
    expect([stateOf(rig.store).complete, completions]).toEqual([true, [false, true, false]])
  })

  it('with zero documents', async () => {
    const rig = managed()
    expect((await sync(rig, { complete: rootDigest([]) })).reason).toBe('done')
    expect(stateOf(rig.store).complete).toBe(true)
  })

  it('tells what serves once that the manager has sent all, or nothing at all', async () => {
    const marks = (rig: Rig) => rig.changes.map(({ isComplete = false }) => isComplete)
    const [empty, full, byHand] = [
      managed(),
      managed(),
      makeRig({ manager: 'op', allowUnmanaged: true }),
    ]
    await sync(empty, {})
    expect(marks(empty)).toEqual([])
    await sync(empty, { complete: rootDigest([]) })
    await sync(empty, { complete: rootDigest([]) })
    expect(marks(empty)).toEqual([true])
    await sync(full, put(spec))
    await sync(full, { complete: rootOf(full.store) })
    await sync(full, { complete: rootOf(full.store) })
    expect(marks(full)).toEqual([false, true])
    await byHand.store.putRealm({ uri: REALM })
    await byHand.load(makeDocument('b'))
    expect(marks(byHand)).toEqual([false, false])
  })

  it('that does not match: the changes are in force, the difference is reported', async () => {
    const rig = managed()
    const outcome = await sync(rig, { ...put(spec), complete: 'something else' })
    expect(outcome.reason).toBe('incomplete')
    expect('held' in outcome ? outcome.held.map(({ kind, key }) => `${kind} ${key}`) : []).toEqual([
      `realm ${REALM}`,
      'spec a',
    ])
    expect([rig.served(), stateOf(rig.store).complete]).toEqual([['a'], false])
  })
})

describe('who may call', () => {
  it.each([
    ['another manager', 'op', { managedBy: 'other' }, { reason: 'not_owner', manager: 'op' }],
    ['a manager, where there is none', null, {}, { reason: 'not_owner', manager: null }],
    ['another base', 'op', { base: 'old' }, { reason: 'stale_base', rootDigest: rootDigest([]) }],
  ])('%s is refused', async (_name, manager, more, refusal) => {
    const rig = makeRig({ manager })
    expect(await sync(rig, { ...put(specPut(makeDocument('a'), 1)), ...more })).toEqual(refusal)
    expect([rig.changes, rig.store.realms()]).toEqual([[], []])
  })

  it('an earlier leader is refused, with the epoch', async () => {
    const rig = managed()
    await sync(rig, { epoch: 7 })
    expect(await sync(rig, { epoch: 6 })).toEqual({ reason: 'stale_epoch', epoch: 7 })
    expect((await sync(rig, { epoch: 7 })).reason).toBe('done')
  })

  it('a new leader is known by its first call, even one with an old base', async () => {
    const rig = managed()
    await sync(rig, { epoch: 2, base: 'old' })
    expect(stateOf(rig.store).epoch).toBe(2)
    expect(await sync(rig, { epoch: 1 })).toEqual({ reason: 'stale_epoch', epoch: 2 })
  })

  it('a stranger does not raise the epoch', async () => {
    const rig = managed()
    await sync(rig, { epoch: 99, managedBy: 'other' })
    expect(stateOf(rig.store).epoch).toBe(0)
  })
})

describe('documents by hand beside the manager', () => {
  it('are not wanted unless allowed', () => {
    expect([managed().store.allowsUnmanaged, managed(true).store.allowsUnmanaged]).toEqual([
      false,
      true,
    ])
    expect(makeRig().store.allowsUnmanaged).toBe(true)
  })

  const beside = async (): Promise<Rig> => {
    const rig = managed(true)
    await sync(rig, { realms: { put: [realmPut(REALM)], delete: [] } })
    return rig
  }

  it('stay outside the root digest and are not deleted by it', async () => {
    const rig = await beside()
    const before = rootOf(rig.store)
    await rig.load(makeDocument('mine'))
    await rig.store.putRealm({ uri: 'com.mine' })
    expect(rootOf(rig.store)).toBe(before)
    const outcome = await sync(rig, {
      realms: { put: [], delete: ['com.mine'] },
      specs: { put: [], delete: ['mine'] },
    })
    expect(results(outcome)).toEqual(['spec mine unchanged', 'realm com.mine unchanged'])
    expect(rig.served()).toEqual(['mine'])
  })

  it('lose every clash, whatever their age', async () => {
    const rig = await beside()
    const same = { paths: ['/same'] }
    await rig.load(makeDocument('mine', same))
    const outcome = await sync(
      rig,
      put(specPut(makeDocument('theirs', same), Number.MAX_SAFE_INTEGER)),
    )
    expect(results(outcome)).toContain('spec theirs loaded')
    expect(stateOf(rig.store).specs['mine']?.warnings.map(({ code }) => code)).toEqual(['Shadowed'])
    const [item] = await rig.load(makeDocument('another', same))
    expect(item?.errors[0]?.message).toContain("'theirs'")
  })

  it('are adopted by a resource of their id, realms too', async () => {
    const rig = await beside()
    await rig.load(makeDocument('mine'))
    await rig.store.putRealm({ uri: 'com.mine' })
    await sync(rig, {
      realms: { put: [realmPut('com.mine')], delete: [] },
      specs: { put: [specPut(makeDocument('mine'), 3)], delete: [] },
    })
    const { specs, realms } = stateOf(rig.store)
    expect([specs['mine']?.managedBy, realms['com.mine']?.managedBy]).toEqual(['op', 'op'])
  })

  it('cannot touch what is managed', async () => {
    const rig = await beside()
    await sync(rig, put(specPut(makeDocument('theirs'), 1)))
    const [loaded] = await rig.store.load([() => makeDocument('theirs', { body: 'mine' })])
    const changes = [
      loaded,
      await rig.store.delete('theirs'),
      await rig.store.putRealm({ uri: REALM }),
      await rig.store.deleteRealm(REALM),
    ]
    expect(changes.map((change) => [change?.notOwner, change?.item.result])).toEqual(
      Array.from({ length: 4 }, () => ['op', 'rejected']),
    )
    expect(rig.changes).toHaveLength(2)
  })
})

describe('the state', () => {
  it('has a tag that changes with whatever changes in it', async () => {
    const rig = managed()
    const tags = [rig.store.state().etag]
    const note = (): void => {
      tags.push(rig.store.state().etag)
    }
    await sync(rig, put(specPut(makeDocument('a'), 1)))
    note()
    await sync(rig, { epoch: 2 })
    note()
    await sync(rig, { epoch: 2, complete: rootOf(rig.store) })
    note()
    rig.store.touch()
    note()
    expect(new Set(tags).size).toBe(tags.length)
    expect(tags[0]).toBe('"boot-1-1"')
    await sync(rig, { epoch: 2, complete: rootOf(rig.store) })
    expect(rig.store.state().etag).toBe(tags.at(-1))
  })

  it.each([undefined, '1.4.0'])('tells the version of the program: %s', (gatewayVersion) => {
    const rig = makeRig({
      manager: 'op',
      ...(gatewayVersion !== undefined && { gatewayVersion }),
    })
    expect(stateOf(rig.store).gatewayVersion).toBe(gatewayVersion)
  })

  it('shows the sessions of realms', async () => {
    const session = { url: 'ws://r', state: 'open' } as const
    const rig = makeRig({ manager: 'op', sessionsOf: (uri) => (uri === REALM ? [session] : []) })
    await sync(rig, { realms: { put: [realmPut(REALM), realmPut('com.other')], delete: [] } })
    expect(stateOf(rig.store).realms).toMatchObject({
      [REALM]: { sessions: [session] },
      'com.other': { sessions: [] },
    })
  })
})

describe('a thousand documents', () => {
  it('are validated with pauses in between', async () => {
    let pauses = 0
    const pause = (): Promise<void> => {
      pauses += 1
      return Promise.resolve()
    }
    const rig = makeRig({ manager: 'op', pause })
    const specs = Array.from({ length: 1000 }, (_, n) => specPut(makeDocument(`d${n}`), n))
    await sync(rig, put(...specs))
    expect(rig.served()).toHaveLength(1000)
    expect(pauses).toBeGreaterThanOrEqual(1000)
  })
})
