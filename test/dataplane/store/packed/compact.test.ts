// Content that is kept deflated: what is read is what was given, and a document takes a small part of it.

import { expect, it } from '@jest/globals'
import { compact, expand, sizeOfCompact } from '../../../../dataplane/store/packed/compact.ts'

it.each([
  ['nothing', ''],
  ['a short text', '{"id":"é"}'],
  ['characters beyond Latin-1', '→ 日本 '.repeat(2000)],
  ['the longest that is compressed', 'x'.repeat(256 * 1024)],
  ['a longer one', 'é'.repeat(1_000_000)],
])('gives %s back as it was, also from another process', (_name, text) => {
  expect(expand(compact(text)).toString()).toBe(text)
  expect(expand(structuredClone(compact(text))).toString()).toBe(text)
})

it('keeps texts apart that were compressed one after the other', () => {
  const [long, short] = [compact('a'.repeat(10_000)), compact('b'.repeat(2000))]
  expect(expand(short).toString()).toBe('b'.repeat(2000))
  expect(expand(long).toString()).toBe('a'.repeat(10_000))
})

it('takes a small part of the memory', () => {
  const paths = Array.from({ length: 20 }, (_, index) => ({ path: `/resource-${index}/:id` }))
  expect(sizeOfCompact(compact(JSON.stringify(paths).repeat(10)))).toBeLessThan(1000)
})

it('takes bytes, too', () => {
  const bytes = Buffer.from([0, 255, 128, ...Buffer.from('x'.repeat(2000))])
  expect(expand(compact(bytes))).toEqual(bytes)
})

it('leaves a text as it is that would take long to expand', () => {
  const text = 'x'.repeat(300_000)
  expect(compact(text)).toEqual({ plain: Buffer.from(text) })
  expect(sizeOfCompact(compact(text))).toBe(300_000)
})
