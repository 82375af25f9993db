import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { childPointer } from '../../../base/json-pointer.ts'
import type { CompiledEndpoint } from '../../../language/compile/security.ts'
import type {
  CompiledApi,
  CompiledOperation,
  CompiledPath,
  CompiledVersion,
} from '../../../language/compile/compiled.ts'
import {
  claimsOf,
  type Claim,
  type Claimant,
  ConflictIndex,
  conflictProblem,
  conflictsWithin,
} from '../../../language/compile/conflicts.ts'
import type { Method } from '../../../language/document.ts'
import type { ConstantTemplate } from '../../../language/expression/template.ts'
import { parseHost } from '../../../language/routes/host-pattern.ts'
import {
  joinPatterns,
  parseBasePath,
  parsePath,
  pathKey,
  type PathPattern,
} from '../../../language/routes/path-pattern.ts'

const constant = (value: ConstantTemplate['value']): ConstantTemplate => ({
  kind: 'constant',
  value,
})

const operation = (pointer: string): CompiledOperation => ({
  pointer,
  security: [{ type: 'anonymous' }],
  accepts: [],
  provides: [],
  headers: constant({}),
  body: { maxBytes: 1, readBytes: 1, readMs: 1 },
  limits: { connectTimeout: constant(1), retries: constant(0), retryTimeout: constant(1) },
  action: { type: 'static', body: constant('ok') },
  onResult: { declared: false },
  onError: { declared: false },
  reads: [],
})

interface VersionSource {
  readonly name: string
  readonly base: string
  readonly paths?: Readonly<Record<string, readonly Method[]>>
  readonly endpoints?: readonly CompiledEndpoint[]
  readonly isActive?: boolean
}

const version = ({ name, base, paths = {}, endpoints = [], isActive = true }: VersionSource) => {
  const place = childPointer(childPointer('/versions', name), 'paths')
  return {
    name,
    basePath: base,
    isActive,
    poolSize: 1,
    languages: ['en'],
    statusCodes: {},
    security: [{ type: 'anonymous' }],
    schemes: ['http'],
    endpoints,
    paths: Object.entries(paths).map(([path, methods]): CompiledPath => {
      const pointer = childPointer(place, path)
      return {
        pointer,
        template: base + path,
        patterns: patternsOf(base, path),
        schemes: ['http'],
        headers: constant({}),
        cors: undefined,
        operations: Object.fromEntries(
          methods.map((method) => [method, operation(childPointer(pointer, method))]),
        ),
      }
    }),
  } satisfies CompiledVersion
}

const patternsOf = (base: string, path: string): readonly PathPattern[] => {
  const [head, rest] = [parseBasePath(base), parsePath(path)]
  const joined = head.ok && rest.ok ? joinPatterns(head.patterns, rest.patterns) : undefined
  return joined?.ok === true ? joined.patterns : []
}

const api = (host: string, ...versions: readonly VersionSource[]): CompiledApi => {
  const parsed = parseHost(host)
  if (!parsed.ok) throw new Error(parsed.message)
  return {
    id: 'api',
    realmUri: 'com.acme',
    host,
    hosts: parsed.hosts,
    versions: versions.map(version),
  }
}

const oidc: CompiledEndpoint = { type: 'oidc', provider: 'default' }
const oauth2: CompiledEndpoint = {
  type: 'oauth2',
  flow: 'client_credentials',
  tokenPath: '/oauth/token',
  revokeTokenPath: '/oauth/revoke',
}

describe('the claims of a document', () => {
  it.each([
    ['/', '/a', '/a'],
    ['/v1', '/a/:id/', '/v1/a/:'],
    ['/v1/:tenant', '/:id/[...]', '/v1/:/:/[...]'],
    ['/v1', '/%61%20b/c d/%C3%BC/a%2Fb', '/v1/a%20b/c%20d/%C3%BC/a%2Fb'],
    ['/v1', "/~.-_!*'()", "/v1/~.-_!*'()"],
    ['/[v1]', '/a', '[/v1]/a'],
    ['/v1', '/a/[:b]', '/v1/a[/:]'],
    ['/v1', '/[a]/[...]', '/v1[/a]/[...]'],
    ['/v1', '/__proto__/constructor', '/v1/__proto__/constructor'],
  ])('are known by base and path, bindings and spelling aside: %s and %s', (base, path, key) => {
    const [claim] = claimsOf(api('_', { name: 'v1', base, paths: { [path]: ['get'] } }))
    expect(claim?.key).toBe(`_\t${key}\tget`)
    expect(pathKey(base, path)).toBe(key)
  })

  it('are one for each host, path and method', () => {
    const claims = claimsOf(
      api('[www.]acme.com', { name: 'v1', base: '/[v1]', paths: { '/a~b/:id': ['get', 'put'] } }),
    )
    expect(claims).toEqual(
      ['www.acme.com', 'acme.com'].flatMap((host) =>
        ['get', 'put'].map((method) => ({
          key: `${host}\t[/v1]/a~b/:\t${method}`,
          pointer: `/versions/v1/paths/~1a~0b~1:id/${method}`,
        })),
      ),
    )
  })

  it('are none in a version that is not active', () => {
    const off = { name: 'v1', base: '/', paths: { '/a': ['get'] }, endpoints: [oidc] } as const
    expect(claimsOf(api('h', { ...off, isActive: false }))).toEqual([])
  })

  it('hold the endpoints of its security schemes, shared in the realm', () => {
    const claims = claimsOf(api('h', { name: 'v 1', base: '/b', endpoints: [oidc, oauth2] }))
    expect(claims.map(({ key }) => key.split('\t').slice(1).join(' '))).toEqual([
      '/b/oidc/login get',
      '/b/oidc/login options',
      '/b/oidc/:/callback get',
      '/b/oidc/:/callback options',
      '/b/oidc/logout get',
      '/b/oidc/logout options',
      '/b/oidc/logout post',
      '/b/oidc/:/backchannel-logout options',
      '/b/oidc/:/backchannel-logout post',
      '/b/oidc/verify get',
      '/b/oidc/verify head',
      '/b/oidc/verify options',
      '/b/oauth/token options',
      '/b/oauth/token post',
      '/b/oauth/revoke options',
      '/b/oauth/revoke post',
      '/b/oauth/verify get',
      '/b/oauth/verify head',
      '/b/oauth/verify options',
    ])
    expect(new Set(claims.map(({ sharedBy }) => sharedBy))).toEqual(new Set(['com.acme']))
    expect(new Set(claims.map(({ pointer }) => pointer))).toEqual(new Set(['/versions/v 1']))
  })
})

describe('the claim of /ws', () => {
  const withRouter = (...versions: readonly VersionSource[]): CompiledApi => ({
    ...api('[www.]h', ...versions),
    hasWebSocket: true,
  })

  it.each<[string, CompiledApi, readonly string[]]>([
    ['a realm without a router', api('h', { name: 'a', base: '/b' }), []],
    [
      'each host and active version',
      withRouter({ name: 'a', base: '/[b]' }, { name: 'c', base: '/c', isActive: false }),
      ['www.h\t[/b]/ws\twebsocket', 'h\t[/b]/ws\twebsocket'],
    ],
    [
      'a base_path that is the root',
      withRouter({ name: 'a', base: '/' }),
      ['www.h\t/ws\twebsocket', 'h\t/ws\twebsocket'],
    ],
  ])('is one of %s', (_, compiled, keys) => {
    expect(claimsOf(compiled).map(({ key }) => key)).toEqual(keys)
  })

  it('is shared in the realm, and points at the base_path, of a version in a list too', () => {
    const compiled = withRouter({ name: 'a', base: '/' })
    const inList = {
      ...compiled,
      versions: compiled.versions.map((each) => ({ ...each, pointer: '/versions/0' })),
    }
    const [claim] = claimsOf(compiled)
    expect([claim?.sharedBy, claim?.pointer]).toEqual(['com.acme', '/versions/a/base_path'])
    expect(claimsOf(inList)[0]?.pointer).toBe('/versions/0/base_path')
  })

  it('is in no conflict with a path of another version that has its place', () => {
    const versions = [
      { name: 'a', base: '/', paths: { '/chat/ws': ['get'] } },
      { name: 'b', base: '/chat', paths: { '/:x': ['get'] } },
      { name: 'c', base: '/chat' },
    ] as const
    expect(conflictsWithin(withRouter(...versions))).toEqual([])
  })
})

describe('conflicts inside a document', () => {
  it.each<[string, readonly VersionSource[], readonly [string, string][]]>([
    ['none', [{ name: 'a', base: '/', paths: { '/x': ['get'], '/y': ['get'] } }], []],
    [
      'other methods',
      [
        { name: 'a', base: '/', paths: { '/x': ['get'] } },
        { name: 'b', base: '/', paths: { '/x': ['post'] } },
      ],
      [],
    ],
    [
      'two bindings in one place',
      [{ name: 'a', base: '/', paths: { '/:x': ['get', 'put'], '/:y': ['get'] } }],
      [['/versions/a/paths/~1:y/get', '/versions/a/paths/~1:x/get']],
    ],
    [
      'two versions',
      [
        { name: 'a', base: '/v1', paths: { '/x': ['get'] } },
        { name: 'b', base: '/', paths: { '/v1/x': ['get'] } },
      ],
      [['/versions/b/paths/~1v1~1x/get', '/versions/a/paths/~1x/get']],
    ],
    [
      'a version that is not active',
      [
        { name: 'a', base: '/', paths: { '/x': ['get'] } },
        { name: 'b', base: '/', paths: { '/x': ['get'] }, isActive: false },
      ],
      [],
    ],
    [
      'one login of two versions',
      [
        { name: 'a', base: '/', endpoints: [oidc, oauth2, oauth2] },
        { name: 'b', base: '/', endpoints: [oidc] },
      ],
      [],
    ],
    [
      'a path in the place of an endpoint',
      [{ name: 'a', base: '/', paths: { '/oidc/login': ['get', 'put'] }, endpoints: [oidc] }],
      [['/versions/a/paths/~1oidc~1login/get', '/versions/a']],
    ],
    [
      'a path of a version called paths',
      [{ name: 'paths', base: '/', paths: { '/oidc/login': ['get'] }, endpoints: [oidc] }],
      [['/versions/paths/paths/~1oidc~1login/get', '/versions/paths']],
    ],
  ])('%s', (_, versions, expected) => {
    const problems = conflictsWithin(api('[www.]h', ...versions))
    expect(problems.map(({ code, path }) => [code, path])).toEqual(
      expected.map(([path]) => ['conflict', path]),
    )
    for (const [at, [, first]] of expected.entries()) {
      expect(problems[at]?.message).toContain(`by ${first} already`)
    }
  })
})

describe('the fault of a lost claim', () => {
  it('names the route and the winner', () => {
    const claim = { key: 'acme.com\t/users/:\tget', pointer: '/versions/v1/paths/~1users~1:id/get' }
    expect(conflictProblem(claim, 'the-other')).toEqual({
      code: 'conflict',
      path: claim.pointer,
      message: expect.stringMatching(/^GET acme\.com\/users\/: belongs to the API 'the-other'/),
    })
  })

  it('says of /ws what can be changed', () => {
    const claim = { key: 'acme.com\t/chat/ws\twebsocket', pointer: '/versions/v1/base_path' }
    expect(conflictProblem(claim, 'w').message).toBe(
      "WEBSOCKET acme.com/chat/ws belongs to the API 'w', of another realm, which comes first; change the host or the base_path",
    )
  })

  it('stays short', () => {
    const claim = { key: `h\t/${'x'.repeat(5000)}\tget`, pointer: '/p' }
    expect(conflictProblem(claim, 'w').message.length).toBeLessThan(400)
  })
})

const claim = (key: string, sharedBy?: string): Claim => ({
  key,
  pointer: `/${key}`,
  ...(sharedBy !== undefined && { sharedBy }),
})

const claimant = (id: string, since: number, claims: readonly Claim[], rank = 0): Claimant => ({
  id,
  rank,
  since,
  claims,
})

const indexOf = (...claimants: readonly Claimant[]): ConflictIndex => {
  const index = new ConflictIndex()
  for (const one of claimants) index.put(one)
  return index
}

const winners = (index: ConflictIndex, id: string): readonly (readonly [string, string])[] =>
  index.conflictsOf(id).map((clash) => [clash.claim.key, clash.winnerId])

describe('the conflict index', () => {
  it.each<[string, Claimant, Claimant, 'a' | 'b' | 'neither']>([
    ['the older', claimant('a', 2, [claim('x')]), claimant('b', 1, [claim('x')]), 'b'],
    [
      'of one age the smaller id',
      claimant('a', 1, [claim('x')]),
      claimant('b', 1, [claim('x')]),
      'a',
    ],
    ['the lower rank', claimant('a', 1, [claim('x')], 1), claimant('b', 2, [claim('x')]), 'b'],
    [
      'none: other routes',
      claimant('a', 1, [claim('x')]),
      claimant('b', 2, [claim('y')]),
      'neither',
    ],
    [
      'none: shared in a realm',
      claimant('a', 1, [claim('x', 'r')]),
      claimant('b', 2, [claim('x', 'r')]),
      'neither',
    ],
    [
      'the older: shared in two realms',
      claimant('a', 1, [claim('x', 'r')]),
      claimant('b', 2, [claim('x', 's')]),
      'a',
    ],
    [
      'the older: shared by one alone',
      claimant('a', 1, [claim('x', 'r')]),
      claimant('b', 2, [claim('x')]),
      'a',
    ],
  ])('gives the route to %s', (_, a, b, winner) => {
    for (const index of [indexOf(a, b), indexOf(b, a)]) {
      expect(winners(index, 'a')).toEqual(winner === 'b' ? [['x', 'b']] : [])
      expect(winners(index, 'b')).toEqual(winner === 'a' ? [['x', 'a']] : [])
      expect(index.affectedBy('a')).toEqual(winner === 'a' ? ['b'] : [])
      expect(index.affectedBy('b')).toEqual(winner === 'b' ? ['a'] : [])
    }
  })

  it('lets those share who may share with the winner', () => {
    const index = indexOf(
      claimant('first', 1, [claim('login', 'r')]),
      claimant('stranger', 2, [claim('login')]),
      claimant('second', 3, [claim('login', 'r')]),
    )
    expect(winners(index, 'stranger')).toEqual([['login', 'first']])
    expect(winners(index, 'second')).toEqual([])
    expect(index.affectedBy('first')).toEqual(['stranger', 'second'])
  })

  it('reports lost claims in the order of the document, and a route once', () => {
    const index = indexOf(
      claimant('a', 1, [claim('x'), claim('y'), claim('z', 'r')]),
      claimant('b', 2, [claim('z', 's'), claim('z', 's'), claim('w'), claim('x')]),
    )
    expect(winners(index, 'b')).toEqual([
      ['z', 'a'],
      ['x', 'a'],
    ])
    expect(index.affectedBy('a')).toEqual(['b'])
  })

  it('compares one that comes with few of the thousands that share a route', () => {
    let reads = 0
    const sharing = (at: number): Claimant => ({
      ...claimant(`d${at}`, at, [claim('login', 'r')]),
      get rank() {
        reads += 1
        return 0
      },
    })
    const index = new ConflictIndex()
    for (let at = 0; at < 2000; at++) index.put(sharing(2 * at))
    reads = 0
    index.put(sharing(2001))
    expect(index.conflictsAfter(sharing(2003), new Set(['d0']))).toEqual([])
    // Two for each comparison.
    expect(reads).toBeLessThan(30)
    index.remove('d0')
    index.put(claimant('stranger', 2002, [claim('login')]))
    expect(winners(index, 'stranger')).toEqual([['login', 'd2']])
  })

  it('knows nothing of who is not there', () => {
    const index = indexOf(claimant('constructor', 1, [claim('__proto__')]))
    index.remove('toString')
    expect(index.conflictsOf('toString')).toEqual([])
    expect(index.affectedBy('toString')).toEqual([])
    expect(index.conflictsOf('constructor')).toEqual([])
  })

  it('agrees with a search through all documents after any changes', () => {
    const anyClaim = fc.tuple(
      fc.constantFrom('w', 'x', 'y', '__proto__'),
      fc.constantFrom(undefined, undefined, 'r', 's'),
    )
    const anyId = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const anyClaimant = fc
      .tuple(anyId, fc.nat(2), fc.nat(1), fc.uniqueArray(anyClaim, { selector: ([key]) => key }))
      .map(([id, since, rank, claims]) =>
        claimant(
          id,
          since,
          claims.map(([key, realm]) => claim(key, realm)),
          rank,
        ),
      )
    fc.assert(
      fc.property(fc.array(fc.oneof(anyClaimant, anyClaimant, anyId)), (changes) => {
        const index = new ConflictIndex()
        const held = new Map<string, Claimant>()
        for (const change of changes) {
          const id = typeof change === 'string' ? change : change.id
          const before = verdicts(held)
          const affected = new Set([...index.affectedBy(id), id])
          if (typeof change === 'string') {
            index.remove(id)
            held.delete(id)
          } else {
            index.put(change)
            held.set(id, change)
          }
          for (const other of index.affectedBy(id)) affected.add(other)
          const after = verdicts(held)
          for (const [other, verdict] of after) {
            expect([other, winners(index, other)]).toEqual([other, verdict])
            const isSame = JSON.stringify(before.get(other)) === JSON.stringify(verdict)
            expect([other, isSame || affected.has(other)]).toEqual([other, true])
          }
        }
      }),
    )
  })
})

type Verdict = readonly (readonly [string, string])[]

/** The rule, plainly: the first of all who claim a route has it, and who may share it with the first. */
function verdicts(held: ReadonlyMap<string, Claimant>): ReadonlyMap<string, Verdict> {
  const inOrder = [...held.values()].sort(
    (a, b) => a.rank - b.rank || a.since - b.since || (a.id < b.id ? -1 : 1),
  )
  const verdictOf = (own: Claimant): Verdict =>
    own.claims.flatMap(({ key, sharedBy }) => {
      const winner = inOrder.find(({ claims }) => claims.some((other) => other.key === key))
      const theirs = winner?.claims.find((other) => other.key === key)
      const isShared = sharedBy !== undefined && theirs?.sharedBy === sharedBy
      return winner === undefined || winner === own || isShared ? [] : [[key, winner.id]]
    })
  return new Map(inOrder.map((own) => [own.id, verdictOf(own)]))
}
