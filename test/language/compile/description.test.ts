import { describe, expect, it } from '@jest/globals'
import { compile, type Compilation } from '../../../language/compile.ts'
import { memberAt } from '../../../language/expression/members.ts'
import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import type { CompiledPath } from '../../../language/compile/compiled.ts'
import { withDescribedExamples } from '../../../language/without-examples.ts'
import { countRoutes } from '../../../language/routes/route-limit.ts'

const documentOf = (version: ValueMap, api: ValueMap = {}): ValueMap => ({
  id: 'com.a',
  host: '_',
  realm_uri: 'com.a',
  ...api,
  versions: { v1: { base_path: '/v1', openapi: '/openapi.json', paths: {}, ...version } },
})

const compileIt = (document: ValueMap, variables?: ValueMap): Compilation =>
  compile(document, {
    realm: () => ({ authmethods: [], oidcProviders: [] }),
    ...(variables && { variables }),
  })

const descriptionIn = (compilation: Compilation): CompiledPath => {
  if ('problems' in compilation) throw new Error(JSON.stringify(compilation.problems))
  expect(compilation.warnings).toEqual([])
  const path = compilation.compiled.versions[0]?.paths.at(-1)
  if (path?.pointer !== '/versions/v1/openapi') throw new Error('there is no description')
  return path
}

const textIn = (compilation: Compilation): string => {
  const action = descriptionIn(compilation).operations.get?.action
  const body = action?.type === 'static' ? action.body : undefined
  return body?.kind === 'constant' && typeof body.value === 'string' ? body.value : ''
}

const etagIn = (compilation: Compilation): unknown => {
  const action = descriptionIn(compilation).operations.get?.action
  const headers = action?.type === 'static' ? action.headers : undefined
  return headers?.kind === 'constant' && isMap(headers.value) && memberAt(headers.value, 'etag')
}

const STATIC = { action: { type: 'static', body: '{{variables.key}}' } }

describe('values of Secrets', () => {
  const document = documentOf({
    paths: {
      '/a': {
        summary: 'As {{variables.key}}',
        provides: ['application/json'],
        get: { ...STATIC, info: '{{variables.key}}' },
      },
    },
  })

  it('are not in a description, which is the same whatever they are', () => {
    const [one, other] = ['hush-one', 'hush-other'].map((key) => compileIt(document, { key }))
    if (one === undefined || other === undefined) throw new Error('nothing was compiled')
    expect(textIn(one)).not.toContain('hush')
    expect(textIn(other)).toBe(textIn(one))
    expect(etagIn(other)).toBe(etagIn(one))
  })

  it('are needed by no document with openapi', () => {
    const needy = documentOf({
      status_codes: { 'com.a.gone': '{{variables.key}}' },
      paths: { '/a': { get: STATIC } },
    })
    const compilation = compileIt(needy, { key: '410' })
    const problems = 'problems' in compilation ? compilation.problems : []
    expect(problems.map(({ code, path }) => [code, path])).toEqual([
      ['invalid_value', '/versions/v1/openapi'],
    ])
    expect(problems[0]?.message).toMatch(
      /^a description must not show values of Secrets, .*: \/versions\/v1\/status_codes\/com.a.gone: /,
    )
    expect(JSON.stringify(problems)).not.toContain('410')
    const v1 = (needy['versions'] as { v1: ValueMap }).v1
    const without = Object.fromEntries(Object.entries(v1).filter(([name]) => name !== 'openapi'))
    const plain = { ...needy, versions: { v1: without } }
    expect(compileIt(plain, { key: '410' })).toHaveProperty('compiled')
  })
})

it('is text that no expression of which is evaluated', () => {
  const words = 'a {{{b}}} ${x} {{request.id}} }} {{ <%= %> "\\u007b'
  const document = documentOf({
    info: { description: words },
    paths: { '/a': { summary: words, get: { action: { type: 'static', body: 'a' } } } },
  })
  expect(JSON.parse(textIn(compileIt(document)))).toMatchObject({
    info: { description: words },
    paths: { '/v1/a': { get: { summary: words } } },
  })
})

it('is the same where a gateway gets what it shows of examples alone', () => {
  const example = {
    request: { body: { a: 1 }, as: { authid: 'carol' } },
    given: { body: 'b' },
    expect: { status_code: 200, body: 'c' },
  }
  const get = { action: { type: 'static', body: 'c' }, examples: { one: example } }
  const document = documentOf({ paths: { '/a': { get } } })
  const text = textIn(compileIt(document))
  expect(text).toContain('"examples":{"one":{"value":"c"}}')
  expect(textIn(compileIt(withDescribedExamples(document)))).toBe(text)
})

it('has another tag where it is another text', () => {
  const tags = ['/a', '/b'].map((path) =>
    etagIn(
      compileIt(documentOf({ paths: { [path]: { get: STATIC } } }, { variables: { key: 1 } })),
    ),
  )
  expect(tags[0]).toMatch(/^"[0-9a-f]{32}"$/)
  expect(tags[1]).not.toBe(tags[0])
})

it('has headers of the defaults, with its own over them', () => {
  const headers = { 'X-A': 'a', ETag: 'x', 'Content-Type': 'text/plain' }
  const path = descriptionIn(compileIt(documentOf({ defaults: { headers } })))
  const action = path.operations.get?.action
  expect(action?.type === 'static' && action.headers).toEqual({
    kind: 'constant',
    value: {
      'x-a': 'a',
      'content-type': 'application/vnd.oai.openapi+json;version=3.1',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      'cache-control': 'no-cache',
    },
  })
})

it('mounts the endpoints of the scheme that it alone has', () => {
  const security = { type: 'oauth2', flow: 'client_credentials' }
  const compilation = compileIt(documentOf({ openapi: { path: '/openapi.json', security } }))
  expect('compiled' in compilation && compilation.compiled.versions[0]?.endpoints).toEqual([
    expect.objectContaining({ type: 'oauth2' }),
  ])
})

it('counts as a route for each form of the base path', () => {
  expect(countRoutes(documentOf({ base_path: '/[v1]' }))).toBe(2)
})

describe('more than 2,097,152 characters', () => {
  const long = 'x'.repeat(10_000)
  const brackets = '/[a]/[b]/[c]/[d]/[e]'
  it.each<[string, ValueMap]>([
    ['one text in many forms', { [brackets]: { description: long.repeat(8), get: STATIC } }],
    [
      'a long path in many forms',
      { [`${brackets}/${long.repeat(10)}`]: { get: STATIC, put: STATIC, post: STATIC } },
    ],
    [
      'many paths',
      Object.fromEntries(
        Array.from({ length: 300 }, (_, index) => [`/${index}`, { summary: long, get: STATIC }]),
      ),
    ],
  ])('of %s do not load', (_, paths) => {
    const compilation = compileIt(documentOf({ paths }, { variables: { key: 'a' } }))
    expect('problems' in compilation && compilation.problems).toEqual([
      {
        code: 'invalid_value',
        path: '/versions/v1/openapi',
        message:
          'the OpenAPI descriptions of this API have more than 2097152 characters: leave openapi and docs_page out, and write them by svc openapi',
      },
    ])
  })

  it('of several versions do not load either', () => {
    const version = (name: string): ValueMap => ({
      base_path: `/${name}`,
      openapi: '/openapi.json',
      paths: { [brackets]: { description: long.repeat(5), get: STATIC } },
    })
    const document = {
      ...documentOf({}, { variables: { key: 'a' } }),
      versions: { v1: version('a'), v2: version('b') },
    }
    const compilation = compileIt(document)
    expect('problems' in compilation && compilation.problems.map(({ path }) => path)).toEqual([
      '/versions/v2/openapi',
    ])
  })
})

describe('docs_page', () => {
  const paged = (more: ValueMap): ValueMap => ({
    ...documentOf({}),
    versions: { v1: { base_path: '/v1', docs_page: '/docs', paths: {}, ...more } },
  })

  it('is a page with two files below it, where the version has no openapi too', () => {
    const compilation = compileIt(paged({}))
    if ('problems' in compilation) throw new Error(JSON.stringify(compilation.problems))
    expect(compilation.warnings).toEqual([])
    const paths = compilation.compiled.versions[0]?.paths ?? []
    expect(
      paths.map(({ template, pointer, operations: { get } }) => [
        template,
        pointer,
        get?.action.type,
      ]),
    ).toEqual([
      ['/v1/docs', '/versions/v1/docs_page', 'static'],
      [
        expect.stringMatching(/^\/v1\/docs\/swagger-ui-[0-9a-f]{16}\.js$/),
        '/versions/v1/docs_page',
        'docs_file',
      ],
      [
        expect.stringMatching(/^\/v1\/docs\/swagger-ui-[0-9a-f]{16}\.css$/),
        '/versions/v1/docs_page',
        'docs_file',
      ],
    ])
  })

  it.each<[string, ValueMap, string, string]>([
    ['a binding', { docs_page: '/docs/:id' }, 'invalid_path', '/versions/v1/docs_page'],
    ['no slash', { docs_page: 'docs' }, 'invalid_path', '/versions/v1/docs_page'],
    ['no path', { docs_page: {} }, 'missing_required_value', '/versions/v1/docs_page/path'],
    [
      'the path of another operation',
      { paths: { '/docs': { get: { action: { type: 'static' } } } } },
      'conflict',
      '/versions/v1/docs_page',
    ],
  ])('with %s does not load', (_, more, code, path) => {
    const compilation = compileIt(paged(more))
    const problems = 'problems' in compilation ? compilation.problems : []
    expect(problems.map((problem) => [problem.code, problem.path])).toEqual([[code, path]])
  })

  it('has no value of a Secret', () => {
    const get = { action: { type: 'static', body: '{{variables.key}}' }, info: '{{variables.key}}' }
    const compilation = compileIt(paged({ paths: { '/a': { get } } }), { key: 'hush' })
    if ('problems' in compilation) throw new Error(JSON.stringify(compilation.problems))
    const pages = compilation.compiled.versions[0]?.paths.filter(({ pointer }) =>
      pointer.endsWith('docs_page'),
    )
    expect(pages).toHaveLength(3)
    expect(JSON.stringify(pages)).not.toContain('hush')
  })

  it('gets what it shows of examples', () => {
    const examples = {
      one: { request: { as: { authid: 'carol' } }, expect: { status_code: 200, body: 'c' } },
    }
    const get = { action: { type: 'static', body: 'c' }, examples }
    const sent = withDescribedExamples(paged({ paths: { '/a': { get } } }))
    expect(JSON.stringify(sent)).toContain('"body":"c"')
    expect(JSON.stringify(sent)).not.toContain('carol')
  })

  it('counts as three routes for each form of the base path', () => {
    expect(countRoutes(paged({ base_path: '/[v1]' }))).toBe(6)
  })
})
