// Renames that are refused, and what hangs on them: nothing that serves is taken out for another's.

import { describe, expect, it } from '@jest/globals'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const shop = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })

const documents = (ids: readonly string[], paths: readonly string[]): readonly Resource[] =>
  ids.map((id, i) => {
    const versions = {
      v1: {
        base_path: paths[i],
        paths: { '/x': { get: { action: { type: 'static', body: 'x' }, response: {} } } },
      },
    }
    const document = aSpecification(id, { host: 'h.test', versions })
    return resourceOf('ApiSpecification', `d${i}`, { spec: { document } }, { createdAt: i + 1 })
  })

const PATHS = ['/0', '/1', '/2', '/3']

describe('what serves is served on, though a rename is refused', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['one names what another has', ['c', 'b', 'c', 'd'], PATHS],
    ['a chain of two', ['b', 'c', 'c', 'd'], PATHS],
    ['a chain of three', ['b', 'c', 'd', 'd'], PATHS],
    [
      'a third one takes the routes that the refused one keeps',
      ['c', 'e', 'c', 'd'],
      ['/9', '/0', '/2', '/3'],
    ],
  ])('documents: %s', (_name, ids, paths) => {
    const reconciler = new Reconciler({ className: 'svc' })
    const before = ['a', 'b', 'c', 'd']
    reconciler.reconcile(cacheOf([shop, ...documents(before, PATHS)]))
    const cache = cacheOf([shop, ...documents(ids, paths)])
    const { desired } = reconciler.reconcile(cache)
    expect([...desired.documents.keys()].sort()).toEqual(before)
    expect(reconciler.reconcile(cache).desired).toBe(desired)
  })

  it.each([
    ['one names what another has', ['c', 'b', 'c', 'd']],
    ['a chain of two', ['b', 'c', 'c', 'd']],
    ['a chain of three', ['b', 'c', 'd', 'd']],
  ])('realms: %s', (_name, uris) => {
    const realms = (named: readonly string[]): readonly Resource[] =>
      named.map((uri, i) => resourceOf('Realm', `r${i}`, { spec: { uri } }, { createdAt: i + 1 }))
    const reconciler = new Reconciler({ className: 'svc' })
    const before = ['a', 'b', 'c', 'd']
    reconciler.reconcile(cacheOf(realms(before)))
    const { desired } = reconciler.reconcile(cacheOf(realms(uris)))
    expect([...desired.realms.keys()].sort()).toEqual(before)
  })
})

describe('a chain of renames of which each waits for the next', () => {
  const LENGTH = 100
  const OLD = Array.from({ length: LENGTH }, (_, i) => `d${i}`)
  /** The last stays, so that each turn of settling would refuse one more. */
  const SHIFTED = OLD.map((_, i) => `d${Math.min(i + 1, LENGTH - 1)}`)
  const paths = OLD.map((id) => `/${id}`)
  const away = (id: string): Resource =>
    resourceOf(
      'ApiSpecification',
      'away',
      { spec: { document: aSpecification(id) } },
      { namespace: 'other', uid: 'uid-away' },
    )
  const open = resourceOf('Realm', 'shop', {
    spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } },
  })

  it('is refused as a whole, serves on, and delays no other', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    const at = (ids: readonly string[], other: string): readonly Resource[] => [
      open,
      away(other),
      ...documents(ids, paths),
    ]
    reconciler.reconcile(cacheOf(at(OLD, 'before')))
    const cache = cacheOf(at(SHIFTED, 'after'))
    const { desired, results } = reconciler.reconcile(cache)
    expect([...desired.documents.keys()].sort()).toEqual([...OLD, 'after'].sort())
    const refused = [...results.values()].filter(({ accepted }) => accepted.status === 'False')
    expect(new Set(refused.map(({ accepted }) => accepted.reason))).toEqual(new Set(['Conflicted']))
    expect(refused).toHaveLength(LENGTH - 1)
    const together = refused.filter(({ accepted }) => accepted.message.includes('change their ids'))
    expect(together.map(({ resource }) => resource.metadata.namespace)).toEqual(
      Array.from({ length: LENGTH - 1 - 17 }, () => 'default'),
    )
    expect(reconciler.reconcile(cache).desired).toBe(desired)
    expect(reconciler.reconcile(cache).results).toBe(results)
  })

  it('is done once nothing is in its way', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    reconciler.reconcile(cacheOf([open, ...documents(OLD, paths)]))
    reconciler.reconcile(cacheOf([open, ...documents(SHIFTED, paths)]))
    const free = [...SHIFTED.slice(0, -1), 'free']
    const { desired, results } = reconciler.reconcile(cacheOf([open, ...documents(free, paths)]))
    expect([...desired.documents.keys()].sort()).toEqual([...free].sort())
    for (const { accepted } of results.values()) expect(accepted.status).toBe('True')
  })
})
