import { describe, expect, it } from '@jest/globals'
import { match, matchWebSocket } from '../../../language/router/match.ts'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import { createTableServing, type TableServing } from '../../../dataplane/store/table-serving.ts'
import type { ServingChange } from '../../../dataplane/store/serving.ts'
import { STATUS_CODES } from '../../../language/compile/status-codes.ts'
import { compiled, STATIC, type Parts } from '../../language/documents.ts'

const packed = (id: string, parts: Parts = {}, since = 0) =>
  packDocument(compiled({ ...parts, api: { id, host: `${id}.test`, ...parts.api } }), {
    since,
    rank: 0,
  })

const change = (more: Partial<ServingChange>): ServingChange => ({
  put: [],
  remove: [],
  realms: { put: [], delete: [] },
  ...more,
})

interface Rig {
  readonly serving: TableServing<string>
  /** What happened, in order. */
  readonly events: string[]
  readonly find: (host: string, path?: string) => ReturnType<typeof served>
}

const servedTarget = (serving: TableServing<string>, host: string, path: string) => {
  const found = match(serving.table(), host, path)
  return found === undefined || found === 'malformed' ? undefined : found.candidates[0]?.target
}

const served = (serving: TableServing<string>, host: string, path = '/v1/x') => {
  const target = servedTarget(serving, host, path)
  return target?.kind === 'path' ? target : undefined
}

const makeRig = (): Rig => {
  const events: string[] = []
  const find = (host: string, path?: string) => served(serving, host, path)
  const serving: TableServing<string> = createTableServing<string>(
    {
      put: ({ uri }) =>
        events.push(`put ${uri}, ${find('a.test') === undefined ? 'not served' : 'served'}`),
      delete: (uri) =>
        events.push(`delete ${uri}, ${find('a.test') === undefined ? 'not served' : 'served'}`),
    },
    () => {
      events.push('turn')
      return Promise.resolve()
    },
  )
  return { serving, events, find }
}

describe('createTableServing', () => {
  it('serves what was put, until it is replaced or removed; who holds a table keeps it', async () => {
    const { serving, find } = makeRig()
    expect(find('a.test')).toBeUndefined()
    await serving.apply(change({ put: [packed('a')] }))
    const before = serving.table()
    expect(find('a.test')?.operations.get?.load().action).toEqual({
      type: 'static',
      body: { kind: 'constant', value: 'x' },
    })
    await serving.apply(change({ put: [packed('a', { paths: { '/y': { get: STATIC } } })] }))
    expect([find('a.test'), find('a.test', '/v1/y')?.template]).toEqual([undefined, '/v1/y'])
    await serving.apply(change({ remove: ['a', 'nobody'] }))
    expect(find('a.test', '/v1/y')).toBeUndefined()
    expect(match(before, 'a.test', '/v1/x')).toMatchObject({ candidates: [{ id: 'a' }] })
  })

  it('puts realms before documents are served, and deletes them after', async () => {
    const { serving, events } = makeRig()
    await serving.apply(
      change({ put: [packed('a')], realms: { put: [{ uri: 'r1' }], delete: [] } }),
    )
    await serving.apply(change({ remove: ['a'], realms: { put: [], delete: ['r1'] } }))
    expect(events).toEqual(['put r1, not served', 'delete r1, not served'])
  })

  it('lets requests run while many documents are placed, and swaps them at once', async () => {
    const { serving, events, find } = makeRig()
    const ids = Array.from({ length: 40 }, (_, index) => `d${index}`)
    const applied = serving.apply(change({ put: ids.map((id) => packed(id)) }))
    expect(find('d0.test')).toBeUndefined()
    await applied
    expect(events).toEqual(['turn', 'turn'])
    expect(ids.filter((id) => find(`${id}.test`) === undefined)).toEqual([])
  })

  it('gives a path what dispatch needs of its version', async () => {
    const { serving, find } = makeRig()
    await serving.apply(
      change({
        put: [
          packed('plain'),
          packed('full', {
            api: { status_codes: { 'a.b': 410 } },
            version: { is_deprecated: true, languages: ['es', 'en'], pool_size: 7 },
            paths: {
              '/x': {
                schemes: ['https'],
                headers: { a: '{{request.id}}' },
                get: STATIC,
                put: STATIC,
              },
            },
          }),
        ],
      }),
    )
    const path = find('full.test')
    expect(path).toMatchObject({
      template: '/v1/x',
      schemes: ['https'],
      version: {
        apiId: 'full',
        name: 'v1',
        realmUri: 'com.acme',
        deprecation: { deprecation: 'true' },
        poolSize: 7,
        languages: ['es', 'en'],
      },
    })
    expect(path?.version.statusCodes).toMatchObject({ 'a.b': 410, 'svc.error.timeout': 504 })
    expect(path?.loadParts().headers).toMatchObject({ kind: 'map' })
    expect(Object.keys(path?.operations ?? {})).toEqual(['get', 'put'])
    const slot = path?.operations.put
    expect([slot?.method, slot?.path === path, slot?.prepared, slot?.isRecent]).toEqual([
      'put',
      true,
      undefined,
      false,
    ])
    expect(find('plain.test')?.version.statusCodes).toBe(STATUS_CODES)
    expect(find('plain.test')?.version.deprecation).toBeUndefined()
  })
})

describe('/ws', () => {
  const place = (serving: TableServing<string>, host: string, path: string) => {
    const found = matchWebSocket(serving.table(), host, path)
    if (found === undefined || found === 'malformed') return undefined
    return found.candidates.map(({ target }) => `${target.version.apiId} ${target.template}`)
  }

  it.each([
    ['/v1/ws', ['api /[v1]/ws']],
    ['/ws', ['api /[v1]/ws']],
    ['/v1/ws/', ['api /[v1]/ws']],
    ['/v1/%77s', ['api /[v1]/ws']],
    ['/acme/admin/ws', ['api /:tenant/admin/ws']],
    ['/v1/WS', undefined],
    ['/v1/ws/x', undefined],
    ['/v2/ws', undefined],
    ['/off/ws', undefined],
  ])('%s', async (path, expected) => {
    const { serving } = makeRig()
    const paths = { '/x': { get: STATIC } }
    const versions = [
      { name: 'one', base_path: '/[v1]', paths },
      { name: 'two', base_path: '/:tenant/admin', paths },
      { name: 'off', base_path: '/off', is_active: false, paths },
    ]
    await serving.apply(change({ put: [packed('api', { api: { versions } })] }))
    expect(place(serving, 'api.test', path)).toEqual(expected)
  })

  it('hides no path with bindings, and is no path', async () => {
    const { serving, find } = makeRig()
    await serving.apply(change({ put: [packed('a', { paths: { '/:x': { get: STATIC } } })] }))
    expect(find('a.test', '/v1/ws')?.template).toBe('/v1/:x')
    expect(matchWebSocket(serving.table(), 'a.test', '/v1/x')).toBeUndefined()
  })

  it('knows what the version asks for, until the document goes', async () => {
    const { serving } = makeRig()
    const target = (id: string) => {
      const found = matchWebSocket(serving.table(), `${id}.test`, '/v1/ws')
      return found === undefined || found === 'malformed' ? undefined : found.candidates[0]?.target
    }
    const defaults = { security: { type: 'basic', groups: ['staff'] }, schemes: ['https'] }
    await serving.apply(change({ put: [packed('a'), packed('b', { version: { defaults } })] }))
    expect(target('a')).toMatchObject({
      security: [{ type: 'anonymous' }],
      version: { name: 'v1' },
    })
    expect(target('b')).toMatchObject({
      security: [{ type: 'basic', groups: ['staff'] }],
      schemes: ['https'],
      version: { apiId: 'b', realmUri: 'com.acme' },
    })
    await serving.apply(change({ remove: ['b'] }))
    expect([target('a')?.template, target('b')]).toEqual(['/v1/ws', undefined])
  })

  it('of documents that share it the oldest goes first', async () => {
    const { serving } = makeRig()
    const at = (id: string, since: number) =>
      packed(id, { api: { id, host: 'a.test' }, paths: { [`/${id}`]: { get: STATIC } } }, since)
    await serving.apply(change({ put: [at('young', 2), at('old', 1)] }))
    expect(place(serving, 'a.test', '/v1/ws')).toEqual(['old /v1/ws', 'young /v1/ws'])
  })

  it('mounts the endpoints of security schemes, below every way to write base_path', async () => {
    const { serving } = makeRig()
    const oauth2 = { type: 'oauth2', token_path: '/tokens' }
    const parts: Parts = {
      api: { defaults: { security: { type: 'oidc', provider: 'corp' } } },
      version: { base_path: '/[v1]' },
      paths: {
        '/x': { security: { ...oauth2, flow: 'client_credentials' }, get: STATIC },
        '/y': { security: { ...oauth2, flow: 'implicit' }, get: STATIC },
      },
      realm: { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['corp'] },
    }
    await serving.apply(change({ put: [packed('a', parts)] }))
    for (const base of ['', '/v1']) {
      expect(servedTarget(serving, 'a.test', `${base}/oidc/x/callback`)).toMatchObject({
        kind: 'endpoint',
        template: '/[v1]/oidc/:provider/callback',
        schemes: ['http', 'https'],
        version: { apiId: 'a', name: 'v1', realmUri: 'com.acme' },
        route: { name: 'callback', endpoint: { type: 'oidc', provider: 'corp' } },
      })
      expect(servedTarget(serving, 'a.test', `${base}/tokens`)).toMatchObject({
        route: { name: 'token', flows: ['client_credentials', 'implicit'] },
      })
    }
    await serving.apply(change({ put: [packed('a')] }))
    expect(servedTarget(serving, 'a.test', '/v1/oidc/login')).toBeUndefined()
  })
})
