import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { compile } from '../../../language/compile.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { parseHost } from '../../../language/routes/host-pattern.ts'
import { countForms, parsePath } from '../../../language/routes/path-pattern.ts'
import { findTooManyRoutes } from '../../../language/routes/route-limit.ts'

const OPERATION = { get: { action: { type: 'static', body: 1 }, response: {} } }

const pathsOf = (count: number, brackets: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${brackets}/x${i}`, OPERATION]))

interface Row {
  readonly title: string
  readonly host?: string
  readonly versions: Value
  readonly routes?: number
  readonly pointer?: string
}

const aDocument = (host: string, versions: Value): ValueMap => ({
  id: 'com.example.many',
  realm_uri: 'com.example',
  name: 'many',
  host,
  versions,
})

const realm = () => ({ authmethods: [], oidcProviders: [] })
const FOUR = '/[a]/[b]'

describe('routes of a document', () => {
  const NEARLY = {
    v1: { base_path: '/[v]', paths: pathsOf(2000, '/[a]') },
    v2: { base_path: '/2', paths: pathsOf(2000, FOUR) },
    v3: { base_path: '/3', paths: pathsOf(2000, '/[a]') },
  }
  const SIX = { paths: pathsOf(2000, '/[a]/[b]/[c]/[d]/[e]/[f]') }

  it.each<Row>([
    { title: 'none', versions: {} },
    { title: '2000 paths', versions: { v1: { base_path: '/', paths: pathsOf(2000, '') } } },
    { title: 'as many as there may be', versions: NEARLY },
    {
      title: 'one more',
      versions: { ...NEARLY, v4: { base_path: '/4', paths: pathsOf(1, '') } },
      routes: 20_001,
      pointer: '/versions/v4/paths',
    },
    {
      title: 'forms of the host',
      host: '[a.][b.][c.]d.test',
      versions: { v1: { base_path: '/', paths: pathsOf(700, FOUR) } },
      routes: 22_400,
      pointer: '/versions/v1/paths',
    },
    {
      title: 'forms of the base_path',
      versions: { v1: { base_path: '/[v]/[w]/[x]', paths: pathsOf(700, FOUR) } },
      routes: 22_400,
      pointer: '/versions/v1/paths',
    },
    {
      title: 'versions as an array',
      versions: [
        { base_path: '/1', paths: {} },
        { base_path: '/[2]', paths: pathsOf(2000, '/[a]/[b]/[c]') },
      ],
      routes: 32_000,
      pointer: '/versions/1/paths',
    },
    {
      title: 'millions',
      host: '[a.][b.][c.][d.]e.test',
      versions: { v1: SIX, v2: SIX, v3: SIX, v4: SIX },
      routes: 8_192_000,
      pointer: '/versions/v1/paths',
    },
  ])('$title', ({ host = 'a.test', versions, routes, pointer }) => {
    const problem = findTooManyRoutes(aDocument(host, versions))
    expect(problem?.path).toBe(pointer)
    expect(/stands for (\d+) routes/.exec(problem?.message ?? '')?.[1]).toBe(routes?.toString())
  })

  it('a document with too many is refused as a whole, with what else is wrong', () => {
    const document = aDocument('a.test', {
      v1: { base_path: '/[v]', paths: pathsOf(2000, '/[a]/[b]/[c]') },
    })
    const outcome = compile({ ...document, nonsense: 1, id: 7 }, { realm })
    if (!('problems' in outcome)) throw new Error('it was accepted')
    expect(outcome.problems.map(({ path }) => path)).toEqual(['/id', '/versions/v1/paths'])
  })

  it.each([
    [null],
    [{}],
    [{ versions: 7 }],
    [{ host: 1, versions: { a: null, b: { paths: [] }, c: { paths: { '[': 1 } } } }],
  ])('whatever has no shape has none: %j', (value) => {
    expect(value === null ? undefined : findTooManyRoutes(value)).toBeUndefined()
  })

  it('never counts less than what a compiled document has', () => {
    const part = fc.constantFrom('/a', '/[b]', '/:c', '/[d/[e]]', '/[f][/g]')
    const path = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(path, (source) => {
        const parsed = parsePath(source)
        const forms = parsed.ok ? parsed.patterns.length : 1
        expect(countForms(source)).toBeGreaterThanOrEqual(forms)
      }),
    )
  })

  it('counts the forms of a host as they are parsed', () => {
    const parsed = parseHost('[a.][b.][c.][d.]e.test')
    expect(parsed.ok && parsed.hosts.length).toBe(16)
  })
})
