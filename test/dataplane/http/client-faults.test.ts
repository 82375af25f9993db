// Who is to blame for an expression that fails: 400 for values of the client, which any client could send at will, 500
// for what the document or its action brings.

import { describe, expect, it } from '@jest/globals'
import type { Perform } from '../../../dataplane/actions/performer.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

const SECRET = 'hidden-key'
const variables = { key: SECRET, ups: { [SECRET]: 'http://a' }, deep: '{{request.body.user}}' }

const call = (members: object): object => ({
  action: { type: 'wamp_call', procedure: 'a.b', ...members },
})

const succeed: Perform = (exchange) => {
  exchange.succeed({ status_code: 200, headers: {}, body: { a: 1 }, uri: '' })
}

const serve = async (post: object, more: object = {}): Promise<ServedGateway> => {
  const gateway = await serveGateway({ forward: succeed })
  await gateway.load(apiOf({ '/x/[:id]': { post, ...more } }, { variables }))
  return gateway
}

const ask = (gateway: ServedGateway, body: unknown) =>
  gateway.ask('POST', '/x', { json: body, headers: { 'x-up': 'other' } })

describe('values of the client', () => {
  it.each<[string, object, unknown, string]>([
    [
      'a member that is missing',
      answers('{{request.body.sku}}'),
      {},
      'request.body.sku is missing',
    ],
    ['a body of another kind', answers('{{request.body.sku}}'), [1], 'request.body.sku is missing'],
    ['no body', answers('{{request.body.sku}}'), '', 'request.body.sku is missing'],
    [
      'null where a map is read',
      answers('{{request.body.a.b}}'),
      { a: null },
      'request.body.a.b is missing',
    ],
    [
      'an optional segment',
      answers('{{request.bindings.id}}'),
      1,
      'request.bindings.id is missing',
    ],
    [
      'a parameter',
      answers('a {{request.query_params.page}}'),
      1,
      'request.query_params.page is missing',
    ],
    [
      'through a variable',
      answers('{{variables.deep.name}}'),
      {},
      'request.body.user.name is missing',
    ],
    [
      'a function',
      answers('{{request.body.n |> integer}}'),
      { n: 'abc' },
      'request.body.n has a value that is not accepted here',
    ],
    [
      'an argument that is missing',
      answers('{{variables.ups |> get({{request.body.up}})}}'),
      {},
      'request.body.up is missing',
    ],
    [
      'a choice that a map of the document lacks',
      answers('{{variables.ups |> get({{request.headers.x-up}})}}'),
      {},
      'request.headers.x-up has a value that is not accepted here',
    ],
    [
      'a status code that the map lacks',
      answers('{{status_codes |> get({{request.body.c}})}}'),
      { c: 'z' },
      'request.body.c has a value that is not accepted here',
    ],
    [
      'a key that the document writes',
      answers('{{request.headers |> get(x-none)}}'),
      {},
      'request.headers.x-none is missing, or has a value that is not accepted here',
    ],
    [
      'a key that a variable holds',
      answers('{{request.headers |> get({{variables.key}})}}'),
      {},
      'request.headers is missing, or has a value that is not accepted here',
    ],
    [
      'one of two values',
      answers('{{request.body.a |> merge({{request.body.b}})}}'),
      { a: {}, b: 1 },
      'request.body.a or request.body.b has a value that is not accepted here',
    ],
    [
      'a text that is too large',
      answers('{{request.body.t}}{{request.body.t}}{{request.body.t}}'),
      { t: 'x'.repeat(3_000_000) },
      'request.body.t has a value that is not accepted here',
    ],
    [
      'a header with a line break',
      { action: { type: 'static', body: 'x', headers: { 'x-a': '{{request.body}}' } } },
      'a\nb',
      'request.body has a value that is not accepted here',
    ],
    [
      'a whole map of headers',
      { action: { type: 'static', body: 'x', headers: '{{request.body}}' } },
      { 'x-a': 'a\r\nb' },
      'request.body has a value that is not accepted here',
    ],
    [
      'a status',
      answers('x', { on_result: { status_code: '{{request.body.s}}' } }),
      { s: 99 },
      'request.body.s has a value that is not accepted here',
    ],
    [
      'an argument of a call',
      call({ args: ['{{request.body.a}}'] }),
      {},
      'request.body.a is missing',
    ],
    [
      'a time-out of a call',
      { ...call({}), timeout: '{{request.body.t}}' },
      { t: -1 },
      'request.body.t has a value that is not accepted here',
    ],
  ])('%s is 400, which names the member', async (_, operation, body, message) => {
    await using gateway = await serve(operation)
    const response = await ask(gateway, body)
    expect([response.status, response.json()]).toMatchObject([
      400,
      { code: 'svc.error.invalid_data', message },
    ])
    expect(response.text).not.toContain(SECRET)
    expect(response.text).not.toContain('{{')
    expect(gateway.refused).toEqual(['svc.error.invalid_data'])
  })

  it('is 400 for 32 MiB that a body is written to', async () => {
    const list = Array.from({ length: 12 }, () => '{{request.body}}')
    await using gateway = await serve(answers(list), { body_max_bytes: 5_000_000 })
    const response = await ask(gateway, 'x'.repeat(3_000_000))
    expect([response.status, response.json()]).toMatchObject([
      400,
      { message: 'request.body has a value that is not accepted here' },
    ])
  })

  it('is logged with the pointer of the expression, and recorded as its failure', async () => {
    await using gateway = await serve(answers({ a: ['{{request.body.n |> integer}}'] }))
    const { headers } = await ask(gateway, { n: 'abc' })
    const pointer = '/versions/v1/paths/~1x~1[:id]/post/action/body/a/0'
    const [failure] = gateway.failures
    expect([
      failure?.status,
      failure?.code,
      failure?.failure.reason,
      failure?.pointerOf?.(),
    ]).toEqual([400, 'svc.error.invalid_data', 'expression', pointer])
    const [decision = ''] = gateway.decisions.find(String(headers['x-request-id']))
    expect(JSON.parse(decision)).toMatchObject({ step: 'expression', pointer })
  })
})

describe('what the client does not choose', () => {
  const forward = (onResult: object, action: object = {}): object => ({
    action: { type: 'forward', host: 'http://a', ...action },
    response: { on_result: onResult },
  })
  it.each<[string, object]>([
    ['a member after the action', forward({ body: '{{request.body.sku}}' })],
    ['a header after the action', forward({ headers: { 'x-a': '{{request.body.sku}}' } })],
    ['a member of the result', forward({ body: '{{action.result.body.sku}}' })],
    ['a member of the caller', answers('{{security.authid}}')],
    [
      'a member of the caller beside one of the request',
      answers('{{variables.ups |> get({{security.authid}}, {{request.method}})}}'),
    ],
    ['a member that no request has', answers('{{request.nope}}')],
    ['a text that is read as a map', answers('{{request.method.name}}')],
  ])('%s is 500', async (_, operation) => {
    await using gateway = await serve(operation)
    const response = await ask(gateway, {})
    expect([response.status, response.json()]).toMatchObject([
      500,
      { code: 'svc.error.http_gateway.invalid_expression' },
    ])
  })
})
