// Equal paths are one object among documents, and different paths never are.

import { expect, it } from '@jest/globals'
import { createPathInterner } from '../../../../dataplane/store/packed/intern-path.ts'
import { mountPath } from '../../../../language/routes/path-pattern.ts'

const internPath = createPathInterner()

it('gives one shape to equal paths, from the second on', () => {
  const shapes = [1, 2, 3].map(() => internPath(mountPath('/v1', '/users/[:id]')))
  for (const { patterns } of shapes)
    expect(patterns).toEqual(mountPath('/v1', '/users/[:id]').patterns)
  expect(shapes[2]).toBe(shapes[1])
})

it.each([
  ['other bindings', '/users/:name'],
  ['other segments', '/user/[:id]'],
  ['a tail', '/users/[...]'],
])('gives another one to a path with %s, whatever it is called', (_name, path) => {
  const [template] = [1, 2].map(() => internPath(mountPath('/v1', '/users/[:id]')).template)
  if (template === undefined) throw new Error('it has no template')
  const { patterns } = mountPath('/v1', path)
  for (let time = 0; time < 3; time++)
    expect(internPath({ template, patterns }).patterns).toEqual(patterns)
})
