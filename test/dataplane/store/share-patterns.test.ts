// Patterns of equal paths are shared among documents, and those of different paths never.

import { expect, it } from '@jest/globals'
import { sharePatterns } from '../../../dataplane/store/share-patterns.ts'
import { mountPath } from '../../../language/routes/path-pattern.ts'

it('gives one shape to equal paths', () => {
  const first = sharePatterns(mountPath('/v1', '/users/[:id]'))
  expect(first.patterns).toEqual(mountPath('/v1', '/users/[:id]').patterns)
  expect(sharePatterns(mountPath('/v1', '/users/[:id]'))).toBe(first)
})

it.each([
  ['other bindings', '/users/:name'],
  ['other segments', '/user/[:id]'],
  ['a tail', '/users/[...]'],
])('gives another one to a path with %s, whatever it is called', (_name, path) => {
  const { template } = sharePatterns(mountPath('/v1', '/users/[:id]'))
  const { patterns } = mountPath('/v1', path)
  expect(sharePatterns({ template, patterns }).patterns).toEqual(patterns)
})

it('remembers a bounded number', () => {
  for (let index = 0; index < 20_000; index++) sharePatterns(mountPath('/v1', `/p${index}`))
  const late = mountPath('/v1', '/late')
  expect(sharePatterns(late)).not.toBe(sharePatterns(late))
})
