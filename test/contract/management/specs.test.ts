import { describe, expect, it } from '@jest/globals'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHealthApp } from '../../../dataplane/management/app.ts'
import type { ProbeDeps } from '../../../dataplane/management/endpoint.ts'
import { Readiness } from '../../../dataplane/management/readiness.ts'
import type { UpstreamProblem } from '../../../language/wire/wire.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { readStateView } from '../../../operator/fleet/client/read-response.ts'
import { makeDocument, REALM } from '../../dataplane/store/rig.ts'
import { isErrorRecord, startGateway } from './gateway.ts'

const document = { ...makeDocument('a'), name: 'A', meta: { team: 'core' } }
const LOADERS = ['/api_specs', '/services/load_api_spec']

describe.each(LOADERS)('POST %s', (path) => {
  it('loads: 204 without a body', async () => {
    await using gateway = await startGateway()
    const response = await gateway.send('POST', path, { json: document })
    expect([response.status, response.text, gateway.served()]).toEqual([204, '', ['a']])
  })

  it('rejects with every fault: 400, an error record, nothing changed', async () => {
    await using gateway = await startGateway()
    const response = await gateway.send('POST', path, { json: { id: 'bad' } })
    expect([response.status, isErrorRecord(response)]).toEqual([400, true])
    expect(response.record.code).toBe('wamp.error.invalid_argument')
    expect(response.record.errors?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/host missing_required_value',
      '/realm_uri missing_required_value',
      '/versions missing_required_value',
    ])
    expect(response.record.message).toBe(response.record.errors?.[0]?.message)
    expect(gateway.served()).toEqual([])
  })

  it('reports warnings beside the errors', async () => {
    await using gateway = await startGateway()
    const json = { ...document, host: 5, unheard: 1 }
    const { record } = await gateway.send('POST', path, { json })
    expect(record.errors).toMatchObject([{ path: '/host' }])
    expect(record.warnings).toMatchObject([{ code: 'UnknownProperty', path: '/unheard' }])
    const { json: batch } = await gateway.send('POST', path, { json: [json] })
    expect(batch).toMatchObject({
      items: [{ result: 'rejected', errors: [{}], warnings: [{ path: '/unheard' }] }],
    })
  })

  it('names a realm that is not there', async () => {
    await using gateway = await startGateway()
    const json = { ...document, realm_uri: 'com.nobody' }
    const { record } = await gateway.send('POST', path, { json })
    expect(record.message).toBe("There is no realm named 'com.nobody'")
    expect(record.errors).toMatchObject([{ code: 'no_such_realm', path: '/realm_uri' }])
  })

  it('names the winner of a conflict', async () => {
    await using gateway = await startGateway()
    await gateway.send('POST', path, { json: document })
    const response = await gateway.send('POST', path, { json: { ...document, id: 'rival' } })
    expect([response.status, response.record.errors?.[0]?.code]).toEqual([400, 'conflict'])
    expect(response.record.message).toContain("'a'")
  })

  it('takes a list: 200 with a result for each', async () => {
    await using gateway = await startGateway()
    const json = [document, { id: 'bad' }, 7, { ...document, id: 'rival' }, makeDocument('b')]
    const { status, json: reply } = await gateway.send('POST', path, { json })
    expect(status).toBe(200)
    expect(reply).toMatchObject({
      items: [
        { id: 'a', kind: 'spec', result: 'loaded', errors: [], warnings: [] },
        { id: 'bad', result: 'rejected', errors: [{ path: '/host' }, {}, {}] },
        { id: '', result: 'rejected', errors: [{ code: 'invalid_datatype' }] },
        { id: 'rival', result: 'rejected', errors: [{ code: 'conflict' }] },
        { id: 'b', result: 'loaded' },
      ],
    })
  })

  it('takes an empty list', async () => {
    await using gateway = await startGateway()
    const { status, json } = await gateway.send('POST', path, { json: [] })
    expect([status, json]).toEqual([200, { items: [] }])
  })

  it('tells warnings of a list', async () => {
    await using gateway = await startGateway()
    const { json } = await gateway.send('POST', path, { json: [{ ...document, unheard: 1 }] })
    expect(json).toMatchObject({
      items: [{ warnings: [{ code: 'UnknownProperty', path: '/unheard' }] }],
    })
  })
})

describe('GET', () => {
  it('/api_specs/:id is what was submitted, plus ts', async () => {
    await using gateway = await startGateway()
    await gateway.send('POST', '/api_specs', { json: document })
    const response = await gateway.send('GET', '/api_specs/a')
    expect(response.json).toEqual({ ...document, ts: gateway.clock.now() })
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('/api_specs/:id/info is the info record', async () => {
    await using gateway = await startGateway()
    await gateway.send('POST', '/api_specs', { json: document })
    expect((await gateway.send('GET', '/api_specs/a/info')).json).toEqual({
      id: 'a',
      host: 'acme.test',
      realm_uri: REALM,
      name: 'A',
      meta: { team: 'core' },
      ts: gateway.clock.now(),
    })
  })

  it.each([0, 1, 3])('/api_specs lists %d full records', async (count) => {
    await using gateway = await startGateway()
    const documents = Array.from({ length: count }, (_, n) => makeDocument(`d${n}`))
    await gateway.send('POST', '/api_specs', { json: documents })
    const { json } = await gateway.send('GET', '/api_specs')
    expect(json).toEqual(documents.map((each) => ({ ...each, ts: gateway.clock.now() })))
  })

  it('/api_specs?view=state has a tag, and 304 for who has it', async () => {
    await using gateway = await startGateway()
    const first = await gateway.send('GET', '/api_specs?view=state')
    expect(first.json).toMatchObject({
      bootId: 'boot-1',
      manager: null,
      specs: {},
      realms: { [REALM]: {} },
    })
    const etag = first.headers.get('etag') ?? ''
    const headers = { 'if-none-match': `"other", W/${etag}` }
    const second = await gateway.send('GET', '/api_specs?view=state', { headers })
    expect([second.status, second.text, second.headers.get('etag')]).toEqual([304, '', etag])
    await gateway.send('POST', '/api_specs', { json: document })
    expect((await gateway.send('GET', '/api_specs?view=state', { headers })).status).toBe(200)
  })

  it('/api_specs/:id?view=source is the canonical document, its digest the tag', async () => {
    await using gateway = await startGateway()
    await gateway.send('POST', '/api_specs', { json: document })
    const { text, headers } = await gateway.send('GET', '/api_specs/a?view=source')
    expect(text.startsWith('{"host":"acme.test","id":"a","meta"')).toBe(true)
    expect(JSON.parse(text)).toEqual(document)
    const state = await gateway.send('GET', '/api_specs?view=state')
    const { specs } = state.json as { readonly specs: { readonly a: { readonly digest: string } } }
    expect(headers.get('etag')).toBe(`"${specs.a.digest}"`)
  })

  it('/api_specs?view=state reports providers that fail, in their realm', async () => {
    const failing = [{ provider: 'corp', cause: 'issuer', found: 'https://idp.example/' }] as const
    await using gateway = await startGateway({
      store: { failingProvidersOf: (uri) => (uri === REALM ? failing : []) },
    })
    await gateway.send('POST', '/realms', { json: { uri: 'com.other' } })
    const state = readStateView((await gateway.send('GET', '/api_specs?view=state')).json)
    expect(state?.realms[REALM]?.failingProviders).toEqual(failing)
    expect(state?.realms['com.other']).not.toHaveProperty('failingProviders')
    const realm = await gateway.send('GET', `/realms/${REALM}`)
    expect(realm.json).toMatchObject({ failingProviders: failing })
  })

  it('/api_specs?view=state reports upstreams that answer no request, by documents that are loaded', async () => {
    const troubles = new Map<string, UpstreamProblem>()
    await using gateway = await startGateway({ store: { upstreamProblems: () => troubles } })
    await gateway.load(makeDocument('a'))
    const before = await gateway.send('GET', '/api_specs?view=state')
    expect(before.json).not.toHaveProperty('upstreams')
    for (const id of ['a', 'gone']) troubles.set(id, { origin: 'http://up', cause: 'refused' })
    gateway.store.touch()
    const headers = { 'if-none-match': before.headers.get('etag') ?? '' }
    const after = await gateway.send('GET', '/api_specs?view=state', { headers })
    expect(after).toMatchObject({ status: 200 })
    expect(after.json).toHaveProperty('upstreams', { a: { origin: 'http://up', cause: 'refused' } })
  })

  it.each(['/api_specs/a', '/api_specs', '/api_specs?view=state'])(
    'HEAD %s has no body',
    async (path) => {
      await using gateway = await startGateway()
      await gateway.send('POST', '/api_specs', { json: document })
      const { status, text } = await gateway.send('HEAD', path)
      expect([status, text]).toEqual([200, ''])
    },
  )

  it.each([
    '/api_specs/nobody',
    '/api_specs/nobody/info',
    '/api_specs/__proto__',
    '/api_specs/constructor',
    '/api_specs/nobody?view=source',
    '/realms/__proto__',
    '/nothing',
    '/api_specs/a/b/c',
    '/API_SPECS',
    '/v1/a',
  ])('%s is 404', async (path) => {
    await using gateway = await startGateway()
    const response = await gateway.send('GET', path)
    expect([response.status, isErrorRecord(response), response.record.code]).toEqual([
      404,
      true,
      'svc.error.not_found',
    ])
  })

  it.each(['/api_specs?view=other', '/api_specs/a?view=state'])('%s is 400', async (path) => {
    await using gateway = await startGateway()
    await gateway.send('POST', '/api_specs', { json: document })
    expect((await gateway.send('GET', path)).record.code).toBe('wamp.error.invalid_argument')
  })

  it('a path that cannot be decoded is 400', async () => {
    await using gateway = await startGateway()
    const response = await gateway.send('GET', '/api_specs/%ff')
    expect([response.status, response.record.code]).toEqual([400, 'svc.error.invalid_data'])
  })
})

describe('ids', () => {
  it.each(['com.acme/orders v1', 'ä?#%', 'constructor'])(
    '%s travels percent-encoded',
    async (id) => {
      await using gateway = await startGateway()
      await gateway.send('POST', '/api_specs', { json: { ...document, id } })
      const path = `/api_specs/${encodeURIComponent(id)}`
      expect((await gateway.send('GET', `${path}/info`)).json).toMatchObject({ id })
      expect((await gateway.send('DELETE', path)).status).toBe(204)
      expect((await gateway.send('GET', path)).status).toBe(404)
    },
  )
})

describe('DELETE /api_specs/:id', () => {
  it.each([
    ['a', []],
    ['nobody', ['a']],
    ['__proto__', ['a']],
  ])('%s: 204', async (id, served) => {
    await using gateway = await startGateway()
    await gateway.send('POST', '/api_specs', { json: document })
    const { status, text } = await gateway.send('DELETE', `/api_specs/${id}`)
    expect([status, text, gateway.served()]).toEqual([204, '', served])
  })
})

describe('methods', () => {
  it.each([
    ['PUT', '/api_specs', 'GET, HEAD, POST'],
    ['POST', '/api_specs/a', 'GET, HEAD, DELETE'],
    ['OPTIONS', '/api_specs/a/info', 'GET, HEAD'],
    ['GET', '/api_specs/_sync', 'POST'],
    ['DELETE', '/api_specs/_sync', 'POST'],
    ['GET', '/services/load_api_spec', 'POST'],
    ['DELETE', '/realms', 'GET, HEAD, POST'],
    ['POST', '/ready', 'GET, HEAD'],
    ['DELETE', '/metrics', 'GET, HEAD'],
  ])('%s %s is 405, Allow: %s', async (method, path, allow) => {
    await using gateway = await startGateway()
    const response = await gateway.send(method, path)
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
    expect([isErrorRecord(response), response.record.code]).toEqual([
      true,
      'svc.error.method_not_allowed',
    ])
  })
})

describe('probes', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    '%s /ping is 204',
    async (method) => {
      await using gateway = await startGateway()
      expect((await gateway.send(method, '/ping')).status).toBe(204)
    },
  )

  it('/ready is 204, and 503 while draining', async () => {
    await using gateway = await startGateway()
    expect((await gateway.send('GET', '/ready')).status).toBe(204)
    gateway.readiness.drain()
    const response = await gateway.send('GET', '/ready')
    expect([response.status, isErrorRecord(response)]).toEqual([503, true])
    expect((await gateway.send('HEAD', '/ready')).status).toBe(503)
  })

  it('/metrics is somebody else’s', async () => {
    await using gateway = await startGateway()
    const { status, text } = await gateway.send('GET', '/metrics')
    expect([status, text]).toEqual([200, '# TYPE up gauge\nup 1\n'])
  })
})

/** A real listener of its own. */
const fromHealth = async (
  path: string,
  readiness: ProbeDeps['readiness'],
): Promise<{ readonly status: number; readonly text: string }> => {
  const server = createServer(
    createHealthApp({
      readiness,
      metrics: (_req, res) => {
        res.end('# TYPE up gauge\n')
      },
      log: createSilentLog(),
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  const text = await response.text()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return { status: response.status, text }
}

describe('GET /upstreams', () => {
  const report = { upstreams: [], processes: { asked: 1, answered: 1 }, truncated: false }
  const upstreams = (): Promise<typeof report> => Promise.resolve(report)

  it('answers what the serving processes know', async () => {
    await using gateway = await startGateway({ app: { upstreams } })
    expect(await gateway.send('GET', '/upstreams')).toMatchObject({ status: 200, json: report })
    expect((await gateway.send('POST', '/upstreams', { json: {} })).status).toBe(405)
  })

  it('asks for the credentials of the management API', async () => {
    const authorize = (): { status: 401; headers: Record<string, string> } => ({
      status: 401,
      headers: {},
    })
    await using gateway = await startGateway({ app: { upstreams, authorize } })
    expect((await gateway.send('GET', '/upstreams')).status).toBe(401)
  })
})

describe('the health listener', () => {
  it('says what a gateway waits for that is not ready', async () => {
    const waitsFor = 'The manager is still sending its documents and realms.'
    const waiting = { state: 'waiting', isReady: false, waitsFor } as const
    const { status, text } = await fromHealth('/ready', waiting)
    expect([status, JSON.parse(text)]).toEqual([
      503,
      {
        code: 'svc.error.not_ready',
        message: 'The manager has not completed a sync yet',
        description: waitsFor,
      },
    ])
  })

  it.each([
    ['/ping', 204],
    ['/ready', 204],
    ['/metrics', 200],
    ['/api_specs', 404],
    ['/realms', 404],
  ])('GET %s: %d', async (path, status) => {
    const readiness = new Readiness({ isManaged: false, readyFromSnapshotMs: 0, now: () => 0 })
    const response = await fromHealth(path, readiness)
    expect(response.status).toBe(status)
  })
})

describe('what fails inside', () => {
  it('is 500 without a word of it, and changes nothing', async () => {
    await using gateway = await startGateway()
    gateway.failNext()
    const response = await gateway.send('POST', '/api_specs', { json: document })
    expect([response.status, response.record.code]).toEqual([500, 'svc.error.internal'])
    expect(response.text).not.toContain('worker')
    expect((await gateway.send('GET', '/api_specs/a')).status).toBe(404)
  })

  it('after the response has begun ends the connection', async () => {
    await using gateway = await startGateway({
      app: {
        metrics: (_req, res) => {
          res.write('half')
          throw new Error('broken')
        },
      },
    })
    await expect(gateway.send('GET', '/metrics')).rejects.toThrow()
  })
})
