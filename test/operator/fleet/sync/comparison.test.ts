// What is wanted and what is held, compared again and again: the same comes out as if it had been compared at once.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { DataPlane } from '../../../../operator/data-plane.ts'
import { LoadedState } from '../../../../operator/fleet/sync/loaded-state.ts'
import { SharedEntries } from '../../../../operator/fleet/sync/shared-entries.ts'
import { type Keys, select, type Selection } from '../../../../operator/fleet/sync/selection.ts'
import type { StateView, SyncItem } from '../../../../language/wire/wire.ts'
import { aDesiredSet, aDocument, aRealm } from '../../../support/desired.ts'

const PLANE: DataPlane = { name: 'a', url: 'http://127.0.0.1:1', labels: {} }
const KEYS = ['1', '2', 'constructor', '__proto__']

const EMPTY: StateView = {
  bootId: 'b',
  version: 1,
  manager: 'op',
  epoch: 1,
  rootDigest: '',
  complete: true,
  specs: {},
  realms: {},
}

const aKey = fc.constantFrom(...KEYS)
const aDigest = fc.constantFrom('d', 'e')
const digests = fc.dictionary(aKey, aDigest).map((all) => Object.entries(all))

const aSelection: fc.Arbitrary<Selection> = fc.tuple(digests, aDigest).map(([wanted, digest]) =>
  select(
    aDesiredSet(
      wanted.map(([id, each]) => aDocument(id, { digest: each })),
      { realmList: [aRealm('com.shop', { digest })] },
    ),
    PLANE,
  ),
)

type Step =
  | { readonly do: 'read'; readonly state: StateView }
  | { readonly do: 'want'; readonly selection: Selection }
  | {
      readonly do: 'put' | 'delete'
      readonly kind: SyncItem['kind']
      readonly id: string
      readonly digest: string
    }

/** A state that was read: of our documents, of others, and realms. */
const aState: fc.Arbitrary<StateView> = fc
  .tuple(fc.dictionary(aKey, fc.tuple(aDigest, fc.constantFrom('op', 'op', 'other'))), digests)
  .map(([specs, realms]) => ({
    ...EMPTY,
    specs: Object.fromEntries(
      Object.entries(specs).map(([id, [digest, managedBy]]) => [
        id,
        { digest, managedBy, warnings: [] },
      ]),
    ),
    realms: Object.fromEntries(
      realms.map(([uri, digest]) => [uri, { digest, managedBy: 'op', sessions: [] }]),
    ),
  }))

const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('read' as const), state: aState }),
  fc.record({ do: fc.constant('want' as const), selection: aSelection }),
  fc.record({
    do: fc.constantFrom('put' as const, 'put' as const, 'delete' as const),
    kind: fc.constantFrom('spec' as const, 'realm' as const),
    id: fc.oneof(aKey, fc.constant('com.shop')),
    digest: aDigest,
  }),
)

const expectedKeys = (held: LoadedState, { documents, realms }: Selection): Keys => {
  const differing = (
    wanted: ReadonlyMap<string, { readonly digest: string }>,
    has: ReadonlyMap<string, { readonly digest: string }>,
  ): Set<string> => {
    const all = [...wanted.keys(), ...has.keys()]
    return new Set(all.filter((key) => wanted.get(key)?.digest !== has.get(key)?.digest))
  }
  return {
    documents: differing(documents, held.documents),
    realms: differing(realms, held.realms),
  }
}

it('step by step as at once', () => {
  fc.assert(
    fc.property(aSelection, fc.array(aStep, { maxLength: 12 }), (first, steps) => {
      let held = new LoadedState(EMPTY, 'op')
      let selection = first
      for (const step of steps) {
        let alone = held
        if (step.do === 'want') selection = step.selection
        else if (step.do === 'read') {
          held = new LoadedState(step.state, 'op', { before: held })
          alone = new LoadedState(step.state, 'op')
        } else if (step.do === 'delete') held.remove(step.kind, step.id)
        else {
          const item = { ...step, result: 'loaded', errors: [], warnings: [] } as const
          held.apply(item, { digest: step.digest })
        }
        // As if nothing had been known of it.
        expect(new Map(held.documents)).toEqual(new Map(alone.documents))
        expect(new Map(held.realms)).toEqual(new Map(alone.realms))
        const keys = expectedKeys(held, selection)
        expect(held.differing(selection)).toMatchObject(keys)
        expect(held.matches(selection)).toBe(keys.documents.size + keys.realms.size === 0)
      }
    }),
    { numRuns: 500 },
  )
})

it('what was handed out stays as it was', () => {
  const held = new LoadedState(EMPTY, 'op')
  const put = (id: string): void => {
    held.apply({ kind: 'spec', id, result: 'loaded', errors: [], warnings: [] }, { digest: 'd' })
  }
  put('a')
  const first = held.snapshot()
  put('b')
  const second = held.snapshot()
  held.remove('spec', 'a')
  expect([...first.documents.keys()]).toEqual(['a'])
  expect([...second.documents.keys()]).toEqual(['a', 'b'])
  expect([...held.documents.keys()]).toEqual(['b'])
  expect(held.snapshot().documents).toBe(held.snapshot().documents)
})

describe('what data planes hold alike', () => {
  const SHADOWED = [{ code: 'Shadowed' as const, path: '/versions/v1', message: 'older' }]
  const of = (digest: string, managedBy = 'op'): StateView => ({
    ...EMPTY,
    specs: { a: { digest, managedBy, warnings: [] } },
  })

  it('is one object', () => {
    const entries = new SharedEntries()
    entries.retain(new Set(['a']))
    const first = new LoadedState(of('d'), 'op', { entries })
    const second = new LoadedState(EMPTY, 'op', { entries })
    second.apply(
      { kind: 'spec', id: 'a', result: 'loaded', errors: [], warnings: [] },
      { digest: 'd' },
    )
    expect(second.documents.get('a')).toBe(first.documents.get('a'))
    expect(new LoadedState(of('e'), 'op', { entries }).documents.get('a')?.digest).toBe('e')
    expect(new LoadedState(of('d'), 'op', { before: first, entries }).documents.get('a')).toBe(
      first.documents.get('a'),
    )
  })

  it('is one map after each batch that both were sent', () => {
    const entries = new SharedEntries()
    const ids = Array.from({ length: 1000 }, (_, index) => String(index))
    entries.retain(new Set(ids))
    const selection = select(aDesiredSet(ids.map((id) => aDocument(id, { digest: 'd' }))), PLANE)
    const planes = [1, 2].map(() => new LoadedState(EMPTY, 'op', { entries }))
    for (let sent = 0; sent < ids.length; sent += 200) {
      const maps = planes.map((plane) => {
        for (const id of ids.slice(sent, sent + 200))
          plane.apply(
            { kind: 'spec', id, result: 'loaded', errors: [], warnings: [] },
            { digest: 'd' },
          )
        plane.shareWithOthers(selection)
        return plane.documents
      })
      expect(maps[0]?.size).toBe(sent + 200)
      expect(maps[1]).toBe(maps[0])
    }
  })

  it('is not, where one has a warning', () => {
    const entries = new SharedEntries()
    entries.retain(new Set(['a']))
    const plain = entries.of('a', { digest: 'd', warnings: [] })
    expect(entries.of('a', { digest: 'd', warnings: SHADOWED })).toEqual({
      ...plain,
      warnings: SHADOWED,
    })
    expect(entries.of('a', { digest: 'd', warnings: [] })).toBe(plain)
  })

  it('is forgotten when much of it is not desired any more', () => {
    const entries = new SharedEntries()
    const ids = Array.from({ length: 1100 }, (_, index) => String(index))
    entries.retain(new Set(ids))
    const before = ids.map((id) => entries.of(id, { digest: 'd', warnings: [] }))
    entries.retain(new Set(['0']))
    expect(entries.of('0', { digest: 'd', warnings: [] })).toBe(before[0])
    expect(entries.of('1', { digest: 'd', warnings: [] })).not.toBe(before[1])
  })

  it('is not remembered, where it is not desired: a data plane may claim to hold anything', () => {
    const entries = new SharedEntries()
    entries.retain(new Set(['a']))
    const stray = entries.of('stray', { digest: 'd', warnings: [] })
    expect(entries.of('stray', { digest: 'd', warnings: [] })).not.toBe(stray)
  })
})
