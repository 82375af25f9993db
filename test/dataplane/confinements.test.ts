import { describe, expect, it } from '@jest/globals'
import { createConfinements } from '../../dataplane/confinements.ts'
import type { PackedDocument } from '../../dataplane/store/packed/packed-document.ts'

const packed = (id: string, confinedTo?: string): PackedDocument => ({
  id,
  realmUri: 'com.acme',
  rank: 0,
  since: 1,
  hosts: [],
  versions: [],
  content: { plain: new Uint8Array() },
  ...(confinedTo !== undefined && { confinedTo }),
})

describe('what a document is confined to', () => {
  const old = { apiId: 'orders', confinedTo: undefined }

  it('is looked up in the document as it is now, not as it was', () => {
    const confinements = createConfinements()
    expect(confinements.of(old)).toBeUndefined()
    confinements.follow({ put: [packed('orders', 'shop')], remove: [] })
    expect(confinements.of(old)).toBe('shop')
    confinements.follow({ put: [packed('other')], remove: [] })
    expect(confinements.of(old)).toBe('shop')
    confinements.follow({ put: [packed('orders')], remove: [] })
    expect(confinements.of({ ...old, confinedTo: 'shop' })).toBeUndefined()
  })

  it('stays where the document is gone', () => {
    const confinements = createConfinements()
    confinements.follow({ put: [packed('orders')], remove: [] })
    confinements.follow({ put: [], remove: ['orders'] })
    expect(confinements.of({ ...old, confinedTo: 'shop' })).toBe('shop')
  })
})
