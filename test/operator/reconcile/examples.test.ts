// Tests that examples of operations are not sent to gateways, and that a change of them changes nothing there.

import { describe, expect, it } from '@jest/globals'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { cacheOf, resourceOf } from '../../support/resources.ts'

const realm = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })

const sentWith = (operation: object) => {
  const get = { action: { type: 'static', body: 'a' }, ...operation }
  const document = {
    id: 'orders',
    host: 'a.test',
    realm_uri: 'com.shop',
    versions: { v1: { base_path: '/', paths: { '/a': { get } } } },
  }
  const resource = resourceOf('ApiSpecification', 'orders', { spec: { document } })
  const { desired } = new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm, resource]))
  return desired.documents.get('orders')
}

describe('examples', () => {
  it.each([
    { examples: { one: { expect: { status_code: 200 } } } },
    { examples: { one: { expect: { status_code: 201 } }, two: { expect: {} } } },
  ])('as %j are not sent, and are no part of the digest', (operation) => {
    const sent = sentWith(operation)
    expect(sent).toBeDefined()
    expect(sent).toEqual(sentWith({}))
  })
})
