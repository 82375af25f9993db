import { describe, expect, it } from '@jest/globals'
import { TYPES } from '../../../../operator/kubernetes/client/api.ts'
import { OWN_TYPES } from '../../../../operator/resource/own-types.ts'
import { collectionPath, objectPath, queryOf } from '../../../../operator/kubernetes/client/path.ts'

describe('paths', () => {
  it.each([
    [collectionPath(TYPES.pods, undefined), '/api/v1/pods'],
    [collectionPath(TYPES.pods, 'shop'), '/api/v1/namespaces/shop/pods'],
    [
      collectionPath(OWN_TYPES.realms, 'shop'),
      '/apis/gateway.svc.dev/v1alpha1/namespaces/shop/realms',
    ],
    [collectionPath(TYPES.namespaces, 'shop'), '/api/v1/namespaces'],
    [objectPath(TYPES.namespaces, { namespace: '', name: 'shop' }), '/api/v1/namespaces/shop'],
    [
      objectPath(TYPES.leases, { namespace: 'shop', name: 'constructor' }),
      '/apis/coordination.k8s.io/v1/namespaces/shop/leases/constructor',
    ],
    [
      objectPath(TYPES.customResourceDefinitions, { namespace: '', name: 'a.b.c' }),
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b.c',
    ],
  ])('%#: %s', (path, expected) => {
    expect(path).toBe(expected)
  })

  it.each([
    '',
    '.',
    '..',
    '../secrets/x',
    'a/b',
    'a%2Fb',
    'a?watch=1',
    'a#b',
    'ä',
    'a'.repeat(254),
  ])('never lead elsewhere: %j', (name) => {
    const expected = { status: 400, reason: 'Invalid' }
    for (const where of [
      { namespace: 'shop', name },
      { namespace: name, name: 'shop' },
    ]) {
      expect(() => objectPath(TYPES.configMaps, where)).toThrow(expect.objectContaining(expected))
    }
  })
})

describe('queries', () => {
  it.each([
    [{}, ''],
    [{ limit: 1, continue: undefined }, '?limit=1'],
    [{ labelSelector: 'a in (b,c)', watch: true }, '?labelSelector=a+in+%28b%2Cc%29&watch=true'],
  ])('%j', (query, expected) => {
    expect(queryOf(query)).toBe(expected)
  })
})
