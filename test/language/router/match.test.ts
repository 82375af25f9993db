import { describe, expect, it, jest } from '@jest/globals'
import { match } from '../../../language/router/match.ts'
import { edit, emptyTable, type RouteTable } from '../../../language/router/route-table.ts'
import { routeSet, type SetSource } from './routes.ts'

const tableOf = (...sources: readonly SetSource[]): RouteTable<string> => {
  const editor = edit(emptyTable<string>())
  for (const source of sources) editor.put(routeSet(source))
  return editor.done()
}

/** The targets without their id, or what came instead. */
const served = (table: RouteTable<string>, host: string, path: string): unknown => {
  const found = match(table, host, path)
  return typeof found === 'object' ? found.candidates.map(({ target }) => target) : found
}

describe('paths', () => {
  const table = tableOf({
    id: 'd',
    host: 'h',
    base: '/v1',
    paths: [
      '/plain',
      '/u/:id',
      '/u/me',
      '/u/:id/posts/:post',
      '/opt/[:a]',
      '/opt/fixed',
      '/tail/[...]',
      '/tail/one',
      '/tail/:x',
      '/mix/:a/end',
      '/mix/lit/:b',
      '/f/:name',
      '/exact/[:a]',
      '/exact',
      '/back/:a/:b/c',
      '/back/x/[...]',
      '/a%20b/ž',
      '/constructor',
      '/:_/anything/:_',
    ],
  })

  it.each([
    ['/v1/plain', '/plain', []],
    ['/v1/plain/', '/plain', []],
    ['/v1/u/42', '/u/:id', ['42']],
    ['/v1/u/42/', '/u/:id', ['42']],
    ['/v1/u/me', '/u/me', []],
    ['/v1/u/x-1/posts/y.2', '/u/:id/posts/:post', ['x-1', 'y.2']],
    ['/v1/opt', '/opt/[:a]', []],
    ['/v1/opt/5', '/opt/[:a]', ['5']],
    ['/v1/opt/fixed', '/opt/fixed', []],
    ['/v1/tail', '/tail/[...]', []],
    ['/v1/tail/a/b/c', '/tail/[...]', []],
    ['/v1/tail/one', '/tail/one', []],
    ['/v1/tail/two', '/tail/:x', ['two']],
    ['/v1/tail/one/more', '/tail/[...]', []],
    ['/v1/mix/lit/end', '/mix/lit/:b', ['end']],
    ['/v1/mix/other/end', '/mix/:a/end', ['other']],
    ['/v1/back/x/y/c', '/back/x/[...]', []],
    ['/v1/back/z/y/c', '/back/:a/:b/c', ['z', 'y']],
    ['/v1/f/a%2Fb', '/f/:name', ['a/b']],
    ['/v1/pl%61in', '/plain', []],
    ['/v1/f/%C5%BElu%C5%A5', '/f/:name', ['žluť']],
    ['/v1/f/100%2525', '/f/:name', ['100%25']],
    ['/v1/f/a+b', '/f/:name', ['a+b']],
    ['/v1/f/...', '/f/:name', ['...']],
    ['/v1/f/.x', '/f/:name', ['.x']],
    ['/v1/a%20b/%C5%BE', '/a%20b/ž', []],
    ['/v1/tail/%2F/%25', '/tail/[...]', []],
    ['/v1/u/%31/posts/%32', '/u/:id/posts/:post', ['1', '2']],
    ['/v1/constructor', '/constructor', []],
    ['/v1/q/anything/r', '/:_/anything/:_', ['q', 'r']],
  ])('%s is served by %s', (path, route, captures) => {
    expect(match(table, 'h', path)).toMatchObject({
      candidates: [{ target: `d ${route}`, id: 'd' }],
      captures,
      hostCaptures: [],
    })
  })

  it.each([
    '',
    '*',
    '/',
    '/v1',
    '/v1/Plain',
    '/plain',
    '/v12/plain',
    '/v1/u',
    '/v1/u/',
    '/v1/u/42/posts',
    '//v1/plain',
    '/v1//plain',
    '/v1/plain//',
    '/v1/./plain',
    '/v1/u/../plain',
    '/v1/u/..',
    '/v1/u/.',
    '/v1/u/%2e%2E',
    '/v1/u/%2e',
    '/v1/u//posts/1',
    '/v1/tail/a//b',
    '/v1/tail/a/../b',
    '/v1/tail/a/.',
    '/v1/tail/%2e%2e/b',
    '/v1/tail//',
    '/v1/__proto__',
    '/v1/toString',
    '/v1/opt/5/6',
  ])('%p is served by no route', (path) => {
    expect(match(table, 'h', path)).toBeUndefined()
  })

  it.each(['/v1/%zz', '/v1/u/%', '/v1/u/%c3', '/%ff', '/v1/plain/%E0%A4%A'])(
    '%s is malformed',
    (path) => {
      expect(match(table, 'h', path)).toBe('malformed')
    },
  )

  it('shares what it captures when it captures nothing', () => {
    const first = match(table, 'h', '/v1/plain')
    const second = match(table, 'h', '/v1/u/me')
    expect(typeof first === 'object' && typeof second === 'object').toBe(true)
    expect(first).toMatchObject({ captures: [] })
    expect(Object.isFrozen((first as { captures: unknown }).captures)).toBe(true)
    expect((first as { captures: unknown }).captures).toBe(
      (second as { captures: unknown }).captures,
    )
  })

  it.each([
    ['/', '/x', '/x'],
    ['/[v1.0]', '/services/call', '/services/call'],
    ['/[v1.0]', '/services/call', '/v1.0/services/call'],
    ['/a/', '/x', '/a/x'],
    ['/orders/[v1]', '/items/:sku', '/orders/v1/items/7'],
  ])('base_path %s and path %s serve %s', (base, path, request) => {
    expect(served(tableOf({ id: 'd', host: '_', base, paths: [path] }), 'h', request)).toEqual([
      `d ${path}`,
    ])
  })
})

describe('segments with text beside their bindings', () => {
  const table = tableOf({
    id: 'd',
    host: 'h',
    paths: [
      '/images/:id.jpg',
      '/images/:id',
      '/images/logo.jpg',
      '/s/:f.ts',
      '/s/:f.tst',
      '/s/:f.d.ts',
      '/p/prefix-:id',
      '/p/prefix-:id/x',
      '/o/:id:cancel',
      '/o/:id:undo/x',
      '/r/:from..:to',
      '/c/:lat,:lon',
      '/c/:lat,:lon/x',
      '/k/(:key)',
      "/Products(':key')/:name",
      '/eq/:a.b',
      '/eq/b.:a',
      '/back/:a.json/x',
      '/back/:a/y',
      '/w/:name.:ext',
    ],
  })

  it.each<[string, string | undefined, readonly string[]]>([
    ['/images/12346-fr.jpg', '/images/:id.jpg', ['12346-fr']],
    ['/images/a.b.jpg.jpg', '/images/:id.jpg', ['a.b.jpg']],
    ['/images/%61%2Fb.jp%67', '/images/:id.jpg', ['a/b']],
    ['/images/a.jpg/', '/images/:id.jpg', ['a']],
    ['/images/logo.jpg', '/images/logo.jpg', []],
    ['/images/.jpg', '/images/:id', ['.jpg']],
    ['/images/a.JPG', '/images/:id', ['a.JPG']],
    ['/images/a.jpgx', '/images/:id', ['a.jpgx']],
    ['/images/..jpg', '/images/:id.jpg', ['.']],
    ['/images/', undefined, []],
    ['/s/bar.ts', '/s/:f.ts', ['bar']],
    ['/s/bar.tst', '/s/:f.tst', ['bar']],
    ['/s/bar.d.ts', '/s/:f.d.ts', ['bar']],
    ['/s/.d.ts', '/s/:f.ts', ['.d']],
    ['/p/prefix-1111', '/p/prefix-:id', ['1111']],
    ['/p/prefix1111', undefined, []],
    ['/p/prefix-', undefined, []],
    ['/o/7:cancel', '/o/:id:cancel', ['7']],
    ['/o/7:cancel:cancel', '/o/:id:cancel', ['7:cancel']],
    ['/o/7%3Acancel', '/o/:id:cancel', ['7']],
    ['/o/7:undo', undefined, []],
    ['/r/1..2', '/r/:from..:to', ['1', '2']],
    ['/r/1...2', '/r/:from..:to', ['1', '.2']],
    ['/r/..2', undefined, []],
    ['/r/..', undefined, []],
    ['/r/1..', undefined, []],
    ['/c/47.5,-8.5/x', '/c/:lat,:lon/x', ['47.5', '-8.5']],
    ['/c/1,2,3', '/c/:lat,:lon', ['1', '2,3']],
    ['/c/,,3', '/c/:lat,:lon', [',', '3']],
    ['/c/,', undefined, []],
    ['/k/()', undefined, []],
    ['/k/(a)', '/k/(:key)', ['a']],
    ["/Products('a')/b", "/Products(':key')/:name", ['a', 'b']],
    ['/eq/b.b', '/eq/b.:a', ['b']],
    ['/back/a.json/y', '/back/:a/y', ['a.json']],
    ['/w/a.tar.gz', '/w/:name.:ext', ['a', 'tar.gz']],
    ['/w/...', '/w/:name.:ext', ['.', '.']],
    ['/w/..', undefined, []],
    ['/w/%2e.', undefined, []],
  ])('%s is served by %s', (path, expected, captures) => {
    const found = match(table, 'h', path)
    const target = typeof found === 'object' ? found.candidates[0]?.target : found
    expect([target, typeof found === 'object' ? found.captures : []]).toEqual([
      expected === undefined ? undefined : `d ${expected}`,
      captures,
    ])
  })

  it('are all found again when a document with others is taken out of the table', () => {
    const others = routeSet({ id: 'o', host: 'h', paths: ['/images/:id.png', '/c/:a;;:b'] })
    const editor = edit(table)
    editor.put(others)
    const both = editor.done()
    expect(served(both, 'h', '/images/a.png')).toEqual(['o /images/:id.png'])
    const next = edit(both)
    next.remove('o')
    const one = next.done()
    expect(served(one, 'h', '/images/a.png')).toEqual(['d /images/:id'])
    expect(served(one, 'h', '/images/a.jpg')).toEqual(['d /images/:id.jpg'])
    expect(served(both, 'h', '/c/1;;2')).toEqual(['o /c/:a;;:b'])
  })
})

describe('documents that share a path', () => {
  it.each<[string, readonly SetSource[], readonly string[]]>([
    [
      'older first',
      [
        { id: 'a', host: 'h', paths: ['/x'], since: 2 },
        { id: 'b', host: 'h', paths: ['/x'], since: 1 },
      ],
      ['b /x', 'a /x'],
    ],
    [
      'of one age by id',
      [
        { id: 'b', host: 'h', paths: ['/x'] },
        { id: 'a', host: 'h', paths: ['/x'] },
      ],
      ['a /x', 'b /x'],
    ],
    [
      'rank before age',
      [
        { id: 'a', host: 'h', paths: ['/x'], since: 1, rank: 1 },
        { id: 'b', host: 'h', paths: ['/x'], since: 2 },
      ],
      ['b /x', 'a /x'],
    ],
    [
      'fewer optional segments before age',
      [
        { id: 'a', host: 'h', paths: ['/[x]'], since: 1 },
        { id: 'b', host: 'h', paths: ['/x'], since: 2 },
      ],
      ['b /x', 'a /[x]'],
    ],
    [
      'what has no brackets before what leaves them out',
      [{ id: 'a', host: 'h', paths: ['/x/[y]', '/x'] }],
      ['a /x', 'a /x/[y]'],
    ],
    [
      'one document: the order of its paths does not count (1)',
      [{ id: 'a', host: 'h', base: '/x', paths: ['/[y]/[...]', '/[z]'] }],
      ['a /[z]'],
    ],
    [
      'one document: the order of its paths does not count (2)',
      [{ id: 'a', host: 'h', paths: ['/[y]/x', '/x/[z]'] }],
      ['a /x/[z]', 'a /[y]/x'],
    ],
    [
      'one document: the order of its paths does not count (3)',
      [{ id: 'a', host: 'h', paths: ['/x/[z]', '/[y]/x'] }],
      ['a /x/[z]', 'a /[y]/x'],
    ],
  ])('%s', (_, sources, targets) => {
    expect(served(tableOf(...sources), 'h', '/x')).toEqual(targets)
  })

  it('gives each candidate its own pattern and host', () => {
    const table = tableOf(
      { id: 'a', host: ':tenant.h', paths: ['/:x'] },
      { id: 'b', host: ':customer.h', paths: ['/:y'] },
    )
    expect(match(table, 'acme.h', '/1')).toMatchObject({
      candidates: [
        { host: { bindings: ['tenant', null] }, pattern: { bindings: ['x'] } },
        { host: { bindings: ['customer', null] }, pattern: { bindings: ['y'] } },
      ],
      captures: ['1'],
      hostCaptures: ['acme'],
    })
  })
})

describe('hosts', () => {
  const table = tableOf(
    { id: 'exact', host: 'api.acme.com', paths: ['/:any'] },
    { id: 'label', host: ':tenant.acme.com', paths: ['/who', '/only/label'] },
    { id: 'www', host: '[www.]shop.com', paths: ['/who'] },
    { id: 'wild', host: 'shop.:_', paths: ['/who'] },
    { id: 'deep', host: '[...]deep.com', paths: ['/who'] },
    { id: 'deep-label', host: ':x.deep.com', paths: ['/who'] },
    { id: 'v4', host: '127.0.0.1', paths: ['/who'] },
    { id: 'v6', host: '[::1]', paths: ['/who'] },
    { id: 'two', host: ':a.:b.two.com', paths: ['/who'] },
    { id: 'all', host: '_', paths: ['/all/who', '/only/label/all'] },
  )

  it.each([
    ['api.acme.com', '/who', 'exact /:any', []],
    ['api.acme.com.', '/who', 'exact /:any', []],
    ['.api.acme.com', '/who', 'exact /:any', []],
    ['acme2.acme.com', '/who', 'label /who', ['acme2']],
    ['api.acme.com', '/only/label', 'label /only/label', ['api']],
    ['shop.com', '/who', 'www /who', []],
    ['www.shop.com', '/who', 'www /who', []],
    ['shop.example', '/who', 'wild /who', ['example']],
    ['a.b.c.deep.com', '/who', 'deep /who', []],
    ['deep.com', '/who', 'deep /who', []],
    ['a.deep.com', '/who', 'deep-label /who', ['a']],
    ['127.0.0.1', '/who', 'v4 /who', []],
    ['[::1]', '/who', 'v6 /who', []],
    ['x.y.two.com', '/who', 'two /who', ['x', 'y']],
    ['unknown', '/all/who', 'all /all/who', []],
    ['api.acme.com', '/all/who', 'all /all/who', []],
    ['', '/all/who', 'all /all/who', []],
    ['a..b', '/all/who', 'all /all/who', []],
    ['..', '/all/who', 'all /all/who', []],
    [`${'x.'.repeat(300)}acme.com`, '/all/who', 'all /all/who', []],
  ])('%s %s is served by %s', (host, path, target, hostCaptures) => {
    for (const times of ['found', 'remembered']) {
      expect([times, match(table, host, path)]).toMatchObject([
        times,
        { candidates: [{ target }], hostCaptures },
      ])
    }
  })

  it.each([
    ['a.b.acme.com', '/who'],
    ['acme.com', '/who'],
    ['..acme.com', '/who'],
    ['ww2.shop.com', '/who'],
    ['shop.co.example', '/who'],
    ['unknown', '/who'],
    ['xdeep.com', '/who'],
    ['[::2]', '/who'],
    ['constructor', '/who'],
  ])('%s %s is served by no route', (host, path) => {
    expect(match(table, host, path)).toBeUndefined()
    expect(match(table, host, path)).toBeUndefined()
  })

  it('has no route when it is empty', () => {
    expect(match(emptyTable(), 'h', '/')).toBeUndefined()
  })

  it.each([
    [1, 2, 'left /x'],
    [2, 1, 'right /x'],
    [1, 1, 'left /x'],
  ])('of equally specific patterns of ages %d and %d takes %s', (left, right, target) => {
    const equal = tableOf(
      { id: 'left', host: 'a.:_.c', paths: ['/x', '/left'], since: left },
      { id: 'right', host: ':_.b.c', paths: ['/x', '/right'], since: right },
    )
    expect(served(equal, 'a.b.c', '/x')).toEqual([target])
    expect(served(equal, 'a.b.c', '/left')).toEqual(['left /left'])
    expect(served(equal, 'a.b.c', '/right')).toEqual(['right /right'])
  })

  it('still finds a host after many others were requested', () => {
    for (let at = 0; at < 50_000; at += 1) match(table, `h${at}.acme.com`, '/who')
    expect(served(table, 'h1.acme.com', '/who')).toEqual(['label /who'])
    expect(served(table, 'h49999.acme.com', '/who')).toEqual(['label /who'])
    expect(served(table, 'h30000.acme.com', '/who')).toEqual(['label /who'])
  })
})

describe('a path that leads nowhere in very many ways', () => {
  /** Each of the first levels is `a` or a binding, and no path ends as the request does. */
  const deadEnds = (levels: number, depth: number): readonly string[] =>
    Array.from({ length: 2 ** levels }, (_, number) => {
      const steps = Array.from({ length: levels }, (__, at) =>
        ((number >> at) & 1) === 1 ? 'a' : `:b${at}`,
      )
      return `/${[...steps, ...Array.from({ length: depth - levels }, () => 'a'), 'end'].join('/')}`
    })

  it.each(['a', '%61'])('is not followed in all of them (/%s/…)', (segment) => {
    const path = `/${segment}`.repeat(64)
    const few = tableOf({ id: 'd', host: 'h', paths: [...deadEnds(5, 63), '/[...]'] })
    expect(served(few, 'h', path)).toEqual(['d /[...]'])
    // What is less specific is not served in the place of what was not looked at.
    const many = tableOf({ id: 'd', host: 'h', paths: [...deadEnds(8, 63), '/[...]'] })
    expect(served(many, 'h', path)).toBeUndefined()
    expect(served(many, 'h', `${path.slice(0, -segment.length)}end`)).toHaveLength(1)
  })

  it('nor is the rest of it read at each tail', () => {
    const tails = deadEnds(8, 8).map((path) => path.replace(/end$/, '[...]'))
    const table = tableOf({ id: 'd', host: 'h', paths: tails })
    const path = '/a'.repeat(8) + '/x'.repeat(4000)
    const reads = jest.spyOn(String.prototype, 'indexOf')
    expect(served(table, 'h', `${path}/..`)).toBeUndefined()
    expect(reads.mock.calls.length).toBeLessThan(80 * 4000)
    reads.mockRestore()
    expect(served(table, 'h', path)).toHaveLength(1)
  })

  it('nor is a segment split in all the ways in which it can be', () => {
    const bindings = Array.from({ length: 30 }, (_, at) => `:b${at}`)
    const table = tableOf({
      id: 'd',
      host: 'h',
      paths: [`/${bindings.join(',')}!`, `/${bindings.join(',,')}/x`, '/[...]'],
    })
    const searches = jest.spyOn(String.prototype, 'indexOf')
    expect(served(table, 'h', `/${','.repeat(8192)}/y`)).toEqual(['d /[...]'])
    expect(searches.mock.calls.length).toBeLessThan(100)
    searches.mockRestore()
    expect(served(table, 'h', `/${','.repeat(8192)}!`)).toEqual([`d /${bindings.join(',')}!`])
  })

  it('nor is a long segment looked through for each of very many patterns', () => {
    const others = Array.from({ length: 400 }, (_, at) => `/:a,${at}x,:b/:c`)
    const table = tableOf({ id: 'd', host: 'h', paths: [...others, '/[...]'] })
    expect(served(table, 'h', `/${'a'.repeat(400)}`)).toEqual(['d /[...]'])
    // What is less specific is not served in the place of what was not looked at.
    expect(served(table, 'h', `/${'a'.repeat(8192)}`)).toBeUndefined()
  })

  it('nor over all host patterns together', () => {
    const sets = ['a.b', ':x.b', '_'].map((host) => ({
      id: host,
      host,
      paths: host === '_' ? ['/[...]'] : deadEnds(5, 63),
    }))
    expect(served(tableOf(...sets), 'a.b', '/a'.repeat(64))).toEqual(['_ /[...]'])
    const more = sets.map((set) => (set.host === '_' ? set : { ...set, paths: deadEnds(6, 50) }))
    expect(served(tableOf(...more), 'a.b', '/a'.repeat(51))).toBeUndefined()
    expect(served(tableOf(...more), 'a.b', '/c')).toEqual(['_ /[...]'])
  })
})

describe('a host that very many patterns match', () => {
  const hostsOf = (labels: number): readonly SetSource[] =>
    Array.from({ length: 2 ** labels }, (_, number) => {
      const host = Array.from({ length: labels }, (__, at) =>
        ((number >> at) & 1) === 1 ? 'a' : ':_',
      ).join('.')
      return { id: host, host, paths: ['/p'] }
    })

  it.each([
    [8, 1],
    [11, undefined],
  ])('of %d labels in each place is served by so many documents: %p', (labels, count) => {
    const table = tableOf(...hostsOf(labels), { id: 'other', host: 'x.test', paths: ['/p'] })
    const host = Array.from({ length: labels }, () => 'a').join('.')
    const found = served(table, host, '/p')
    expect(Array.isArray(found) ? found.length : found).toBe(count)
    expect(served(table, 'x.test', '/p')).toEqual(['other /p'])
  })
})
