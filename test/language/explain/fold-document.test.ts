import { describe, expect, it } from '@jest/globals'
import {
  type FoldedDocument,
  foldDocument,
  foldedRecord,
  operationAt,
} from '../../../language/explain/fold-document.ts'
import { listRoutes, matchesText } from '../../../language/explain/list-routes.ts'
import { createTemplateWriter } from '../../../language/explain/write-template.ts'
import { compiled, documentOf, STATIC } from '../documents.ts'

const folded = (
  parts: Parameters<typeof documentOf>[0],
  withheld: readonly string[] = [],
): FoldedDocument => {
  const folding = foldDocument(documentOf(parts), withheld)
  if ('problems' in folding) throw new Error(JSON.stringify(folding.problems))
  return folding.folded
}

const actionOf = (action: object, withheld?: readonly string[], api: object = {}): object => {
  const document = folded({ api: { ...api }, paths: { '/x': { get: { action } } } }, withheld)
  return operationAt(document, '/versions/v1/paths/~1x/get')?.action ?? {}
}

describe('folding a document for people', () => {
  it('shows inherited values, and as written what waits for the request', () => {
    const action = {
      type: 'forward',
      host: '{{variables.up}}',
      path: '/a/{{request.bindings.id}}',
      query_string: 'a=1',
    }
    const paths = {
      '/x/:id': { headers: { 'x-a': '{{variables.up}}' }, timeout: 5000, get: { action } },
    }
    const document = folded({ api: { variables: { up: 'http://up.test' } }, paths })
    expect(operationAt(document, '/versions/v1/paths/~1x~1:id/get')).toMatchObject({
      security: { type: 'none' },
      action: {
        type: 'forward',
        host: 'http://up.test',
        path: '/a/{{request.bindings.id}}',
        query_string: 'a=1',
      },
      response_headers: { 'x-a': 'http://up.test' },
      limits: { timeout: 5000 },
      on_result: null,
    })
  })

  it.each([
    ['alone', '{{variables.key}}', '{{variables.key}}'],
    ['within a text', 'https://{{variables.key}}.test', 'https://{{variables.key}}.test'],
    [
      'through a function',
      '{{variables.key |> base64:encode}}',
      '{{variables.key |> base64:encode}}',
    ],
    ['through another variable', 'http://{{variables.other}}/', 'http://{{variables.key}}/'],
  ])('never has the value of a variable from a Secret: %s', (_place, host, shown) => {
    const action = { type: 'forward', host }
    const api = { variables: { other: '{{variables.key}}', key: 'in the document' } }
    expect(actionOf(action, ['key'], api)).toMatchObject({ host: shown })
  })

  it('cannot fold what must be known at load and stands in a Secret', () => {
    const paths = { '/x': { provides: ['{{variables.type}}'], get: STATIC } }
    expect(foldDocument(documentOf({ paths }), ['type'])).toEqual({
      problems: [expect.objectContaining({ path: expect.stringContaining('provides') })],
    })
  })

  const SECRET = 's3cr3t-value'
  it.each([
    ['a header of credentials', { headers: { Authorization: `Bearer ${SECRET}` } }],
    ['a header of any known name', { headers: { 'X-Api-Key': SECRET } }],
    ['a header that also waits', { headers: { cookie: `a={{request.id}}; t=${SECRET}` } }],
    ['credentials of a URL', { path: `/x?next=http://me:${SECRET}@a.test` }],
    ['a parameter of a query', { query_string: `a=1&api_key=${SECRET}` }],
    [
      'a member of a body',
      { body: { list: [{ client_secret: SECRET, nested: { password: { deep: SECRET } } }] } },
    ],
    [
      'a function that sets a header',
      { headers: `{{request.headers |> put(authorization, '${SECRET}')}}` },
    ],
    [
      'such a function without quotes',
      { headers: `{{request.headers |> put(authorization, ${SECRET})}}` },
    ],
    [
      'a default of a header',
      { headers: { 'x-a': `{{request.headers |> get(x-api-key, ${SECRET})}}` } },
    ],
    ['a sentence with a token', { body: `use Bearer ${SECRET}` }],
  ])('hides %s that stands in the document', (_what, members) => {
    const action = { type: 'forward', host: 'http://up.test', ...members }
    const shown = JSON.stringify(actionOf(action))
    expect(shown).toContain('(hidden)')
    expect(shown).not.toContain(SECRET)
  })

  it('keeps members with the names of prototypes', () => {
    const body = JSON.parse('{"__proto__": {"a": "{{request.id}}"}, "constructor": 1}') as object
    expect(JSON.stringify(actionOf({ type: 'static', body }))).toContain(
      '{"__proto__":{"a":"{{request.id}}"},"constructor":1}',
    )
  })

  it('stops writing at its budget', () => {
    const big = {
      kind: 'constant',
      value: Array.from({ length: 1000 }, () => 'x'.repeat(100)),
    } as const
    const write = createTemplateWriter(1000)
    expect(JSON.stringify(write(big)).length).toBeLessThan(10_000)
    expect(write(big)).toBe('(cut)')
  })

  it('shows what a path, and a version for what no path matches, say of CORS and refusals', () => {
    const defaults = {
      cors: { origins: ['https://a.test'] },
      on_refusal: { headers: { 'x-a': '{{refusal.code}}' }, body: 'no' },
    }
    const paths = { '/x': { cors: false, get: { action: { type: 'static', body: 'x' } } } }
    const said = {
      cors: { origins: ['https://a.test'] },
      on_refusal: { headers: { 'x-a': '{{refusal.code}}' }, body: 'no' },
    }
    const record = foldedRecord(folded({ api: { defaults }, paths }))
    const { on_refusal } = said
    expect(record).toMatchObject({
      versions: {
        v1: { ...said, paths: [{ schemes: ['http', 'https'], headers: {}, on_refusal }] },
      },
    })
    expect(record).not.toHaveProperty('versions.v1.paths.0.cors')
  })

  it('has versions by name in its record', () => {
    expect(foldedRecord(folded({}))).toMatchObject({
      id: 'a',
      host: '_',
      realm_uri: 'com.acme',
      versions: {
        v1: {
          base_path: '/v1',
          is_active: true,
          pool_size: 200,
          languages: ['en'],
          schemes: ['http', 'https'],
          security: { type: 'none' },
          paths: [{ template: '/v1/x', operations: { get: { method: 'get' } } }],
        },
      },
    })
  })

  it('has in its record what a version says of deprecation, and its own status codes alone', () => {
    const version = {
      is_deprecated: true,
      meta: { sunset_at: '2030-01-01' },
      status_codes: { 'com.acme.gone': 410, 'wamp.error.timeout': 504 },
    }
    expect(foldedRecord(folded({ version }))).toMatchObject({
      versions: {
        v1: {
          is_deprecated: true,
          deprecation_headers: { deprecation: 'true', sunset: 'Tue, 01 Jan 2030 00:00:00 GMT' },
          status_codes: { 'com.acme.gone': 410 },
        },
      },
    })
    const record = JSON.stringify(foldedRecord(folded({ version })))
    expect(record).not.toContain('wamp.error.timeout')
  })

  it('compiles to the same operation as for service where no Secret is withheld', () => {
    const parts = {
      paths: { '/x': { get: { action: { type: 'static', body: '{{request.id}}' } } } },
    }
    const folding = foldDocument(documentOf(parts), [])
    expect('compiled' in folding && folding.compiled.versions).toEqual(compiled(parts).versions)
  })
})

describe('listing routes', () => {
  const document = folded({
    api: {
      host: 'api.acme.com',
      versions: {
        v1: {
          base_path: '/[v1]',
          security: { type: 'oidc', provider: 'corp' },
          paths: {
            '/users/[:id]': {
              get: { action: { type: 'forward', host: 'http://{{variables.up}}' } },
              put: { action: { type: 'forward', host: 'http://{{variables.up}}' } },
              post: { action: { type: 'wamp_call', procedure: 'com.acme.add' } },
            },
          },
        },
        v0: { base_path: '/v0', is_active: false, paths: { '/x': { get: STATIC } } },
      },
      variables: { up: 'up.test' },
    },
  })

  it('has a row for each action of a path, for endpoints and for WebSockets', () => {
    const rows = listRoutes(document, true).map(
      ({ methods, path, active, action, security }) =>
        `${methods.join()} ${path} ${active ? '' : 'inactive '}${action} ${security}`,
    )
    expect(rows).toEqual([
      'OPTIONS,POST /[v1]/oidc/:provider/backchannel-logout built-in back-channel logout none',
      'GET,OPTIONS /[v1]/oidc/:provider/callback built-in login callback none',
      'GET,OPTIONS /[v1]/oidc/login built-in login none',
      'GET,OPTIONS,POST /[v1]/oidc/logout built-in logout none',
      'GET,HEAD,OPTIONS /[v1]/oidc/verify built-in verify none',
      'GET,PUT /[v1]/users/[:id] forward → http://up.test oidc (provider: corp)',
      'POST /[v1]/users/[:id] wamp_call → com.acme.add oidc (provider: corp)',
      'GET /[v1]/ws WebSocket → router of the realm oidc (provider: corp)',
      'GET /v0/ws inactive WebSocket → router of the realm none',
      'GET /v0/x inactive static none',
    ])
  })

  it('has none for WebSockets without a router', () => {
    expect(listRoutes(document, false)).toHaveLength(8)
  })

  it.each([
    ['API.acme', 10],
    ['com/[v1]/users', 2],
    ['wamp_call', 1],
    ['constructor', 0],
  ])('finds %s in the text of routes', (text, count) => {
    expect(listRoutes(document, true).filter((row) => matchesText(row, text))).toHaveLength(count)
  })
})
