// Keys that the operator makes for Realms that give none: which record and digest a Realm gets.

import { describe, expect, it } from '@jest/globals'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import type { ResourceCache } from '../../../operator/resource/resource-source.ts'
import { isMap } from '../../../language/expression/value.ts'
import type { KeyRing } from '../../../language/realm/key-ring.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { createTokenKeys } from '../../../dataplane/security/tokens/key-realms.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const ring = (...bytes: readonly number[]): KeyRing => ({
  keys: bytes.map((byte) => ({ kid: `k${byte}`, k: Buffer.alloc(32, byte).toString('base64url') })),
})

const realm = (more: object = {}, known: object = {}): Resource =>
  resourceOf('Realm', 'shop', { spec: { uri: 'com.shop', ...more } }, known)

const pem = 'stands for a key'
const own = (): readonly Resource[] => [
  realm({ signingKeys: [{ secretRef: { name: 'keys', key: 'k' } }] }),
  resourceOf('Secret', 'keys', { stringData: { k: pem } }),
]

const desiredOf = (resources: readonly Resource[], more: Partial<ResourceCache> = {}) => {
  const found = new Reconciler({ className: 'svc' })
    .reconcile(cacheOf(resources, more))
    .desired.realms.get('com.shop')
  if (found === undefined) throw new Error('there is no realm')
  return found
}

const keysOf = (record: RealmRecord): readonly string[] =>
  (record.signing_keys ?? []).map((key) => (isMap(key) ? JSON.stringify(key['d']) : key))

describe('a Realm that gives no signing keys', () => {
  it('has those of the operator, the same for each replica that knows its secrets', () => {
    const [one, again] = [1, 2].map(() => desiredOf([realm()], { realmKeys: ring(1) }))
    expect(one).toEqual(again)
    expect(keysOf(one?.record ?? { uri: '' })).toHaveLength(1)
    expect(one?.digest).not.toBe(desiredOf([realm()]).digest)
  })

  it('has keys that a gateway signs with, under the names that the digest knows', () => {
    const { record } = desiredOf([realm()], { realmKeys: ring(2, 1) })
    const master = { keys: [] }
    const keys = createTokenKeys({ realms: () => record, uris: () => ['com.shop'], master })
    const kids = keys.publicKeys().map(({ kid }) => kid)
    expect(kids).toHaveLength(2)
    expect(keys.signingKey('com.shop').kid).toBe(kids[0])
    const before = desiredOf([realm()], { realmKeys: ring(1) }).record
    const old = createTokenKeys({ realms: () => before, uris: () => [], master })
    expect(kids[1]).toBe(old.signingKey('com.shop').kid)
  })

  it.each([
    ['another secret', {}, ring(9)],
    ['one more secret', {}, ring(9, 1)],
    ['the same secrets in another order', {}, ring(1, 9)],
    ['another Realm of the same uri', { uid: 'other' }, ring(1)],
  ])('%s: other keys, another digest', (_name, known, realmKeys) => {
    const first = desiredOf([realm()], { realmKeys: ring(1) })
    const second = desiredOf([realm({}, known)], { realmKeys })
    expect(keysOf(second.record)).not.toEqual(keysOf(first.record))
    expect(second.digest).not.toBe(first.digest)
  })

  it('counts as such with an empty list', () => {
    const { record } = desiredOf([realm({ signingKeys: [] })], { realmKeys: ring(1) })
    expect(keysOf(record)).toHaveLength(1)
  })

  it('is put once more as the keys come, its documents are not', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    const resources = [
      realm(),
      resourceOf('ApiSpecification', 'a', { spec: { document: aSpecification('a') } }),
    ]
    const before = reconciler.reconcile(cacheOf(resources)).desired
    const after = reconciler.reconcile(
      cacheOf(resources, { realmKeys: ring(1), version: 2 }),
    ).desired
    expect(after.realms.get('com.shop')).not.toBe(before.realms.get('com.shop'))
    expect(after.documents.get('a')?.digest).toBe(before.documents.get('a')?.digest)
    expect(before.documents.size).toBe(1)
  })
})

it('a Realm that gives keys is not touched', () => {
  const given = desiredOf(own(), { realmKeys: ring(1) })
  expect(given).toEqual(desiredOf(own()))
  expect(given.record.signing_keys).toEqual([pem])
})
