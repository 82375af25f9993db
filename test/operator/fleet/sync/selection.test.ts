// What a data plane should have loaded: the same selection after many changes as from the start, whatever labels documents
// select by.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { DataPlane } from '../../../../operator/data-plane.ts'
import type { DesiredDocument } from '../../../../operator/desired-set.ts'
import { edited } from '../../../../operator/edited-map.ts'
import { select, Selections } from '../../../../operator/fleet/sync/selection.ts'
import type { LabelSelector } from '../../../../operator/resource/resource.ts'
import { aDesiredSet, aDocument, aRealm } from '../../../support/desired.ts'

const namespace = fc.constantFrom('n', 'm')
const label = fc.constantFrom('a', 'b', 'c', '__proto__')
const value = fc.constantFrom('1', '2', '')

const selector: fc.Arbitrary<LabelSelector | undefined> = fc.option(
  fc.record({
    matchLabels: fc.dictionary(label, value, { maxKeys: 2 }),
    matchExpressions: fc.array(
      fc.record({
        key: label,
        operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
        values: fc.array(value, { maxLength: 2 }),
      }),
      { maxLength: 2 },
    ),
  }),
  { nil: undefined },
)

const aDataPlane: fc.Arbitrary<DataPlane> = fc
  .record({
    labels: fc.dictionary(label, value, { maxKeys: 3 }),
    namespace: fc.option(namespace, { nil: undefined }),
  })
  .map(({ namespace: its, labels }) => ({
    name: 'a',
    url: 'http://127.0.0.1:1',
    labels,
    ...(its !== undefined && { namespace: its }),
  }))

interface Change {
  readonly id: string
  readonly document: DesiredDocument | undefined
}

const aChange: fc.Arbitrary<Change> = fc
  .record({ id: fc.constantFrom('1', '2', '3'), namespace, selector, isGone: fc.boolean() })
  .map(({ id, isGone, selector: its, ...more }) => ({
    id,
    document: isGone
      ? undefined
      : aDocument(id, { ...more, ...(its !== undefined && { selector: its }) }),
  }))

const aStep = fc.record({ changes: fc.array(aChange), asked: fc.array(aDataPlane) })

const realmList = [aRealm('com.shop', { namespace: 'n' })]

describe('successive selections', () => {
  it('select the same as one that is created again', () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 12 }), (steps) => {
        let documents: ReadonlyMap<string, DesiredDocument> = new Map()
        let selections: Selections | undefined
        for (const [version, { changes, asked }] of steps.entries()) {
          documents = edited(
            documents,
            new Map(changes.map(({ id, document }) => [id, document] as const)),
          )
          const desired = { ...aDesiredSet([], { version, realmList }), documents }
          selections = new Selections(desired, selections)
          for (const dataPlane of asked) {
            const { documents: wanted, rootDigest } = selections.for(dataPlane)
            const anew = select(desired, dataPlane)
            expect(new Map(wanted)).toEqual(new Map(anew.documents))
            expect(rootDigest()).toBe(anew.rootDigest())
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('go on for a data plane that has none of the labels by which a document begins to select', () => {
    const dataPlane = { name: 'a', url: 'http://127.0.0.1:1', labels: { tier: 'edge' } }
    const first = new Selections(aDesiredSet([aDocument('1')]), undefined)
    const before = first.for(dataPlane)
    const matchLabels = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`l${i}`, '']))
    const selecting = aDocument('2', { selector: { matchLabels } })
    const next = new Selections(aDesiredSet([aDocument('1'), selecting], { version: 2 }), first)
    // Otherwise each edit of one selector has all documents selected again, for every data plane.
    expect(next.for(dataPlane).line).toBe(before.line)
  })
})
