// Patterns of equal paths are shared among documents, and those of different paths never.

import { expect, it } from '@jest/globals'
import { createPatternShare } from '../../../dataplane/store/share-patterns.ts'
import { mountPath } from '../../../language/routes/path-pattern.ts'

it('gives one shape to equal paths, from the second on', () => {
  const sharePatterns = createPatternShare()
  const shapes = [1, 2, 3].map(() => sharePatterns(mountPath('/v1', '/users/[:id]')))
  for (const { patterns } of shapes)
    expect(patterns).toEqual(mountPath('/v1', '/users/[:id]').patterns)
  expect(shapes[1]).not.toBe(shapes[0])
  expect(shapes[2]).toBe(shapes[1])
})

it.each([
  ['other bindings', '/users/:name'],
  ['other segments', '/user/[:id]'],
  ['a tail', '/users/[...]'],
])('gives another one to a path with %s, whatever it is called', (_name, path) => {
  const sharePatterns = createPatternShare()
  const [template] = [1, 2].map(() => sharePatterns(mountPath('/v1', '/users/[:id]')).template)
  if (template === undefined) throw new Error('it has no template')
  const { patterns } = mountPath('/v1', path)
  expect(sharePatterns({ template, patterns }).patterns).toEqual(patterns)
})

it('remembers a bounded number', () => {
  const sharePatterns = createPatternShare()
  for (let index = 0; index < 20_000; index++)
    for (let time = 0; time < 2; time++) sharePatterns(mountPath('/v1', `/p${index}`))
  const late = [1, 2, 3].map(() => sharePatterns(mountPath('/v1', '/late')))
  expect(late[2]).not.toBe(late[1])
})
