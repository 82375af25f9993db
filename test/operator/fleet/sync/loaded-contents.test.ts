// What data planes have loaded: those that have loaded the same have one object, and nothing is kept of what none has.

import { describe, expect, it } from '@jest/globals'
import {
  claimsOf,
  type ContentEdits,
  createContentShare,
  loadedOf,
  NOTHING_LOADED,
  withEdits,
} from '../../../../operator/fleet/sync/loaded-contents.ts'
import { LoadedState } from '../../../../operator/fleet/sync/loaded-state.ts'
import { type Selection, Selections } from '../../../../operator/fleet/sync/selection.ts'
import type { StateView } from '../../../../language/wire/wire.ts'
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

const accepted = (warnings: readonly Warning[] = []) => ({ result: 'loaded', warnings }) as const

const viewOf = (digest: string, resource?: string): StateView => ({
  ...EMPTY,
  specs: {
    a: { digest, managedBy: 'op', warnings: [], ...(resource !== undefined && { resource }) },
  },
})

describe('data planes that have loaded what is wanted', () => {
  it('have the same contents, whatever the steps by which they came there, but for warnings', () => {
    const share = createContentShare()
    let documents = new Map(IDS.map((id) => [id, aDocument(id, { digest: 'd0' })]))
    let selections: Selections | undefined
    const planes = [1, 2, 3].map(() => new LoadedState(EMPTY, 'op'))
    const [steady, slow, warning] = planes as [LoadedState, LoadedState, LoadedState]
    for (const state of planes) state.putRealm(accepted(), 'com.shop', 'digest-of-com.shop')
    const bring = (
      state: LoadedState,
      selection: Selection,
      warnings?: readonly Warning[],
    ): void => {
      for (const id of [...state.differing(selection).documents]) {
        const document = documents.get(id)
        if (document) state.putDocument(accepted(id === 'd1' ? warnings : []), document)
      }
      expect(state.matches(selection)).toBe(true)
      state.shareContents(share, selection)
    }
    for (let version = 1; version <= 300; version++) {
      const id = IDS[version % IDS.length] ?? ''
      documents = new Map(documents).set(id, aDocument(id, { digest: `d${version}` }))
      const desired = aDesiredSet([...documents.values()], {
        version,
        realmList: [aRealm('com.shop')],
      })
      selections = new Selections(desired, selections)
      const selection = selections.for(PLANE)
      bring(steady, selection)
      bring(warning, selection, [SHADOWED])
      if (version % 7 === 0) bring(slow, selection)
      expect(warning.contents).toBe(steady.contents)
      expect(version % 7 !== 0 || slow.contents === steady.contents).toBe(true)
      expect(steady.snapshot().documents).toBe(steady.contents.documents)
      expect(Object.fromEntries(warning.snapshot().documents)).toEqual({
        ...Object.fromEntries(steady.documents),
        d1: { ...steady.documents.get('d1'), warnings: [SHADOWED] },
      })
    }
  })

  it('have the same contents on the way there, too, if they take the same steps', () => {
    const documents = IDS.map((id) => aDocument(id))
    const states = [1, 2, 3].map(() => new LoadedState(EMPTY, 'op'))
    for (const document of documents) {
      for (const state of states) state.putDocument(accepted(), document)
      expect(new Set(states.map((state) => state.contents)).size).toBe(1)
    }
  })

  it('have the same contents after each was read, and those that were sent', () => {
    const document = aDocument('a', { digest: 'd' })
    const documents = new Map([['a', document]])
    const first = new LoadedState(viewOf('d', document.resource), 'op', { documents })
    const older = new LoadedState(viewOf('d'), 'op', { documents })
    const sent = new LoadedState(EMPTY, 'op')
    sent.putDocument(accepted(), document)
    expect(older.contents).toBe(first.contents)
    expect(sent.contents).toBe(first.contents)
    const again = new LoadedState(viewOf('d'), 'op', { before: first })
    expect(again.contents).toBe(first.contents)
    expect(claimsOf(again.documents.get('a'))).toBe(document.claims)
  })

  it('do not, where one names another resource or another digest', () => {
    const share = createContentShare()
    const document = aDocument('a', { digest: 'd' })
    const documents = new Map([['a', document]])
    const selection = new Selections(aDesiredSet([document], { realmList: [] })).for(PLANE)
    const of = (view: StateView): LoadedState => {
      const state = new LoadedState(view, 'op', { documents })
      state.shareContents(share, selection)
      return state
    }
    const first = of(viewOf('d', document.resource))
    for (const view of [viewOf('d', 'other/a'), viewOf('e', document.resource)]) {
      const other = of(view)
      expect(other.contents).not.toBe(first.contents)
      expect(other.documents.get('a')).toEqual({
        digest: view.specs['a']?.digest,
        resource: view.specs['a']?.resource,
        warnings: [],
      })
      expect(claimsOf(other.documents.get('a'))).toEqual([])
    }
  })
})

describe('which claims a document has that is loaded', () => {
  const document = aDocument('a', { digest: 'd' })
  const selection = new Selections(aDesiredSet([document], { realmList: [] })).for(PLANE)
  const other = new Selections(aDesiredSet([aDocument('a', { digest: 'e' })])).for(PLANE)
  const view = viewOf('d', document.resource)

  it('is known once it is as selected, by any sender', () => {
    const state = new LoadedState(view, 'op')
    state.shareContents(createContentShare(), other)
    expect(claimsOf(state.documents.get('a'))).toEqual([])
    state.shareContents(createContentShare(), selection)
    expect(document.claims).not.toEqual([])
    expect(claimsOf(state.documents.get('a'))).toBe(document.claims)
    expect(state.matches(selection)).toBe(true)
  })

  it('stays known beside a data plane of which it is not', () => {
    const share = createContentShare()
    const unknown = new LoadedState(view, 'op')
    const known = new LoadedState(view, 'op', { documents: new Map([['a', document]]) })
    for (const state of [unknown, known]) state.shareContents(share, other)
    expect(claimsOf(known.documents.get('a'))).toBe(document.claims)
  })
})

it('contents that every data plane begins with keep nothing of the later ones', async () => {
  const editsOf = (documents: ContentEdits['documents']): ContentEdits => ({
    documents,
    realms: new Map(),
  })
  const firstSent = (): WeakRef<object> => {
    const sent = loadedOf(aDocument('a'))
    const contents = withEdits(NOTHING_LOADED, editsOf(new Map([['a', sent]])))
    expect(withEdits(NOTHING_LOADED, editsOf(new Map([['a', sent]])))).toBe(contents)
    return new WeakRef(sent)
  }
  const sent = firstSent()
  await collectReleased()
  expect(sent.deref()).toBeUndefined()
  const other = withEdits(NOTHING_LOADED, editsOf(new Map([['a', loadedOf(aDocument('a'))]])))
  expect(other.documents.size).toBe(1)
})
