import { expect, it } from '@jest/globals'
import { LoadedContent, type LoadedDocument } from '../../../dataplane/store/loaded-content.ts'

it('computes the root digest once for each change', () => {
  const content = new LoadedContent()
  let reads = 0
  const put = (id: string): void => {
    const document = {
      id,
      managedBy: 'op',
      get digest() {
        reads += 1
        return `digest of ${id}`
      },
    } as LoadedDocument
    content.apply({ documents: new Map([[id, document]]), realms: new Map() })
  }
  put('a')
  const first = content.rootDigest('op')
  expect([content.rootDigest('op'), reads]).toEqual([first, 1])
  expect(content.rootDigest('another')).not.toBe(first)
  put('b')
  expect(content.rootDigest('op')).not.toBe(first)
  content.apply({ documents: new Map([['b', null]]), realms: new Map() })
  expect(content.rootDigest('op')).toBe(first)
})
