// Whole case files against a server that only pretends to be a gateway: what the runner says of right
// and wrong responses.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startEchoUpstream, type EchoUpstream } from '../../support/echo-upstream.ts'
import { parseCaseFile, type Step } from './case-file.ts'
import { runFile, type Bench } from './run-file.ts'

const calls: string[] = []

const record = { code: 'svc.error.not_found', message: 'm', description: 'd' }

type Pretence = (request: IncomingMessage, response: ServerResponse) => void

const accept: Pretence = (_, response) => response.writeHead(204).end()

const refuse: Pretence = (_, response) => response.writeHead(404).end()

/** By the first segment of the path: `/status/N`, `/json?TEXT`, no response, a cut one, and loads; 404 for others. */
const PRETENCES = new Map<string, Pretence>([
  ['realms', accept],
  ['api_specs', accept],
  ['hang', () => undefined],
  ['cut', (request) => request.socket.destroy()],
  [
    'json',
    (request, response) => {
      const text = decodeURIComponent(request.url?.split('?')[1] ?? '')
      response.setHeader('content-type', 'application/json').end(text)
    },
  ],
  [
    'status',
    (request, response) => {
      response.writeHead(Number(request.url?.split('/')[2]), { allow: 'GET, HEAD' })
      response.end(JSON.stringify(record))
    },
  ],
])

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const [path = ''] = request.url?.split('?') ?? []
    calls.push(`${request.method ?? ''} ${path}`)
    const pretence = PRETENCES.get(path.split('/')[1] ?? '') ?? refuse
    pretence(request, response)
  })
})
let upstreams: readonly [EchoUpstream, EchoUpstream]
let bench: Bench

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  upstreams = await Promise.all([startEchoUpstream(), startEchoUpstream()])
  bench = {
    public: address,
    management: address,
    upstreams,
    refused: '127.0.0.1:1',
  }
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  for (const upstream of upstreams) await upstream.close()
})

const run = async (...steps: Step[]): Promise<string[]> => {
  const file = parseCaseFile('pretended.json', JSON.stringify({ steps }))
  return [...(await runFile(file, bench)).values()].flat()
}

const get = (path: string, expect: Step['expect'] = { status: 200 }): Step => ({
  request: { path },
  expect,
})

describe('a step that is right', () => {
  it.each<[string, Step]>([
    ['a status', get('/status/204', { status: [200, 204] })],
    ['a pattern of a status', get('/status/404', { status: ['^[45]'] })],
    ['an error record', get('/status/404', { status: 404, error: 'svc.error.not_found' })],
    [
      'a comma list',
      get('/status/404', { headers: { allow: { has: ['get'], has_not: ['PUT'] } } }),
    ],
    ['any of several', get('/status/404', { any_of: [{ status: 200 }, { status: 404 }] })],
    ['a load', { load: { document: { id: '@ID@.x' } } }],
    ['an unload', { unload: '@ID@.x' }],
    ['a realm', { realm: { uri: '@REALM@.x' } }],
    [
      'two raw requests',
      {
        raw: 'GET /status/204 HTTP/1.1\r\nHost: x\r\n\r\nGET /json?1 HTTP/1.1\r\nHost: x\r\n\r\n',
        expect: { statuses: [204, 200], answers: 2 },
      },
    ],
    [
      'a raw request behind which nothing is answered',
      {
        raw: 'GET /json?1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /json?1 HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n',
        expect: { statuses: [200] },
      },
    ],
    [
      'a raw request whose connection closes',
      { raw: 'GET /json?1 HTTP/1.0\r\n\r\n', expect: { statuses: [200], json: 1, closed: true } },
    ],
    ['hanging up', { raw: 'GET /hang HTTP/1.1\r\nHost: x\r\n\r\n', hang_up_ms: 20 }],
    ['a broken response that may break', { request: { path: '/cut' }, expect: { broken: true } }],
    [
      'side by side, again and again',
      { together: [{ ...get('/json?1'), repeat: 3 }, { wait_ms: 1 }] },
    ],
    [
      'no requests upstream',
      get('/json?1', {
        upstream: [
          { path: '/a', count: 0 },
          { path_match: 'a', on: 2, count: 0 },
        ],
      }),
    ],
  ])('%s', async (_, step) => {
    expect(await run(step)).toEqual([])
  })

  it('a saved value is there in later steps', async () => {
    const save = {
      ...get('/json?{"t":"abc"}'),
      save: { tok: '/t', kind: 'header:content-type /(.*)$' },
    }
    const use = get('/json?["@$tok@","@$kind@"]', { json: ['abc', 'json'] })
    expect(await run(save, use)).toEqual([])
  })
})

describe('a step that is wrong', () => {
  it.each<[string, Step, RegExp]>([
    ['a status', get('/status/404'), /^status: expected 200, got 404 \[404 \{"code"/],
    [
      'a pattern of a status',
      get('/status/204', { status: '^[45]' }),
      /^status: expected \^\[45\], got 204/,
    ],
    [
      'an error code',
      get('/status/404', { error: 'x' }),
      /^error code: expected x, got svc.error.not_found/,
    ],
    [
      'a header',
      get('/status/404', { headers: { 'x-no': 'a' } }),
      /^header x-no: missing, expected a/,
    ],
    [
      'a header too many',
      get('/status/404', { headers: { allow: null } }),
      /^header allow: expected none, got/,
    ],
    [
      'a comma list',
      get('/status/404', { headers: { allow: { has: ['PUT'], has_not: ['GET'] } } }),
      /PUT is missing in/,
    ],
    ['a body', get('/json?{"a":1}', { json: { a: 2 } }), /^body\/a: expected 2, got 1/],
    ['no JSON', get('/json?{', { json: 1 }), /^body: not JSON/],
    [
      'a text that must not occur',
      get('/json?abc', { not_text: 'b' }),
      /^body: must not match \/b\/, got abc/,
    ],
    ['a body where none may be', get('/json?1', { empty: true }), /^body: expected none, got 1/],
    [
      'too many bytes',
      get('/json?123', { max_bytes: 2 }),
      /^body: expected at most 2 bytes, got 3/,
    ],
    [
      'other bytes',
      get('/json?123', { big_bytes: 3 }),
      /^body: expected the 3 bytes of the upstream/,
    ],
    [
      'none of several',
      get('/status/404', { any_of: [{ status: 200, json: 1 }, { status: 201 }] }),
      /^status: expected 201/,
    ],
    ['too fast', get('/json?1', { at_least_ms: 5000 }), /^time: expected at least 5000 ms, took/],
    [
      'nothing upstream',
      get('/json?1', { upstream: [{ path: '/a', count: 1, last: {} }] }),
      /expected 1 requests for \/a, saw 0$/,
    ],
    [
      'a rejection that is none',
      { load: { document: {} }, rejects: [['/id', 'x']] },
      /^status: expected 400, got 204/,
    ],
    [
      'no response',
      { request: { path: '/hang' }, expect: { status: 200 }, timeout_s: 0.05 },
      /^no response: no complete response in time/,
    ],
    ['a broken response', get('/cut'), /^broken: connection closed after/],
    [
      'left open',
      { raw: 'GET /json?1 HTTP/1.1\r\nHost: x\r\n\r\n', expect: { closed: true } },
      /left open$/,
    ],
    [
      'another response',
      { raw: 'GET /json?1 HTTP/1.1\r\nHost: x\r\n\r\n', expect: { statuses: [404] } },
      /^statuses: expected \[404\], got \[200\]/,
    ],
    [
      'a response too many',
      {
        raw: 'GET /json?1 HTTP/1.1\r\nHost: x\r\n\r\nGET /status/404 HTTP/1.1\r\nHost: x\r\n\r\n',
        expect: { statuses: [200] },
      },
      /^statuses: expected \[200\], got \[200, 404\]/,
    ],
    [
      'a sub-step',
      { ...get('/json?1'), then: [{ name: 'sub', ...get('/status/500') }] },
      /^then sub: status: expected 200/,
    ],
    ['nothing to save', { ...get('/json?{}'), save: { a: '/b' } }, /^nothing to save as a at \/b/],
    [
      'an unknown placeholder',
      get('/@NOBODY@'),
      /^the case is wrong: .*unknown placeholder @NOBODY@/,
    ],
    ['no expectation', { request: { path: '/json?1' } }, /needs `expect`/],
  ])('%s', async (_, step, fault) => {
    expect((await run(step))[0]).toMatch(fault)
  })

  it('sub-steps wait until the step is right', async () => {
    calls.length = 0
    await run({ ...get('/status/500'), then: [get('/json?1')] })
    expect(calls).not.toContain('GET /json')
  })
})

it('three silent steps in a row, and the rest is not waited for', async () => {
  const silent: Step = { ...get('/hang'), timeout_s: 0.05 }
  const faults = await run(silent, silent, silent, get('/json?1'))
  expect(faults[3]).toBe('not run: the gateway left 3 steps in a row without a response')
})

it('creates the realm first, and deletes what was loaded in the end', async () => {
  calls.length = 0
  await run({ load: { document: { id: 'a/b' } } })
  expect(calls).toEqual([
    'POST /realms',
    'POST /api_specs',
    'DELETE /api_specs/a%2Fb',
    'DELETE /realms/com.conformance.pretended',
  ])
})

it('a set-up that fails is the fault of every step', async () => {
  const file = parseCaseFile('x.json', '{"steps": [{"wait_ms": 1}, {"wait_ms": 2}]}')
  const results = await runFile(file, { ...bench, management: { host: '127.0.0.1', port: 1 } })
  expect([...results.values()].flat()).toEqual([
    expect.stringMatching(/^not run: a realm of this file did not load: broken: cannot connect/),
    expect.stringMatching(/^not run: /),
  ])
})
