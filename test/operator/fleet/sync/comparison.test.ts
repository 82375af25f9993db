// What is wanted and what is loaded, compared step by step, and the plans of what is sent: the same comes out as at once.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { DataPlane } from '../../../../operator/data-plane.ts'
import { type BatchFacts, planBatches, planOnce } from '../../../../operator/fleet/sync/batches.ts'
import { type Difference, NO_DIFFERENCE } from '../../../../operator/fleet/sync/difference.ts'
import { createContentShare } from '../../../../operator/fleet/sync/loaded-contents.ts'
import { LoadedState } from '../../../../operator/fleet/sync/loaded-state.ts'
import { type Keys, select, type Selection } from '../../../../operator/fleet/sync/selection.ts'
import { rootDigest } from '../../../../language/wire/digest.ts'
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

interface Change {
  readonly do: 'put' | 'delete'
  readonly kind: SyncItem['kind']
  readonly id: string
  readonly digest: string
}

/** Of one of two data planes. */
type Step = { readonly at: 0 | 1 } & (
  | { readonly do: 'read'; readonly state: StateView }
  | { readonly do: 'want'; readonly selection: Selection }
  | { readonly do: 'share' }
  | Change
)

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

const at = fc.constantFrom(0 as const, 1 as const)

const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ at, do: fc.constant('read' as const), state: aState }),
  fc.record({ at, do: fc.constant('want' as const), selection: aSelection }),
  fc.record({ at, do: fc.constant('share' as const) }),
  fc.record({
    at,
    do: fc.constantFrom('put' as const, 'put' as const, 'delete' as const),
    kind: fc.constantFrom('spec' as const, 'realm' as const),
    id: fc.oneof(aKey, fc.constant('com.shop')),
    digest: aDigest,
  }),
)

const digestsOf = (
  entries: ReadonlyMap<string, { readonly digest: string }>,
): Map<string, string> => new Map(Array.from(entries, ([key, { digest }]) => [key, digest]))

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

const put = (held: LoadedState, id: string, digest: string): void => {
  held.putDocument({ result: 'loaded', warnings: [] }, aDocument(id, { digest }))
}

const change = (held: LoadedState, { do: what, kind, id, digest }: Change): void => {
  if (what === 'delete') held.remove(kind, id)
  else if (kind === 'spec') put(held, id, digest)
  else held.putRealm({ result: 'loaded', warnings: [] }, id, digest)
}

it('step by step as at once, also where contents are shared with another data plane', () => {
  fc.assert(
    fc.property(aSelection, fc.array(aStep, { maxLength: 16 }), (first, steps) => {
      const share = createContentShare()
      const planes: [LoadedState, LoadedState] = [
        new LoadedState(EMPTY, 'op'),
        new LoadedState(EMPTY, 'op'),
      ]
      let selection = first
      for (const step of steps) {
        const other = step.at === 0 ? 1 : 0
        const held = planes[step.at]
        const others = new Map(planes[other].documents)
        const expected = { documents: digestsOf(held.documents), realms: digestsOf(held.realms) }
        if (step.do === 'want') selection = step.selection
        else if (step.do === 'share') held.shareContents(share, selection)
        else if (step.do === 'read') {
          planes[step.at] = new LoadedState(step.state, 'op', { before: held })
          const alone = new LoadedState(step.state, 'op')
          expected.documents = digestsOf(alone.documents)
          expected.realms = digestsOf(alone.realms)
        } else {
          change(held, step)
          const digests = step.kind === 'spec' ? expected.documents : expected.realms
          if (step.do === 'put') digests.set(step.id, step.digest)
          else digests.delete(step.id)
        }
        const after = planes[step.at]
        // As if nothing had been known of it, and nothing were shared.
        expect(digestsOf(after.documents)).toEqual(expected.documents)
        expect(digestsOf(after.realms)).toEqual(expected.realms)
        expect(new Map(after.contents.realms)).toEqual(expected.realms)
        expect(new Map(planes[other].documents)).toEqual(others)
        const keys = expectedKeys(after, selection)
        expect(after.differing(selection)).toMatchObject(keys)
        expect(after.matches(selection)).toBe(keys.documents.size + keys.realms.size === 0)
        expect(after.expectedRootDigest(selection)).toBe(
          rootDigest([
            ...Array.from(
              expected.documents,
              ([key, digest]) => ({ kind: 'spec', key, digest }) as const,
            ),
            ...Array.from(
              expected.realms,
              ([key, digest]) => ({ kind: 'realm', key, digest }) as const,
            ),
          ]),
        )
      }
    }),
    { numRuns: 500 },
  )
})

it('what was handed out stays as it was', () => {
  const held = new LoadedState(EMPTY, 'op')
  put(held, 'a', 'd')
  const first = held.snapshot()
  put(held, 'b', 'd')
  const second = held.snapshot()
  held.remove('spec', 'a')
  expect([...first.documents.keys()]).toEqual(['a'])
  expect([...second.documents.keys()]).toEqual(['a', 'b'])
  expect([...held.documents.keys()]).toEqual(['b'])
  expect(held.snapshot().documents).toBe(held.snapshot().documents)
})

describe('a plan', () => {
  const FACTS = { sizeOf: () => 100, loadedClaims: () => [], isLive: () => false }
  const DOCUMENTS = Array.from({ length: 500 }, (_, index) => aDocument(`d${index}`))
  const lacking = (put: readonly (typeof DOCUMENTS)[number][]): Difference => ({
    documents: { ...NO_DIFFERENCE.documents, put },
    realms: { put: [aRealm('com.shop')], delete: [] },
  })
  const all = lacking(DOCUMENTS)
  const again = { ...all, documents: { ...all.documents, put: [...DOCUMENTS] } }
  const selection = select(aDesiredSet(DOCUMENTS), PLANE)

  it('is made once for all that have loaded the same and lack the same', () => {
    const [one, other] = [new LoadedState(EMPTY, 'op'), new LoadedState(EMPTY, 'op')]
    const plan = planOnce(one.differing(selection), all, FACTS)
    expect(plan).toEqual(planBatches(all, FACTS))
    expect(planOnce(other.differing(selection), again, FACTS)).toBe(plan)
  })

  it.each<[string, Difference, BatchFacts]>([
    ['lack less', lacking(DOCUMENTS.slice(1)), FACTS],
    ['have other edits to wait for', all, { ...FACTS, isLive: ({ id }) => id === 'd1' }],
    ['are to delete something', { ...all, realms: { ...all.realms, delete: ['r'] } }, FACTS],
  ])('is made again for those that %s', (_title, difference, facts) => {
    const comparison = new LoadedState(EMPTY, 'op').differing(selection)
    planOnce(comparison, all, FACTS)
    expect(planOnce(comparison, difference, facts)).toEqual(planBatches(difference, facts))
  })
})
