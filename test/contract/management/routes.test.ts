// Reading routes, folded documents and explanations over the management API, and what its client makes of that.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RouteExplanation } from '../../../language/explain/explanation.ts'
import { foldTask, foldWith } from '../../../dataplane/store/fold-loaded.ts'
import { readExplanation, readRoutesPage } from '../../../operator/fleet/client/read-explanation.ts'
import { documentOf, STATIC } from '../../language/documents.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { compact } from '../../../dataplane/store/packed/compact.ts'

const DOCUMENTS = 130

/** As a serving process without documents would say. */
const NOWHERE: RouteExplanation = {
  request: { method: 'GET', scheme: 'http', host: 'a.test', path: '/x' },
  tried: [],
  route: null,
  checks: [],
  verdict: {
    outcome: 'rejected',
    status: 404,
    code: 'svc.error.not_found',
    step: 'route',
    message: 'no',
  },
}

let gateway: Gateway
let isSilent = false

beforeAll(async () => {
  const fold = foldWith({ compile: (request) => foldTask(request, { maxRoutes: 1000 }) })
  const explain = (): Promise<RouteExplanation | undefined> =>
    Promise.resolve(isSilent ? undefined : NOWHERE)
  gateway = await startGateway({ app: { fold, explain } })
  const documents = Array.from({ length: DOCUMENTS }, (_, index) =>
    documentOf({
      api: { id: `d${String(index).padStart(3, '0')}`, host: `h${index}.test` },
      paths: { '/a': { get: STATIC }, '/b': { get: STATIC } },
    }),
  )
  const { json } = await gateway.send('POST', '/api_specs', { json: documents })
  if (JSON.stringify(json).includes('"rejected"')) throw new Error('a document was rejected')
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
})

const pageAt = async (query: string): Promise<NonNullable<ReturnType<typeof readRoutesPage>>> => {
  const page = readRoutesPage((await gateway.send('GET', `/routes${query}`)).json)
  if (page === undefined) throw new Error('this is no page')
  return page
}

const walk = async (query: string): Promise<{ routes: readonly string[]; pages: number }> => {
  const routes: string[] = []
  let after = ''
  for (let pages = 1; ; pages++) {
    const { routes: rows, next } = await pageAt(`?${query}${after}`)
    routes.push(...rows.map(({ document, path }) => `${document} ${path}`))
    if (next === null) return { routes, pages }
    after = `&after=${encodeURIComponent(next)}`
  }
}

describe('GET /routes', () => {
  it('has each route once over its pages, whatever their size, and the keys at the end', async () => {
    const whole = await walk('limit=1000')
    expect(whole.routes).toHaveLength(2 * DOCUMENTS + 1)
    expect(new Set(whole.routes).size).toBe(2 * DOCUMENTS + 1)
    expect(whole.routes.at(-1)).toBe(' /.well-known/jwks.json')
    const byThree = await walk('limit=3')
    expect(byThree.routes).toEqual(whole.routes)
    expect(byThree.pages).toBe(Math.ceil((2 * DOCUMENTS + 1) / 3))
  })

  it('looks at a hundred documents for one page, and says that there are more', async () => {
    const { routes, next } = await pageAt('?match=nothing-has-this')
    expect({ routes, next }).toEqual({ routes: [], next: 'all d099' })
    expect(await walk('match=h129.TEST/v1/b')).toEqual({ routes: ['d129 /v1/b'], pages: 2 })
  })

  it.each([
    '?limit=0',
    '?limit=1001',
    '?limit=1e2',
    '?limit=1&limit=2',
    '?after=x',
    '?after=',
    `?after=1%20${'x'.repeat(600)}`,
    `?match=${'x'.repeat(257)}`,
    '?match=a&match=b',
  ])('refuses %s', async (query) => {
    const { status, record } = await gateway.send('GET', `/routes${query}`)
    expect([status, record.code]).toEqual([400, 'wamp.error.invalid_argument'])
  })

  it.each(['1 __proto__', 'all constructor', '999999 d129'])(
    'goes on behind %s, which no document has',
    async (after) => {
      const { status } = await gateway.send('GET', `/routes?after=${encodeURIComponent(after)}`)
      expect(status).toBe(200)
    },
  )

  it('has an entity tag that changes with what is loaded', async () => {
    const { headers } = await gateway.send('GET', '/routes')
    const tagged = { headers: { 'if-none-match': headers.get('etag') ?? '' } }
    expect((await gateway.send('GET', '/routes', tagged)).status).toBe(304)
    await gateway.send('POST', '/api_specs', {
      json: documentOf({ api: { id: 'd129', host: 'h129.test' } }),
    })
    expect((await gateway.send('GET', '/routes', tagged)).status).toBe(200)
    await gateway.send('DELETE', '/api_specs/d129')
  })
})

describe('GET /explain', () => {
  const explain = (query: Readonly<Record<string, string>>) =>
    gateway.send('GET', `/explain?${new URLSearchParams(query).toString()}`)

  it('is read by the client as it was sent', async () => {
    const { status, json } = await explain({ method: 'GET', url: 'http://a.test/x' })
    expect(status).toBe(200)
    expect(readExplanation(json)).toEqual(json)
  })

  it.each([
    [{}],
    [{ method: 'GET' }],
    [{ method: 'G T', url: 'http://a.test/' }],
    [{ method: 'GET', url: 'http://me:pw@a.test/' }],
    [{ method: 'GET', url: `http://a.test/${'x'.repeat(9000)}` }],
    [{ method: 'GET', url: 'http://a.test/', header: 'no colon' }],
    [{ method: '__proto__', url: 'constructor' }],
  ])('answers 400 to %j, and does not repeat it', async (query) => {
    const { status, record, text } = await explain(query)
    expect([status, record.code]).toEqual([400, 'wamp.error.invalid_argument'])
    expect(text).not.toMatch(/pw@|xxxx/)
  })

  it('answers 503 if no serving process replies', async () => {
    isSilent = true
    const { status } = await explain({ method: 'GET', url: 'http://a.test/x' })
    isSilent = false
    expect(status).toBe(503)
  })
})

describe('GET /api_specs/:id?view=folded', () => {
  it('is 404 for a document that is not there, as its other views', async () => {
    expect((await gateway.send('GET', '/api_specs/constructor?view=folded')).status).toBe(404)
  })

  it('says which value of a Secret is missing, if nothing can be folded without it', async () => {
    const fold = foldWith({ compile: (request) => foldTask(request, { maxRoutes: 1000 }) })
    const source = compact(
      JSON.stringify(
        documentOf({ paths: { '/x': { provides: ['{{variables.t}}'], get: STATIC } } }),
      ),
    )
    const result = await fold({ source, digest: 'd', variables: { t: 'application/json' } })
    expect(result).toEqual({
      problem: expect.stringMatching(/without the values of its Secrets: .*provides/),
    })
  })
})

describe('what a gateway says of a request', () => {
  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['no verdict', { request: { method: 'GET' } }],
    [
      'a verdict without a status',
      { request: { method: 'GET' }, verdict: { outcome: 'rejected' } },
    ],
  ])('is not believed if it is %s', (_what, body) => {
    expect(readExplanation(body)).toBeUndefined()
  })

  it('is read as far as it makes sense', () => {
    const read = readExplanation({
      request: { method: 'GET', scheme: 'gopher' },
      verdict: { outcome: 'served', status: 'x' },
      route: { kind: 'constructor', method: '__proto__' },
      tried: [{ reason: 'toString', matched_segments: 'many' }, 7],
      checks: [{ name: 'x', result: 'y' }],
      operation: { action: [], accepts: ['a'], newer: { limit: 1 } },
    })
    expect(read).toMatchObject({
      request: { scheme: 'http' },
      verdict: { outcome: 'served', status: null },
      route: { kind: 'operation', method: null },
      tried: [{ reason: 'segment', matched_segments: 0 }],
      checks: [{ name: 'scheme', result: 'unknown' }],
      operation: { action: { type: '' }, accepts: ['a'], newer: { limit: 1 } },
    })
  })
})
