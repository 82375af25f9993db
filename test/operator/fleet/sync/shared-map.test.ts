// Maps that data planes share: each holds what a map of its own would, and those that hold the same are the same one.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { LoadedState } from '../../../../operator/fleet/sync/loaded-state.ts'
import { Selections } from '../../../../operator/fleet/sync/selection.ts'
import { SharedEntries } from '../../../../operator/fleet/sync/shared-entries.ts'
import { SharedMap, SharedSteps } from '../../../../operator/fleet/sync/shared-map.ts'
import type { StateView, SyncItem } from '../../../../language/wire/wire.ts'
import type { Warning } from '../../../../language/problem.ts'
import { collectReleased } from '../../../support/collect-released.ts'
import { aDesiredSet, aDocument, aRealm } from '../../../support/desired.ts'

const PLANE = { name: 'a', url: 'http://127.0.0.1:1', labels: {} }
const IDS = Array.from({ length: 40 }, (_, index) => `d${index}`)
const SHADOWED: Warning = { code: 'Shadowed', path: '/versions/v1', message: 'older' }

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

const loadedItem = (id: string, warnings: readonly Warning[] = []): SyncItem => ({
  kind: 'spec',
  id,
  result: 'loaded',
  errors: [],
  warnings,
})

describe('data planes that have loaded what is wanted', () => {
  const desiredOf = (digests: ReadonlyMap<string, string>, version: number) =>
    aDesiredSet(
      Array.from(digests, ([id, digest]) => aDocument(id, { digest })),
      { version, realmList: [aRealm('com.shop')] },
    )
  const realm: SyncItem = { ...loadedItem('com.shop'), kind: 'realm' }

  it('hold one map, whatever the steps by which they came there, but for what one warns of', () => {
    const entries = new SharedEntries()
    const digests = new Map(IDS.map((id) => [id, 'd0']))
    let selections: Selections | undefined
    const [steady, slow, warning] = [1, 2, 3].map(
      () => new LoadedState(EMPTY, 'op', { entries }),
    ) as [LoadedState, LoadedState, LoadedState]
    for (const state of [steady, slow, warning]) state.apply(realm, aRealm('com.shop'))
    const take = (state: LoadedState, warnings?: readonly Warning[]): void => {
      const selection = selections?.for(PLANE)
      if (selection === undefined) return
      for (const id of [...state.differing(selection).documents])
        state.apply(loadedItem(id, id === 'd1' ? warnings : []), selection.documents.get(id))
      expect(state.matches(selection)).toBe(true)
    }
    for (let version = 1; version <= 300; version++) {
      digests.set(IDS[version % IDS.length] ?? '', `d${version}`)
      const desired = desiredOf(digests, version)
      entries.retain(desired.documents)
      selections = new Selections(desired, selections, entries)
      take(steady)
      take(warning, [SHADOWED])
      if (version % 7 === 0) take(slow)
      const contents = [steady, slow, warning].map((state) => state.snapshot().documents)
      const [first, second, third] = contents
      expect(second === first || version % 7 !== 0).toBe(true)
      expect(Object.fromEntries(third ?? [])).toEqual({
        ...Object.fromEntries(first ?? []),
        d1: { digest: digests.get('d1'), resource: 'default/d1', warnings: [SHADOWED] },
      })
    }
  })

  it('hold one map on the way there, too, if they take the same steps', () => {
    const entries = new SharedEntries()
    const desired = desiredOf(new Map(IDS.map((id) => [id, 'd'])), 1)
    entries.retain(desired.documents)
    const states = [1, 2, 3].map(() => new LoadedState(EMPTY, 'op', { entries }))
    for (const id of IDS) {
      for (const state of states) state.apply(loadedItem(id), { digest: 'd' })
      expect(new Set(states.map((state) => state.snapshot().documents)).size).toBe(1)
    }
  })
})

it('a map that is shared holds what one of its own would', () => {
  const keys = fc.constantFrom('a', 'b', 'constructor', '__proto__')
  const values = [{ of: 1 }, { of: 2 }]
  const step = fc.oneof(
    fc.record({ put: keys, value: fc.constantFrom(undefined, ...values), at: fc.nat(1) }),
    fc.record({ handOut: fc.constant(true), at: fc.nat(1) }),
    fc.record({ common: fc.dictionary(keys, fc.constantFrom(...values)), at: fc.nat(1) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const shared = new SharedSteps<{ readonly of: number }>()
      const empty: ReadonlyMap<string, { readonly of: number }> = new Map()
      const maps = [new SharedMap(empty, shared), new SharedMap(empty, shared)]
      const own = [new Map(empty), new Map(empty)]
      for (const each of steps) {
        const [map, copy] = [maps[each.at], own[each.at]]
        if (map === undefined || copy === undefined) continue
        if ('put' in each) {
          map.put(each.put, each.value)
          if (each.value === undefined) copy.delete(each.put)
          else copy.set(each.put, each.value)
        } else if ('common' in each) {
          const common = new Map(Object.entries(each.common))
          const all = [...common.keys(), ...copy.keys()]
          map.shareWith(common, [all.filter((key) => common.get(key) !== copy.get(key))])
        } else map.handOut()
        maps.forEach((each, at) => {
          for (const key of ['a', 'b', 'constructor', '__proto__'])
            expect(each.get(key)).toBe(own[at]?.get(key))
        })
      }
      maps.forEach((map, at) => {
        expect(new Map(map.handOut())).toEqual(own[at])
      })
    }),
  )
})

it('a map that every data plane begins with keeps nothing of the later ones', async () => {
  const steps = new SharedSteps<object>()
  const empty: ReadonlyMap<string, object> = new Map()
  const firstSent = (): WeakRef<object> => {
    const sent = {}
    const edits = new Map([['a', sent]])
    const map = steps.edited(empty, edits)
    expect(steps.edited(empty, new Map(edits))).toBe(map)
    return new WeakRef(sent)
  }
  const sent = firstSent()
  await collectReleased()
  expect(sent.deref()).toBeUndefined()
  expect(steps.edited(empty, new Map([['a', {}]])).size).toBe(1)
})
