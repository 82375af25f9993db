// Tests how a page of documentation is served: as any path, to those who may read it, and from the caches of browsers.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import { readDocsFile } from '../../../web/docs-files.ts'
import { request } from '../../support/http-request.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'
import { refused } from './verdicts.ts'

let gateway: ServedGateway

beforeAll(async () => {
  gateway = await serveGateway({
    authenticate: () => refused(new GatewayError('svc.error.unauthorized', 'no')),
  })
  await gateway.load(
    apiOf(
      { '/orders': { get: answers('ok') } },
      {
        name: 'Orders',
        defaults: { headers: { 'x-a': 'a', 'Content-Security-Policy': 'none' } },
        version: {
          base_path: '/v1',
          docs_page: { path: '/docs', security: {} },
          security: { type: 'basic' },
        },
      },
    ),
  )
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
})

const ask = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  request(`${gateway.url}${path}`, { method, headers })

const filesOf = async (): Promise<readonly string[]> => {
  const { text } = await ask('/v1/docs')
  return [...text.matchAll(/'(\/swagger-ui-[^']+)'/g)].map(([, path = '']) => `/v1/docs${path}`)
}

describe('a page of documentation', () => {
  it.each(['/v1/docs', '/v1/docs/'])('is at %s, with a policy of its own', async (path) => {
    const { status, headers, text } = await ask(path, { accept: 'text/html,*/*;q=0.8' })
    expect([status, headers['content-type'], headers['x-a']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'a',
    ])
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'strict-dyn/,
    )
    expect(text).toContain('<title>Orders</title>')
    expect(text).toContain('"/v1/orders":{"get":')
    expect(text).not.toContain('swagger-ui-bundle"')
    expect(text).not.toContain('"/v1/docs')
  })

  it('has two files, which browsers keep', async () => {
    const files = await filesOf()
    expect(files).toHaveLength(2)
    for (const [path, name, type] of [
      [files[1] ?? '', 'swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
      [files[0] ?? '', 'swagger-ui.css', 'text/css; charset=utf-8'],
    ] as const) {
      const { status, headers, text } = await ask(path)
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        type,
        'private, max-age=31536000, immutable',
      ])
      expect(text).toBe(readDocsFile(name).toString())
    }
  })

  it('and its files have HEAD, and 304 for who has them', async () => {
    for (const path of ['/v1/docs', ...(await filesOf())]) {
      const { headers } = await ask(path)
      const { etag = '' } = headers
      expect(etag).toMatch(/^"[\w.-]+"$/)
      const head = await ask(path, {}, 'HEAD')
      expect([head.status, head.text, head.headers['content-length']]).toEqual([
        200,
        '',
        headers['content-length'],
      ])
      const same = await ask(path, { 'if-none-match': etag })
      expect([same.status, same.text]).toEqual([304, ''])
      expect((await ask(path, {}, 'POST')).status).toBe(405)
    }
  })

  it('stands behind the security of the version, as its files do, where it has none', async () => {
    await gateway.load(
      apiOf(
        {},
        { id: 'b', version: { base_path: '/v2', docs_page: '/docs', security: { type: 'basic' } } },
      ),
    )
    const files = (await filesOf()).map((path) => path.replace('/v1/', '/v2/'))
    for (const path of ['/v2/docs', ...files]) expect((await ask(path)).status).toBe(401)
  })
})
