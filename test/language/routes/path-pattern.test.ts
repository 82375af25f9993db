import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  joinPatterns,
  mountPath,
  parseBasePath,
  type ParsedPath,
  parsePath,
  pathKey,
  type PathPattern,
  webSocketPath,
} from '../../../language/routes/path-pattern.ts'
import { writePathPattern } from '../../../language/router/write-pattern.ts'

/** `/a/:id/[...]` and the number of optional segments in it. */
const shown = (pattern: PathPattern): string =>
  writePathPattern(pattern).replace(/^\/$/, '') +
  (pattern.optional > 0 ? ` ${pattern.optional}` : '')

const ways = (parsed: ParsedPath): readonly string[] =>
  parsed.ok ? parsed.patterns.map(shown) : [parsed.code, parsed.message]

const patternsOf = (parsed: ParsedPath): readonly PathPattern[] => {
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.patterns
}

const join = (base: string, path: string): ParsedPath =>
  joinPatterns(patternsOf(parseBasePath(base)), patternsOf(parsePath(path)))

describe('a path', () => {
  it.each([
    ['/a', ['/a']],
    ['/a/', ['/a']],
    ['/a/b', ['/a/b']],
    ['/users/:id', ['/users/:id']],
    ['/u/:acc_id/x/:user-id', ['/u/:acc_id/x/:user-id']],
    ['/:_/:_', ['/:_/:_']],
    ['/_', ['/_']],
    ['/opt/[:a]', ['/opt', '/opt/:a 1']],
    ['/a/[b/[c]]', ['/a', '/a/b 1', '/a/b/c 2']],
    ['/a/[b]/c', ['/a/c', '/a/b/c 1']],
    ['/a[/b]', ['/a', '/a/b 1']],
    ['/[a/]b', ['/b', '/a/b 1']],
    ['/[a]/[a]', ['', '/a 1', '/a/a 2']],
    ['/[:a]/[:b]', ['', '/:a 1', '/:a/:b 2']],
    ['/t/[...]', ['/t/[...]']],
    ['/t/[...]/', ['/t/[...]']],
    ['/[...]', ['/[...]']],
    ['/t/[x/[...]]', ['/t', '/t/x/[...] 1']],
    ['/a b/ž', ['/a b/ž']],
    ['/a%20b/%C5%BE', ['/a b/ž']],
    ['/%3Aid/%5Bx%5D', ['/:id/[x]']],
    ['/wsx', ['/wsx']],
    ['/ws/x', ['/ws/x']],
    ['/:ws', ['/:ws']],
    ['/.../.x', ['/.../.x']],
    ['/constructor/:__proto__', ['/constructor/:__proto__']],
    ['/t/[...rest]', ['/t/[...rest]']],
    ['/t/[..._]/', ['/t/[...]']],
    ['/t/[[...rest]]', ['/t/[...rest]']],
    ['/[x/[...a-b]]', ['', '/x/[...a-b] 1']],
    ['/[:a]/[:a,:b]', ['invalid_path', expect.stringContaining("':a' occurs twice")]],
    ['/[:a.x]/b', ['/b', '/:a.x/b 1']],
  ])('%s gives %j', (source, expected) => {
    expect(ways(parsePath(source))).toEqual(expected)
  })

  it.each<[string, PathPattern['segments'][number], readonly (string | null)[]]>([
    ['/:id.json', ['', '.json'], ['id']],
    ['/:id:cancel', ['', ':cancel'], ['id']],
    ['/:a,:b', ['', ',', ''], ['a', 'b']],
    ['/(:key)', ['(', ')'], ['key']],
    ["/Products(':key')", ["Products('", "')"], ['key']],
    ['/:from-:to', ['', '-', ''], ['from', 'to']],
    ['/prefix-:id', ['prefix-', ''], ['id']],
    ['/:user-id.json', ['', '.json'], ['user-id']],
    ['/:a..:b', ['', '..', ''], ['a', 'b']],
    ['/:kind::name', ['', ':', ''], ['kind', 'name']],
    ['/:_.json', ['', '.json'], [null]],
    ['/:a-', null, ['a-']],
    ['/:id%28:n%29', ['', '(', ')'], ['id', 'n']],
    ['/:a%2C:b', ['', ',', ''], ['a', 'b']],
    ['/:a.%2F', ['', './'], ['a']],
    ['/documents:search', 'documents:search', []],
    ['/!room:server', '!room:server', []],
    ['/caf%C3%A9:search', 'café:search', []],
    ['/café:search', 'café:search', []],
    ['/a_:b', 'a_:b', []],
    ['/(:)', '(:)', []],
    ['/a,:', 'a,:', []],
    ['/%3Aid.json', ':id.json', []],
    [`/${'x:'.repeat(5000)}`, 'x:'.repeat(5000), []],
  ])('%s has the segment %j', (source, step, bindings) => {
    expect(parsePath(source)).toMatchObject({ patterns: [{ segments: [step], bindings }] })
  })

  it('has one segment that holds a slash', () => {
    expect(parsePath('/a%2Fb')).toMatchObject({ patterns: [{ segments: ['a/b'] }] })
  })

  it.each([
    ['/', 'the base path itself'],
    ['', "start with '/'"],
    ['a', "start with '/'"],
    ['[/a]', "start with '/'"],
    ['//', 'empty segment'],
    ['/a//b', 'empty segment'],
    ['/[/a]', 'empty segment'],
    ['/a]b', 'closes nothing'],
    ['/a[b', 'start of a segment'],
    ['/thing[x]', 'start of a segment'],
    ['/v1x[y]/z', 'start of a segment'],
    ['/a[...]', 'start of a segment'],
    ['/[a]b', 'end of a segment'],
    ['/x[/a/]b', 'leaves the slash'],
    ['/a/[b/[c]', 'not closed'],
    ['/[', 'not closed'],
    ['/[]', 'nothing between'],
    ['/[[]]', 'nothing between'],
    ['/[...]/x', 'nothing may follow'],
    ['/[...][x]', 'nothing may follow'],
    ['/[x/[...]]/y', 'nothing may follow'],
    ['/:a/b/:c/:a', "':a' occurs twice"],
    ['/x/[:id]/:id', "':id' occurs twice"],
    ['/:', 'needs a name'],
    ['/::id', 'needs a name'],
    ['/:(id)', 'needs a name'],
    [String.raw`/:id(\d+)`, 'needs a name'],
    ['/x-:id{2}', 'needs a name'],
    ['/:id*', 'needs a name'],
    ['/:id+.x', 'needs a name'],
    ['/:entity(:key)', 'needs a name'],
    ['/:id?', 'needs a name'],
    ['/:id<int>', 'needs a name'],
    ['/:a,:a', "':a' occurs twice"],
    ['/:a/[...a]', "':a' occurs twice"],
    ['/:a.%zz', 'percent-encoded'],
    ['/:a.#', 'query'],
    [`/:a${'.'.repeat(101)}`, 'more than 100 characters'],
    ['/[...a', 'not closed'],
    ['/[...a/b]', 'needs a name'],
    ['/[...é]', 'needs a name'],
    ['/[....]', 'needs a name'],
    ['/[...rest]/x', 'nothing may follow'],
    ['/a[...rest]', 'start of a segment'],
    ['/a/./b', 'never matches'],
    ['/a/..', 'never matches'],
    ['/a/%2e%2E', 'never matches'],
    ['/%zz', 'percent-encoded'],
    ['/%ff', 'percent-encoded'],
    ['/a?b=c', 'query'],
    ['/a#b', 'fragment'],
    ['/\ud800', 'Unicode'],
  ])('%j is refused: %s', (source, reason) => {
    expect(parsePath(source)).toMatchObject({
      ok: false,
      code: 'invalid_path',
      message: expect.stringContaining(reason),
    })
  })

  it.each([
    ['seven brackets', '/[a]/[b]/[c]/[d]/[e]/[f]/[g]', 'more than 64 ways'],
    ['70 brackets in each other', `/${'['.repeat(70)}a${']'.repeat(70)}`, 'more than 64 ways'],
    ['100 000 open brackets', `/${'[a/'.repeat(100_000)}`, 'more than 64 ways'],
    ['65 segments', '/a'.repeat(65), 'more than 64 segments'],
  ])('of %s is refused', (_, source, reason) => {
    expect(ways(parsePath(source))).toEqual(['invalid_path', expect.stringContaining(reason)])
  })

  it.each(['/ws', '/ws/', '/[ws]', '/%77s', '/[x]/ws'])('%s is reserved', (source) => {
    expect(parsePath(source)).toMatchObject({ ok: false, code: 'reserved_path' })
  })

  it.each(['/a'.repeat(64), '/[a]/[b]/[c]/[d]/[e]/[f]'])(
    '%s is just within the limits',
    (source) => {
      expect(parsePath(source)).toMatchObject({ ok: true })
    },
  )

  it('never throws, whatever is written', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('/', '[', ']', 'a', ':', '_', '%', '.', '[...]', '2e') }),
    )
    fc.assert(
      fc.property(anyText, anyText, (base, path) => {
        const parsed = [parseBasePath(`/${base}`), parsePath(`/${path}`)] as const
        for (const one of parsed) {
          expect(one.ok ? one.patterns.length > 0 : one.message.length < 400).toBe(true)
        }
        const [head, rest] = parsed.map((one) => (one.ok ? one.patterns : []))
        expect(joinPatterns(head ?? [], rest ?? [])).toBeDefined()
        expect(typeof pathKey(`/${base}`, `/${path}`)).toBe('string')
      }),
      { numRuns: 500 },
    )
  })
})

describe('a base path', () => {
  it.each([
    ['/', ['']],
    ['/v1', ['/v1']],
    ['/v1/', ['/v1']],
    ['/[v1.0]', ['', '/v1.0 1']],
    ['/ws', ['/ws']],
  ])('%s gives %j', (source, expected) => {
    expect(ways(parseBasePath(source))).toEqual(expected)
  })

  it.each([
    ['', "start with '/'"],
    ['v1', "start with '/'"],
    ['api/v1', "start with '/'"],
    ['/[v1', 'not closed'],
    ['/x/[...]', 'cannot end in [...]'],
    ['/x/[y/[...rest]]', 'cannot end in [...]'],
  ])('%j is refused: %s', (source, reason) => {
    expect(parseBasePath(source)).toMatchObject({
      ok: false,
      code: 'invalid_path',
      message: expect.stringContaining(reason),
    })
  })
})

describe('a path below a base path', () => {
  it.each([
    ['/', '/x', ['/x']],
    ['/v1', '/x', ['/v1/x']],
    ['/v1/', '/x/', ['/v1/x']],
    ['/[v1.0]', '/services/call', ['/services/call', '/v1.0/services/call 1']],
    ['/orders/[v1]', '/items/:sku', ['/orders/items/:sku', '/orders/v1/items/:sku 1']],
    ['/[v1]', '/[v1]/x', ['/x', '/v1/x 1', '/v1/v1/x 2']],
    ['/v1', '/[...]', ['/v1/[...]']],
    ['/', '/[index]', ['', '/index 1']],
    ['/v1', '/[index]', ['/v1', '/v1/index 1']],
    ['/:_', '/:_', ['/:_/:_']],
  ])('%s and %s give %j', (base, path, expected) => {
    expect(ways(join(base, path))).toEqual(expected)
  })

  it.each([
    ['/:id', '/x/:id', "':id' is in its base_path"],
    ['/:id.x', '/[...id]', "':id' is in its base_path"],
    ['/[a]/[b]/[c]', '/[d]/[e]/[f]/[g]', 'more than 64 ways'],
    ['/a'.repeat(40), '/b'.repeat(25), 'more than 64 segments'],
  ])('%s and %s are refused: %s', (base, path, reason) => {
    expect(join(base, path)).toMatchObject({
      ok: false,
      code: 'invalid_path',
      message: expect.stringContaining(reason),
    })
  })

  it('is nothing of nothing', () => {
    expect(joinPatterns([], [])).toEqual({ ok: true, patterns: [] })
  })
})

describe('the key of a path', () => {
  it.each([
    ['/v1', '/users/:id', '/v1', '/users/:other/'],
    ['/v1', '/x', '/', '/v1/x'],
    ['/', '/a/[b]', '/', '/a[/b]'],
    ['/', '/a%20b', '/', '/a b'],
    ['/', '/%61', '/', '/a'],
    ['/', '/:_', '/', '/:x'],
    ['/', '/t/[...]', '/', '/t/[...rest]'],
    ['/', '/t/[...a]', '/', '/t/[...b]'],
    ['/', '/:a.json', '/', '/:b%2Ejson'],
    ['/', '/:a,:b', '/', '/:a;:b'],
    ['/', '/:a,:b,:c', '/', '/:x,,:y'],
    ['/', '/x(:a,:b)', '/', '/x(:c;:d)'],
  ])('of %s%s is that of %s%s', (base, path, otherBase, otherPath) => {
    expect(pathKey(base, path)).toBe(pathKey(otherBase, otherPath))
  })

  it.each([
    ['/', '/a/[b]', '/', '/a/b'],
    ['/[v1]', '/x', '/', '/x'],
    ['/', '/a%2Fb', '/', '/a/b'],
    ['/', '/:x', '/', '/%3A'],
    ['/', '/t/[...]', '/', '/t'],
    ['/', '/A', '/', '/a'],
    ['/', '/:a.json', '/', '/:a'],
    ['/', '/:a.json', '/', '/:a.yaml'],
    ['/', '/:a.b', '/', '/b.:a'],
    ['/', '/:a,:b', '/', '/:a,'],
    ['/', '/:a,:b', '/', '/:a.,:b'],
    ['/', '/:a.x', '/', '/%3A.x'],
    ['/', '/:a%3F%3A', '/', '/:a,:b'],
  ])('of %s%s is not that of %s%s', (base, path, otherBase, otherPath) => {
    expect(pathKey(base, path)).not.toBe(pathKey(otherBase, otherPath))
  })

  it('of what does not parse is the text', () => {
    expect(pathKey('/v1', 'oauth/token')).toBe('/v1oauth/token')
  })
})

describe('a path of our own below a base_path', () => {
  it.each([
    ['/', '/oidc/login', '/oidc/login', ['/oidc/login']],
    ['/[v1]', '/oidc/login', '/[v1]/oidc/login', ['/oidc/login', '/v1/oidc/login 1']],
    ['/:provider', '/oidc/:provider/x', '/:provider/oidc/:provider/x', ['/:/oidc/:/x']],
    ['/:a.x', '/oidc/login', '/:a.x/oidc/login', ['/:.x/oidc/login']],
    ['/v1', '/a%20b', '/v1/a%20b', ['/v1/a b']],
    ['/v1', 'no path', '/v1no path', []],
  ])('%s and %s', (base, path, template, patterns) => {
    const mounted = mountPath(base, path)
    const ways = mounted.patterns.map(shown).map((way) => way.replaceAll(/:\w+/g, ':'))
    expect([mounted.template, ways]).toEqual([template, patterns])
  })
})

describe('/ws of a version', () => {
  it.each([
    ['/', '/ws', ['/ws']],
    ['/v1/', '/v1/ws', ['/v1/ws']],
    ['/[v1.0]', '/[v1.0]/ws', ['/ws', '/v1.0/ws 1']],
    ['/:tenant/[v1]', '/:tenant/[v1]/ws', ['/:tenant/ws', '/:tenant/v1/ws 1']],
    ['/ws', '/ws/ws', ['/ws/ws']],
    ['/[ws]', '/[ws]/ws', ['/ws', '/ws/ws 1']],
    ['no path', 'no path/ws', []],
  ])('of base_path %s', (base, template, patterns) => {
    const path = webSocketPath(base)
    expect([path.template, path.patterns.map(shown)]).toEqual([template, patterns])
  })
})
