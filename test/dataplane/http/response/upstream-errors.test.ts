// What a client gets of an upstream's response of 400 or more: all of it without an `on_error`, and with one what belongs
// to the status.

import { describe, expect, it } from '@jest/globals'
import { buffer } from 'node:stream/consumers'
import { openRequest } from '../../../support/http-request.ts'
import { headerValues } from '../../../support/raw-client.ts'
import { serveUpstream, type ServedParts } from './forward-server.ts'

const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'

const errorOf = (status: number, ...fields: readonly string[]): string =>
  [`HTTP/1.1 ${status} X`, ...fields, 'content-length: 6', '', '{"e":1'].join('\r\n')

describe('without on_error', () => {
  it.each<[number, string, string]>([
    [400, 'content-type', 'application/problem+json'],
    [401, 'www-authenticate', 'Bearer resource_metadata="https://a/b"'],
    [403, 'set-cookie', 'a=1; Path=/'],
    [404, 'link', '<https://a/>; rel="help"'],
    [405, 'allow', 'GET, HEAD'],
    [410, 'content-encoding', 'gzip'],
    [416, 'content-range', 'bytes */47'],
    [422, 'x-up', 'of the upstream'],
    [429, 'retry-after', '7'],
    [500, 'etag', '"e"'],
    [502, 'x-cache', 'miss'],
    [503, 'retry-after', 'Sat, 28 Nov 2026 18:00:00 GMT'],
    [599, 'ratelimit', '"a";r=0'],
  ])('%d comes as it is, with its %s', async (status, name, value) => {
    const { gateway } = await serveUpstream(errorOf(status, `${name}: ${value}`))
    await using client = await gateway.raw(GET)
    const response = await client.response()
    expect([response.status, response.body.toString()]).toEqual([status, '{"e":1'])
    expect(headerValues(response, name)).toEqual([value])
    const seen = { status, code: `svc.error.upstream.${status}`, bytes: 6 }
    expect(gateway.statuses).toEqual([status])
    expect(gateway.log).toMatchObject([
      { ...seen, reason: expect.stringMatching(/^(upstream_)?status/) },
    ])
  })

  it('also where the document reads the body of a success, and whatever its on_result has', async () => {
    const on_result = {
      status_code: 201,
      headers: { 'x-own': '1' },
      body: { got: '{{action.result.body.a}}' },
    }
    const { gateway } = await serveUpstream(errorOf(422, 'x-up: up'), { response: { on_result } })
    const response = await gateway.ask('GET', '/x')
    expect([response.status, response.text]).toEqual([422, '{"e":1'])
    expect(response.headers).toMatchObject({ 'x-up': 'up' })
    expect(response.headers).not.toHaveProperty('x-own')
  })

  it('streams', async () => {
    const { gateway, sockets } = await serveUpstream(
      'HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const incoming = await openRequest(`${gateway.url}/x`)
    expect(incoming.statusCode).toBe(500)
    sockets[0]?.write('2\r\nok\r\n0\r\n\r\n')
    expect((await buffer(incoming)).toString()).toBe('ok')
  })

  it('to HEAD the head alone', async () => {
    const { gateway } = await serveUpstream(errorOf(401, 'www-authenticate: Basic'))
    await using client = await gateway.raw(GET.replace('GET', 'HEAD'))
    const response = await client.response(true)
    expect([response.status, headerValues(response, 'www-authenticate')]).toEqual([401, ['Basic']])
  })

  it('a status that the document maps is mapped, the rest is as it came', async () => {
    const api = { status_codes: { 'svc.error.upstream.404': 410 } }
    const { gateway } = await serveUpstream(errorOf(404, 'x-up: up'), { api })
    const response = await gateway.ask('GET', '/x')
    expect([response.status, response.text, response.headers['x-up']]).toEqual([
      410,
      '{"e":1',
      'up',
    ])
    expect(gateway.log).toMatchObject([{ status: 410, code: 'svc.error.upstream.404' }])
  })

  it('headers of the operation lie over it; what they say of a result is left out', async () => {
    const api = {
      defaults: {
        headers: {
          'x-up': 'ours',
          'x-id': '{{request.id}}',
          'x-of': '{{action.result.headers.x-up}}',
        },
      },
    }
    const { gateway } = await serveUpstream(errorOf(404, 'x-up: up', 'x-other: other'), { api })
    const { headers } = await gateway.ask('GET', '/x')
    expect(headers).toMatchObject({ 'x-up': 'ours', 'x-id': 'id-1', 'x-other': 'other' })
    expect(headers).not.toHaveProperty('x-of')
  })

  it('cookies of the gateway, and what Connection names, stay out', async () => {
    const { gateway } = await serveUpstream(
      errorOf(
        401,
        'set-cookie: svc_ticket_a=1',
        'set-cookie: b=2',
        'connection: x-hop',
        'x-hop: 1',
      ),
    )
    const { headers } = await gateway.ask('GET', '/x')
    expect(headers['set-cookie']).toEqual(['b=2'])
    expect(headers).not.toHaveProperty('x-hop')
  })

  it.each<[string, string, ServedParts]>([
    ['a 407', errorOf(407, 'proxy-authenticate: Basic'), {}],
    ['a 407 with on_error', errorOf(407), { response: { on_error: { body: '{{action.error}}' } } }],
    ['nonsense', 'hello\r\n\r\n', {}],
  ])('%s is bad_gateway', async (_, head, parts) => {
    const { gateway } = await serveUpstream(head, parts)
    const response = await gateway.ask('GET', '/x')
    expect(response.status).toBe(504)
    expect(response.text).toContain('svc.error.bad_gateway')
    expect(response.headers).not.toHaveProperty('proxy-authenticate')
  })
})

describe('with an on_error without headers', () => {
  const BELONGING = [
    [401, 'www-authenticate', 'Basic, Bearer'],
    [405, 'allow', 'GET'],
    [416, 'content-range', 'bytes */47'],
    [429, 'retry-after', '7'],
    [503, 'retry-after', '7'],
  ] as const

  it.each(BELONGING)('%d keeps its %s, and nothing else', async (status, name, value) => {
    const response = { on_error: { body: 'own' } }
    const { gateway } = await serveUpstream(errorOf(status, `${name}: ${value}`, 'x-up: up'), {
      response,
    })
    const { headers, text } = await gateway.ask('GET', '/x')
    expect([headers[name], headers['x-up'], text]).toEqual([value, undefined, '"own"'])
  })

  it('a field beyond ASCII comes as the bytes that it had', async () => {
    const value = Buffer.from('Basic realm="Zo\u00eb \u010d\u010a"').toString('latin1')
    const { gateway } = await serveUpstream(errorOf(401, `www-authenticate: ${value}`), {
      response: { on_error: { body: 'own' } },
    })
    await using client = await gateway.raw(GET)
    expect(headerValues(await client.response(), 'www-authenticate')).toEqual([value])
  })

  it('a 302 of its own keeps Retry-After', async () => {
    const response = { on_error: { status_code: 302, body: 'own' } }
    const { gateway } = await serveUpstream(errorOf(503, 'retry-after: 7'), { response })
    expect((await gateway.ask('GET', '/x')).headers['retry-after']).toBe('7')
  })

  it.each(BELONGING)('another status than %d has no %s', async (status, name, value) => {
    const response = { on_error: { status_code: 400, body: 'own' } }
    const { gateway } = await serveUpstream(errorOf(status, `${name}: ${value}`), { response })
    expect((await gateway.ask('GET', '/x')).headers).not.toHaveProperty(name)
  })

  it('the field of the path stays', async () => {
    const parts = {
      response: { on_error: { body: 'own' } },
      api: { defaults: { headers: { allow: 'POST' } } },
    }
    const { gateway } = await serveUpstream(errorOf(405, 'allow: GET'), parts)
    expect((await gateway.ask('GET', '/x')).headers.allow).toBe('POST')
  })

  it('headers of its own are all there is', async () => {
    const response = { on_error: { headers: { 'x-own': '1' }, body: 'own' } }
    const { gateway } = await serveUpstream(errorOf(401, 'www-authenticate: Basic'), { response })
    const { headers } = await gateway.ask('GET', '/x')
    expect([headers['x-own'], headers['www-authenticate']]).toEqual(['1', undefined])
  })

  it('an empty one stands for the error record', async () => {
    const { gateway } = await serveUpstream(errorOf(401, 'www-authenticate: Basic', 'x-up: up'), {
      response: { on_error: {} },
    })
    const response = await gateway.ask('GET', '/x')
    expect([response.status, response.json()]).toMatchObject([
      401,
      { code: 'svc.error.upstream.401' },
    ])
    expect(response.headers).toMatchObject({ 'www-authenticate': 'Basic' })
    expect(response.headers).not.toHaveProperty('x-up')
  })
})
