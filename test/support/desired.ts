// Makes entries of a desired set from ids, for tests of the operator.

import type { Claim } from '../../language/compile/conflicts.ts'
import type { DesiredDocument, DesiredRealm, DesiredSet } from '../../operator/desired-set.ts'

export const aDocument = (id: string, more: Partial<DesiredDocument> = {}): DesiredDocument => ({
  id,
  digest: `digest-of-${id}`,
  since: 1,
  realmUri: 'com.shop',
  spec: { id },
  hosts: [],
  claims: [claim(`host\t/${id}\tget`)],
  namespace: 'default',
  resource: `default/${id}`,
  ...more,
})

export const claim = (key: string): Claim => ({ key, pointer: '' })

export const aRealm = (uri = 'com.shop', more: Partial<DesiredRealm> = {}): DesiredRealm => ({
  uri,
  digest: `digest-of-${uri}`,
  record: { uri },
  namespace: 'default',
  ...more,
})

export const aDesiredSet = (
  documents: readonly DesiredDocument[],
  more: Partial<DesiredSet> & { readonly realmList?: readonly DesiredRealm[] } = {},
): DesiredSet => {
  const { realmList = [aRealm()], ...rest } = more
  return {
    version: 1,
    documents: new Map(documents.map((document) => [document.id, document])),
    realms: new Map(realmList.map((realm) => [realm.uri, realm])),
    kept: { documents: new Set(), realms: new Set() },
    ...rest,
  }
}
