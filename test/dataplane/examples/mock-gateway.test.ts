// Tests which example a mock answers by, and whom it lets in.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { createMockGateway } from '../../../dataplane/examples/mock-gateway.ts'
import { listExamples } from '../../../language/examples/list-examples.ts'
import { apiOf, compiledApi } from '../../language/examples/an-api.ts'
import { request } from '../../support/http-request.ts'

const mocked = async (paths: object) => {
  const document = apiOf(paths, { host: 'api.example.com' })
  const compiled = compiledApi(document)
  const unexpected: unknown[] = []
  const server = await createMockGateway({
    documents: [compiled],
    examples: listExamples(document, compiled).flatMap(({ examples }) => examples),
    onUnexpected: (error) => unexpected.push(error),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    get: (path: string, headers: Readonly<Record<string, string>> = {}) =>
      request(`http://127.0.0.1:${port}${path}`, { headers }),
    unexpected,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const FORWARD = { type: 'forward', host: 'http://orders:8080' }
const ORDERS = {
  '/orders/:id': {
    schemes: ['https'],
    get: {
      action: FORWARD,
      examples: {
        refused: { request: { bindings: { id: 1 } }, expect: { status_code: 401 } },
        gone: {
          request: { bindings: { id: 9 } },
          given: { status_code: 410, body: 'gone' },
          expect: {},
        },
        seven: { request: { bindings: { id: 7 } }, given: { body: 'seven' }, expect: {} },
        eight: { request: { bindings: { id: 8 } }, given: { body: 'eight' }, expect: {} },
      },
    },
  },
}

describe('a mock', () => {
  it.each<[string, Readonly<Record<string, string>>, number, string]>([
    ['/orders/7', {}, 200, 'seven'],
    ['/orders/8', {}, 200, 'eight'],
    ['/orders/9', {}, 410, 'gone'],
    ['/orders/1', {}, 200, 'seven'],
    ['/orders/7', { prefer: 'example=gone' }, 410, 'gone'],
    ['/orders/7', { prefer: 'respond-async, example="eight"' }, 200, 'eight'],
    ['/orders/7', { prefer: 'example=nothing' }, 200, 'seven'],
  ])('answers GET %s with %j by %i %s', async (path, headers, status, text) => {
    await using mock = await mocked(ORDERS)
    const response = await mock.get(path, headers)
    expect([response.status, response.text]).toEqual([status, text])
    expect(mock.unexpected).toEqual([])
  })

  it('has no answer where no example gives one', async () => {
    await using mock = await mocked({ '/a': { get: { action: FORWARD } } })
    expect((await mock.get('/a')).status).toBe(504)
  })

  it('lets callers with any credentials in, with what the path requires', async () => {
    const get = { action: { type: 'static', body: '{{security.groups}}' } }
    await using mock = await mocked({
      '/a': { security: { type: 'basic', groups: ['staff'] }, get },
    })
    const right = await mock.get('/a', { authorization: 'Basic YTpi' })
    expect([(await mock.get('/a')).status, right.status, right.json()]).toEqual([
      401,
      200,
      ['staff'],
    ])
  })

  it('ends a topic with its last event', async () => {
    const get = {
      action: { type: 'wamp_subscribe', topic: 'com.example.t' },
      response: { on_result: { body: '{{action.result.args}}' } },
      examples: { two: { given: [{ args: [1] }, { args: [2] }], expect: {} } },
    }
    await using mock = await mocked({ '/a': { get } })
    const { text } = await mock.get('/a', { accept: 'text/event-stream' })
    expect(text.match(/^data: .*$/gm)).toEqual(['data: [1]', 'data: [2]'])
  })
})
