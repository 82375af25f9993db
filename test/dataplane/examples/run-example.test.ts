// Tests that examples are run by the gateway's own steps, and that nothing of them leaves the process.

import { describe, expect, it } from '@jest/globals'
import { createExampleRunner } from '../../../dataplane/examples/run-example.ts'
import type { Example } from '../../../language/examples/example.ts'
import { listExamples } from '../../../language/examples/list-examples.ts'
import { apiOf, compiledApi } from '../../language/examples/an-api.ts'

const run = async (paths: object) => {
  const document = apiOf(paths, { host: 'a.test' })
  const compiled = compiledApi(document)
  const runExample = await createExampleRunner([compiled])
  const verdicts: string[][] = []
  for (const placed of listExamples(document, compiled).flatMap((each) => each.examples)) {
    const { mismatches, problems } = await runExample(placed)
    verdicts.push([
      ...mismatches.map(({ path, actual }) => `${path} ${JSON.stringify(actual)}`),
      ...problems.map(({ path, message }) => `${path} ${message}`),
    ])
  }
  return verdicts
}

const FORWARD = { type: 'forward', host: 'http://orders:8080', path: '/o/{{request.bindings.id}}' }
const CALL = { type: 'wamp_call', procedure: 'com.example.f', args: ['{{request.body}}'] }
const BASIC = { type: 'basic', groups: ['staff'] }
const id = { bindings: { id: 7 } }
const carol = { authid: 'carol', groups: ['staff'] }
const AWAY = { status_code: 503, headers: { 'retry-after': '3600' } }

/** Path, operation of PUT and example, none of which gives a mismatch. */
const RIGHT: readonly [string, object, Example][] = [
  [
    'the response of an upstream that passes through',
    { action: FORWARD },
    {
      request: { ...id, headers: { 'x-a': '1' }, body: { a: 1 } },
      given: { status_code: 201, headers: { 'x-b': 2 }, body: { ok: true } },
      expect: {
        status_code: 201,
        headers: { 'x-b': 2, 'content-type': 'application/json' },
        body: { ok: true },
        sent: {
          method: 'PUT',
          url: 'http://orders:8080/o/7',
          headers: { host: 'orders:8080', 'x-a': 1, 'x-forwarded-host': 'a.test' },
          body: { a: 1 },
        },
      },
    },
  ],
  [
    'a text of an upstream',
    { action: FORWARD },
    {
      request: id,
      given: { body: 'hi' },
      expect: { body: 'hi', headers: { 'content-type': false } },
    },
  ],
  [
    'a failed connection',
    { action: FORWARD },
    {
      request: id,
      given: { error: { error_uri: 'svc.error.timeout' } },
      expect: { status_code: 504, body: { code: 'svc.error.timeout' } },
    },
  ],
  [
    'each attempt of its own',
    { action: { ...FORWARD, retries: 2 } },
    {
      request: id,
      given: [
        { status_code: 503 },
        { error: { error_uri: 'svc.error.bad_gateway' } },
        { body: 'ok' },
      ],
      expect: { status_code: 200, body: 'ok', sent: [{}, {}, { method: 'PUT' }] },
    },
  ],
  [
    'every attempt alike',
    { action: { ...FORWARD, retries: 1 } },
    { request: id, given: { status_code: 503 }, expect: { status_code: 503, sent: [{}, {}] } },
  ],
  [
    'attempts between which hours pass, that nobody waits for',
    { action: { ...FORWARD, retries: 2, retry_timeout: 86_400_000 } },
    {
      request: id,
      given: [AWAY, AWAY, { body: 'ok' }],
      expect: { status_code: 200, body: 'ok' },
    },
  ],
  [
    'no attempt after the time for them',
    { action: { ...FORWARD, retries: 2, retry_timeout: 5_000_000 } },
    { request: id, given: [AWAY, AWAY], expect: { status_code: 503 } },
  ],
  [
    'a credential of the Realm, by its name',
    { action: { ...FORWARD, credential: 'orders' } },
    {
      request: id,
      given: { body: 'ok' },
      expect: { sent: { headers: { authorization: 'credential orders' } } },
    },
  ],
  [
    'the result of a procedure',
    { action: CALL, response: { on_result: { body: '{{action.result.kwargs}}' } } },
    {
      request: { ...id, body: { a: 1 } },
      given: { args: [1], kwargs: { b: 2 } },
      expect: {
        status_code: 200,
        body: { b: 2 },
        sent: { procedure: 'com.example.f', args: [{ a: 1 }], kwargs: {} },
      },
    },
  ],
  [
    'an error of a procedure',
    {
      action: CALL,
      response: {
        on_error: { status_code: 409, body: '{{action.error.args}}' },
      },
    },
    {
      request: { ...id, body: null },
      given: { error: { error_uri: 'com.example.error.taken', args: ['no'] } },
      expect: { status_code: 409, body: ['no'] },
    },
  ],
  [
    'a router that is away',
    { action: CALL },
    {
      request: { ...id, body: 1 },
      given: { error: { error_uri: 'wamp.error.net_failure' } },
      expect: { status_code: 502, body: { code: 'wamp.error.net_failure' } },
    },
  ],
  [
    'a publication',
    { action: { type: 'wamp_publish', topic: 'com.example.t', args: ['a'] } },
    { request: id, given: {}, expect: { sent: { topic: 'com.example.t', args: ['a'] } } },
  ],
  [
    'a fixed response',
    { action: { type: 'static', body: 'fixed' } },
    { request: id, expect: { status_code: 200, body: 'fixed', sent: false } },
  ],
  [
    'a response in MessagePack',
    { action: { type: 'static', body: { a: 1 } } },
    {
      request: { ...id, headers: { accept: 'application/msgpack' } },
      expect: { headers: { 'content-type': 'application/msgpack' }, body: { a: 1 } },
    },
  ],
]

describe('an example', () => {
  it.each(RIGHT)('gives %s', async (_name, operation, example) => {
    const paths = {
      '/a/:id': {
        provides: ['application/json', 'application/msgpack'],
        put: { ...operation, examples: { one: example } },
      },
    }
    expect(await run(paths)).toEqual([[]])
  })

  it.each<[string, Example]>([
    [
      'is admitted',
      { request: { ...id, as: carol }, given: { body: 'ok' }, expect: { status_code: 200 } },
    ],
    [
      'lacks a group',
      { request: { ...id, as: { authid: 'dave' } }, expect: { status_code: 403, sent: false } },
    ],
    [
      'is nobody',
      {
        request: id,
        expect: {
          status_code: 401,
          headers: { 'www-authenticate': 'Basic realm="com.example", charset="UTF-8"' },
          sent: false,
        },
      },
    ],
  ])('of a caller who %s is run by the security of its path', async (_name, example) => {
    const paths = {
      '/a/:id': { security: BASIC, get: { action: FORWARD, examples: { one: example } } },
    }
    expect(await run(paths)).toEqual([[]])
  })

  it.each(['basic', 'api_key', 'oauth2', 'oidc'])(
    'may be of a caller by %s among several',
    async (type) => {
      const security = [
        { type: 'basic' },
        { type: 'api_key', header_name: 'x-api-key' },
        { type: 'oauth2', flow: 'implicit' },
        { type: 'oidc', provider: 'default' },
      ]
      const get = {
        action: { type: 'static', body: '{{security}}' },
        examples: {
          one: {
            request: { as: { ...carol, type } },
            expect: { status_code: 200, body: { type, authid: 'carol' } },
          },
        },
      }
      expect(await run({ '/a': { security, get } })).toEqual([[]])
    },
  )

  it.each<[string, Example]>([
    ['10.1.2.3', { request: { address: '10.1.2.3' }, expect: { status_code: 200 } }],
    ['192.0.2.1', { request: { address: '192.0.2.1' }, expect: { status_code: 403 } }],
  ])('comes from %s', async (_address, example) => {
    const get = { action: { type: 'static', body: 'in' }, examples: { one: example } }
    expect(await run({ '/a': { security: { networks: ['10.0.0.0/8'] }, get } })).toEqual([[]])
  })

  it('of a topic gives the events, and ends with them', async () => {
    const get = {
      action: { type: 'wamp_subscribe', topic: 'com.example.t' },
      response: { on_result: { body: '{{action.result.args}}' } },
      examples: {
        one: {
          request: { headers: { accept: 'text/event-stream' } },
          given: [{ args: [1] }, { args: [2] }],
          expect: { status_code: 200, body: '', sent: { topic: 'com.example.t' } },
        },
      },
    }
    const [[mismatch = ''] = []] = await run({ '/a': { get } })
    expect(mismatch).toContain(JSON.stringify('data: [1]\n\n').slice(1, -1))
    expect(mismatch).toContain(JSON.stringify('data: [2]\n\n').slice(1, -1))
  })

  it('takes the path that it names, with its preflight', async () => {
    const get = {
      action: { type: 'static', body: 'a' },
      examples: {
        unknown: {
          request: { path: '/b' },
          expect: { status_code: 404, body: { code: 'svc.error.not_found' } },
        },
        preflight: {
          request: {
            method: 'OPTIONS',
            headers: { origin: 'https://a.test', 'access-control-request-method': 'GET' },
          },
          expect: {
            status_code: 204,
            headers: { 'access-control-allow-origin': 'https://a.test' },
          },
        },
        head: { request: { method: 'HEAD' }, expect: { status_code: 200, body: '' } },
      },
    }
    expect(await run({ '/a': { cors: { origins: ['https://a.test'] }, get } })).toEqual([
      [],
      [],
      [],
    ])
  })

  it.each<[string, Example, readonly string[]]>([
    [
      'whose response differs',
      { request: id, given: { body: { a: 2 } }, expect: { body: { a: 1 }, status_code: 201 } },
      ['/expect/status_code 200', '/expect/body/a 2'],
    ],
    [
      'that sends something and gives nothing',
      { request: id, expect: { status_code: 504 } },
      [
        expect.stringMatching(
          /^ something was sent, so say by 'given' what it yields: .*orders:8080/,
        ) as unknown as string,
      ],
    ],
    [
      'that gives fewer results than there are attempts',
      { request: id, given: [{ status_code: 503 }], expect: {} },
      ["/given 2 attempts were made, and 'given' has 1"],
    ],
    [
      'that gives more results than there are attempts',
      { request: id, given: [{ body: 'a' }, { body: 'b' }], expect: {} },
      ["/given 1 attempt was made, and 'given' has 2"],
    ],
    [
      'that lacks a binding',
      { expect: {} },
      ["/request name 'id' among its bindings, or the whole path"],
    ],
    [
      'that another operation serves',
      { request: { path: '/other' }, given: { body: 'a' }, expect: { status_code: 200 } },
      ['/request it is served by /versions/v1/paths/~1other/get of com.example.api'],
    ],
  ])('fails %s', async (_name, example, verdict) => {
    const action = { ...FORWARD, retries: 1 }
    const paths = {
      '/a/:id': { get: { action, examples: { one: example } } },
      '/other': { get: { action: { type: 'forward', host: 'http://other' } } },
    }
    expect(await run(paths)).toEqual([verdict])
  })

  it('leaves nothing behind for the next one', async () => {
    const get = {
      action: FORWARD,
      examples: {
        first: { request: id, given: [{ body: 'a' }, { body: 'b' }], expect: {} },
        second: {
          request: id,
          given: { body: 'c' },
          expect: { body: 'c', sent: { method: 'GET' } },
        },
      },
    }
    const [, second] = await run({ '/a/:id': { get } })
    expect(second).toEqual([])
  })
})
