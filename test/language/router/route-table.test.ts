import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parseAuthority } from '../../../language/routes/authority.ts'
import { match, matchWebSocket } from '../../../language/router/match.ts'
import { edit, emptyTable, type RouteTable } from '../../../language/router/route-table.ts'
import type { RouteSet } from '../../../language/router/route.ts'
import { naiveMatch, type MatchResult } from './naive-match.ts'
import { routeSet, type SetSource } from './routes.ts'

type Table = RouteTable<string, string>
type TestSet = RouteSet<string, string>

/** `sent` is a Host as clients write it. */
const resultOf = (table: Table, sent: string, path: string, find = match<string>): MatchResult => {
  const authority = parseAuthority(sent)
  if (authority === undefined) throw new Error(`${sent} is no host`)
  const found = find(table, authority.host, path)
  if (found === undefined || found === 'malformed') return found
  const { candidates, captures, hostCaptures } = found
  return { targets: candidates.map(({ target }) => target), captures, hostCaptures }
}

/** Of paths, and of `/ws`. */
const resultsOf = (table: Table, host: string, path: string): readonly MatchResult[] => [
  resultOf(table, host, path),
  resultOf(table, host, path, (_, ...place) => matchWebSocket(table, ...place)),
]

/** As routes. */
const webSocketsOf = ({ webSockets = [], ...set }: TestSet): RouteSet<string> => ({
  ...set,
  routes: webSockets,
})

const tableOf = (sets: readonly TestSet[]): Table => {
  const editor = edit(emptyTable<string, string>())
  for (const set of sets) editor.put(set)
  return editor.done()
}

const HOSTS = [
  'a.b',
  'b',
  'c.a.b',
  '_',
  ':x.b',
  ':_.a.b',
  'a.:_',
  'c.:_.b',
  ':x.:y.b',
  '[...]b',
  '[...]a.b',
  '[...]:x.b',
  '[a.]b',
  '[:x.]a.b',
  'c.a.:_',
  'constructor',
  '[...][c.]b',
]

/** Each `:` and `;` is a binding. */
const MIXED = [':,;', ':.;', ':.a', 'a.:', '(:)', ':%2Ca', 'a.:.a']

const anyPath = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', 'b', 'c', '%61', 'a%2Fb', '__proto__', ':', ...MIXED),
      fc.constantFrom('', '', '', '[', '[x/'),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .chain((parts) =>
    fc.constantFrom('', '', '/[...]').map((tail) => {
      const open = parts.filter(([, bracket]) => bracket !== '').length
      const body = parts.map(
        ([text, bracket], at) =>
          `/${bracket}${text.replaceAll(/[:;]/g, (mark, place) => `:p${at}${mark === ':' ? '' : place}`)}`,
      )
      return body.join('') + tail + ']'.repeat(open)
    }),
  )

const anyPaths = fc.array(anyPath, { maxLength: 5 })

const anySet = (id: fc.Arbitrary<string>): fc.Arbitrary<TestSet> =>
  fc
    .record({
      id,
      host: fc.constantFrom(...HOSTS),
      base: fc.constantFrom('/', '/', '/a', '/[v]', '/:base'),
      paths: anyPaths,
      webSockets: anyPaths,
      rank: fc.nat(1),
      since: fc.nat(3),
    })
    .map(setOf)

const setOf = ({
  webSockets,
  ...source
}: SetSource & { readonly webSockets: readonly string[] }): TestSet => ({
  ...routeSet(source),
  webSockets: routeSet({ ...source, paths: webSockets }).routes,
})

const anyId = fc.constantFrom('one', 'two', 'three', 'constructor', '__proto__')
const anySets = fc.uniqueArray(anySet(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')), {
  selector: ({ id }) => id,
  maxLength: 8,
})
const anyHost = fc
  .tuple(
    fc.constantFrom('', '', '.'),
    fc.array(fc.constantFrom('a', 'b', 'B', 'c', 'x', 'constructor', ''), { maxLength: 4 }),
    fc.constantFrom('', '', '.', ':80', '.:80', ':'),
  )
  .map(([start, labels, end]) => start + labels.join('.') + end)
  .filter((host) => parseAuthority(host) !== undefined)
const anyRequestPath = fc
  .array(
    fc.constantFrom(
      'a',
      'a',
      'b',
      'c',
      'v',
      'x',
      '%61',
      'a%2fb',
      '__proto__',
      '',
      '.',
      '%2e%2E',
      '...',
      'a.a',
      'a,a.a',
      'a.a.a,a',
      '%61.b%2Ca',
      '(a,b)',
      '(a)',
      '.a',
      '%zz',
      '%ff',
    ),
    { maxLength: 6 },
  )
  .map((segments) => `/${segments.join('/')}`)
const anyRequest = fc.tuple(anyHost, anyRequestPath)

describe('a route table', () => {
  it('agrees with a plain search through every route', () => {
    fc.assert(
      fc.property(
        anySets,
        fc.array(anyRequest, { minLength: 20, maxLength: 40 }),
        (sets, requests) => {
          const table = tableOf(sets)
          for (const [host, path] of requests) {
            expect([host, path, ...resultsOf(table, host, path)]).toEqual([
              host,
              path,
              naiveMatch(sets, host, path),
              naiveMatch(sets.map(webSocketsOf), host, path),
            ])
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is the same whatever the order of changes, and leaves older tables as they were', () => {
    const anyChange = fc.oneof(anySet(anyId), anyId)
    const anyBatches = fc.array(fc.array(anyChange, { maxLength: 4 }), { maxLength: 5 })
    const anyRequests = fc.array(anyRequest, { minLength: 10, maxLength: 20 })
    fc.assert(
      fc.property(anyBatches, anyRequests, (batches, requests) => {
        let table = emptyTable<string, string>()
        const held = new Map<string, TestSet>()
        const past: { table: Table; results: readonly MatchResult[] }[] = []
        const ask = (asked: Table): readonly MatchResult[] =>
          requests.flatMap(([host, path]) => resultsOf(asked, host, path))
        for (const batch of batches) {
          const editor = edit(table)
          for (const change of batch) {
            if (typeof change === 'string') {
              editor.remove(change)
              held.delete(change)
            } else {
              editor.put(change)
              held.set(change.id, change)
            }
          }
          table = editor.done()
          past.push({ table, results: ask(table) })
          expect(ask(table)).toEqual(ask(tableOf([...held.values()].reverse())))
        }
        for (const { table: older, results } of past) {
          // Not from what the table remembers of its hosts, but from its tries.
          expect(ask({ ...older, cache: emptyTable<string, string>().cache })).toEqual(results)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('has nothing left when every document is gone', () => {
    const table = tableOf([
      routeSet({ id: 'a', host: '[www.]x.y', paths: ['/a/:b/[c]', '/t/[...]'] }),
      routeSet({ id: 'b', host: ':_.y', paths: ['/a/:b/[c]'] }),
    ])
    const editor = edit(table)
    editor.remove('a')
    editor.remove('b')
    expect(editor.done()).toMatchObject({ hosts: undefined, sets: undefined })
  })

  it('is the same object when nothing has changed', () => {
    const table = tableOf([routeSet({ id: 'a', host: 'x', paths: ['/a'] })])
    const editor = edit(table)
    editor.remove('b')
    expect(editor.done()).toBe(table)
  })

  it('can be taken from an editor that goes on', () => {
    const editor = edit(emptyTable<string, string>())
    editor.put(routeSet({ id: 'a', host: 'x', paths: ['/a'] }))
    const first = editor.done()
    editor.put(routeSet({ id: 'b', host: 'x', paths: ['/a', '/b'] }))
    const second = editor.done()
    expect(resultOf(first, 'x', '/a')).toMatchObject({ targets: ['a /a'] })
    expect(resultOf(first, 'x', '/b')).toBeUndefined()
    expect(resultOf(second, 'x', '/a')).toMatchObject({ targets: ['a /a', 'b /a'] })
    expect(editor.done()).toBe(second)
  })

  it.each([
    ['alone on its host', []],
    ['beside another document', [routeSet({ id: 'other', host: 'x', paths: ['/other', '/[o]'] })]],
  ])('reads a route a bounded number of times where all meet at many places, %s', (_, others) => {
    const paths = Array.from({ length: 100 }, (__, at) => `/[a]/[b]/[c]/[d]/[e]/[f${at}]`)
    const source = routeSet({ id: 'a', host: 'x', paths })
    let reads = 0
    const routes = source.routes.map(({ target, patterns }) => ({
      target,
      patterns: patterns.map((pattern) => ({
        ...pattern,
        get segments() {
          reads += 1
          return pattern.segments
        },
      })),
    }))
    const editor = edit(tableOf(others))
    editor.put({ ...source, routes })
    const table = editor.done()
    expect(resultOf(table, 'x', '/')).toMatchObject({ targets: { length: 100 + others.length } })
    editor.remove('a')
    editor.done()
    expect(reads / (paths.length * 64)).toBeLessThan(8)
  })

  it('looks at few of the documents that have the same place when one joins or leaves them', () => {
    let reads = 0
    const sharing = (id: string): TestSet => {
      const { routes, ...set } = routeSet({ id, host: 'x', paths: ['/ws/x', `/${id}`] })
      const webSockets = routes.map(({ target, patterns }) => ({
        target,
        get patterns() {
          reads += 1
          return patterns
        },
      }))
      return { ...set, routes, webSockets }
    }
    const ids = Array.from({ length: 1000 }, (_, at) => `d${at}`)
    const editor = edit(tableOf(ids.map(sharing)))
    reads = 0
    editor.put(sharing('d5005'))
    editor.remove('d500')
    const found = matchWebSocket(editor.done(), 'x', '/ws/x')
    expect(found).toMatchObject({ candidates: { length: 1000 } })
    expect(reads).toBeLessThan(100)
  })

  it('finds a WebSocket behind as many patterns as are looked at for one host', () => {
    const labels = 9
    const hostAt = (number: number): string =>
      Array.from({ length: labels }, (_, at) => ((number >> at) & 1 ? 'a' : ':_')).join('.')
    const editor = edit(emptyTable<string, string>())
    for (let number = 0; number < 2 ** labels; number++) {
      const { routes, ...set } = routeSet({
        id: `d${number}`,
        host: hostAt(number),
        paths: [number === 0 ? '/ws/last' : '/ws/x'],
      })
      editor.put({ ...set, routes: [], webSockets: routes })
    }
    const host = Array.from({ length: labels }, () => 'a').join('.')
    const found = matchWebSocket(editor.done(), host, '/ws/last')
    expect(found).toMatchObject({ candidates: [{ id: 'd0' }] })
  })

  it('finds each of thousands of hosts and of paths below one node', () => {
    const many = Array.from({ length: 3000 }, (_, at) =>
      routeSet({ id: `doc-${at}`, host: `h${at}.example.com`, paths: ['/x'] }),
    )
    const paths = Array.from({ length: 2000 }, (_, at) => `/p${at}`)
    const table = tableOf([...many, routeSet({ id: 'wide', host: 'wide.com', paths })])
    const missing = [
      ...many.filter((_, at) => resultOf(table, `h${at}.example.com`, '/x') === undefined),
      ...paths.filter((path) => resultOf(table, 'wide.com', path) === undefined),
    ]
    expect(missing).toEqual([])
    expect(resultOf(table, 'h3000.example.com', '/x')).toBeUndefined()
    expect(resultOf(table, 'wide.com', '/p2000')).toBeUndefined()
  })
})
