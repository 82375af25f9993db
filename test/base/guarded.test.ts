import { expect, it } from '@jest/globals'
import { guarded } from '../../base/guarded.ts'

it.each<[string, unknown]>([
  ['nothing', undefined],
  ['an error', new Error('broken')],
  ['anything else', 'words'],
])('reports what a listener throws, if it is %s, and only that', (_, thrown) => {
  const errors: unknown[] = []
  const told: unknown[] = []
  const notify = guarded(
    (...args: readonly [string, number]) => {
      told.push(args)
      if (thrown !== undefined) throw thrown as Error
    },
    (error) => errors.push(error),
  )
  notify('a', 1)
  notify('b', 2)
  expect(told).toEqual([
    ['a', 1],
    ['b', 2],
  ])
  expect(errors).toEqual(thrown === undefined ? [] : [thrown, thrown])
})
