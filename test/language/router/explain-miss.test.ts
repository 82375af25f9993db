// Tests what is said of a path that no document serves: the pattern that matched furthest on each host, and why it did
// not match.

import { describe, expect, it } from '@jest/globals'
import { explainMiss } from '../../../language/router/explain-miss.ts'
import { match } from '../../../language/router/match.ts'
import { edit, emptyTable } from '../../../language/router/route-table.ts'
import type { PathPattern } from '../../../language/routes/path-pattern.ts'
import { routeSet } from './routes.ts'

const editor = edit(emptyTable<string>())
editor.put(
  routeSet({
    id: 'users',
    host: 'api.acme.com',
    base: '/v1',
    paths: ['/users/:id/posts', '/exact', '/files/[...]'],
  }),
)
editor.put(routeSet({ id: 'mixed', host: 'mixed.test', paths: ['/:a.json/x', '/:a,:b/y'] }))
editor.put(routeSet({ id: 'rest', host: '[...].acme.com', paths: ['/rest'] }))
editor.put(
  routeSet({
    id: 'many',
    host: 'many.test',
    paths: Array.from({ length: 200 }, (_, at) => `/p${at}/:a`),
  }),
)
const table = editor.done()

const textOf = (segments: PathPattern['segments'], tail: boolean): string =>
  [...segments.map(stepText), ...(tail ? ['[...]'] : [])].join('/')

const stepText = (step: PathPattern['segments'][number]): string => {
  if (step === null) return ':'
  return typeof step === 'string' ? step : step.join(':')
}

const explain = (host: string, path: string): readonly string[] =>
  explainMiss(table, host, path).map(
    ({ id, pattern, matchedSegments, reason }) =>
      `${id} ${textOf(pattern.segments, pattern.tail)} ${matchedSegments} ${reason}`,
  )

describe('Of a path that nothing serves', () => {
  it.each([
    [
      'api.acme.com',
      '/v1/users/42/pots',
      ['users v1/users/:/posts 3 segment', 'rest rest 0 segment'],
    ],
    [
      'api.acme.com',
      '/v1/users/42',
      ['users v1/users/:/posts 3 path too short', 'rest rest 0 segment'],
    ],
    ['api.acme.com', '/v1/exact/more', ['users v1/exact 2 path too long', 'rest rest 0 segment']],
    [
      'api.acme.com',
      '/v1/users/../posts',
      ['users v1/users/:/posts 2 unsafe segment', 'rest rest 0 segment'],
    ],
    [
      'api.acme.com',
      '/v1/files/a/../b',
      ['users v1/files/[...] 2 unsafe segment', 'rest rest 0 segment'],
    ],
    ['www.acme.com', '/rest/%6Dore', ['rest rest 1 path too long']],
    ['www.acme.com', '/', ['rest rest 0 path too short']],
    ['mixed.test', '/1.json/y', ['mixed :.json/x 1 segment']],
    ['mixed.test', '/1,2/y/z', ['mixed :,:/y 2 path too long']],
    ['mixed.test', '/.json/x', ['mixed :.json/x 0 segment']],
    ['elsewhere.test', '/v1/users', []],
    ['api.acme.com', '/%zz', []],
    ['api.acme.com', '*', []],
  ])('%s%s', (host, path, expected) => {
    expect(typeof match(table, host, path)).not.toBe('object')
    expect(explain(host, path)).toEqual(expected)
  })

  it('names some pattern of a host that has many', () => {
    expect(explain('many.test', '/none')).toEqual([
      expect.stringMatching(/^many p\d+\/: 0 segment$/),
    ])
  })

  it('looks at a bounded part of a path of any length', () => {
    expect(explain('www.acme.com', `/rest${'/a'.repeat(8000)}`)).toEqual([
      'rest rest 1 path too long',
    ])
  })

  it('looks at a bounded number of patterns where each segment could be two', () => {
    const wide = edit(emptyTable<string>())
    const paths = Array.from(
      { length: 1 << 9 },
      (_, bits) =>
        `/${Array.from({ length: 9 }, (_, at) => ((bits >> at) & 1 ? 'a' : `:x${at}`)).join('/')}/end`,
    )
    wide.put(routeSet({ id: 'wide', host: 'w', paths }))
    const misses = explainMiss(wide.done(), 'w', `/${'a/'.repeat(9)}none`)
    expect(misses).toMatchObject([{ id: 'wide', matchedSegments: 9, reason: 'segment' }])
  })
})
