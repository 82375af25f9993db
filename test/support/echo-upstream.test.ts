// The upstream that every forward test leans on: what it echoes, and how it fails on demand.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { BrokenError } from './byte-stream.ts'
import { bigBytes, GZIPPED } from './echo-behaviours.ts'
import { startEchoUpstream, type EchoUpstream } from './echo-upstream.ts'
import { addressOf, headerValues, openRawClient, type RawResponse } from './raw-client.ts'

let upstream: EchoUpstream

beforeAll(async () => {
  upstream = await startEchoUpstream()
})

afterAll(() => upstream.close())

const ask = async (head: string, body = ''): Promise<RawResponse> => {
  await using client = await openRawClient(addressOf(upstream.origin), 15_000)
  client.send([Buffer.from(`${head}\r\nHost: up\r\n\r\n${body}`)])
  return await client.response(head.startsWith('HEAD'))
}

const get = (path: string): Promise<RawResponse> => ask(`GET ${path} HTTP/1.1`)

const jsonOf = ({ body }: RawResponse): unknown => JSON.parse(body.toString())

describe('an echo', () => {
  it('tells method, path, query, headers and body as they came', async () => {
    const response = await ask(
      'PUT /a%2Fb/c?x=1?y HTTP/1.1\r\nX-One: 1\r\nx-one:2\r\nContent-Length: 3',
      'abc',
    )
    expect(jsonOf(response)).toEqual({
      method: 'PUT',
      path: '/a%2Fb/c',
      query: 'x=1?y',
      headers: [
        ['x-one', '1'],
        ['x-one', '2'],
        ['content-length', '3'],
        ['host', 'up'],
      ],
      header: { 'x-one': ['1', '2'], 'content-length': ['3'], host: ['up'] },
      body_length: 3,
      body_sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      body: 'abc',
    })
  })

  it('shows a chunked body, as hex where it is no text', async () => {
    const head = 'POST /hex HTTP/1.1\r\nTransfer-Encoding: chunked'
    const response = await ask(head, '3;x=1\r\nab\r\r\n1\r\nc\r\n0\r\nx-t: 1\r\n\r\n')
    expect(jsonOf(response)).toMatchObject({ body: 'ab\rc' })
    // Only the first of the two bytes of é.
    const half = await ask('POST /hex HTTP/1.1\r\nContent-Length: 1', 'é')
    expect(jsonOf(half)).toMatchObject({ body_hex: 'c3' })
  })

  it.each(['/constructor', '/__proto__/x', '/'])('%s is no behaviour', async (path) => {
    expect(jsonOf(await get(path))).toMatchObject({ path })
  })

  it('is remembered by path', async () => {
    await get('/seen/1')
    await get('/seen/2')
    await get('/seen/1')
    expect(upstream.seen((path) => path === '/seen/1')).toHaveLength(2)
    expect(upstream.seen((path) => path.startsWith('/seen/')).map(({ path }) => path)).toEqual([
      '/seen/1',
      '/seen/1',
      '/seen/2',
    ])
  })
})

describe('on demand', () => {
  it.each([
    ['/status/503/x', 503, { status: 503, attempt: 1 }],
    ['/delay/20', 200, { path: '/delay/20' }],
    ['/chunked', 200, { path: '/chunked' }],
    ['/json?%7B%22a%22%3A1%7D', 200, { a: 1 }],
    ['/redirect/302?/x', 302, { moved: true }],
    ['/dup-headers', 200, { ok: true }],
  ])('%s', async (path, status, json) => {
    const response = await get(path)
    expect(response.status).toBe(status)
    expect(jsonOf(response)).toMatchObject(json)
  })

  it.each<[string, Buffer]>([
    ['/bytes/70000', bigBytes(70000)],
    ['/gzip', GZIPPED],
    ['/text', Buffer.from('plain text, not JSON: {"a":')],
    ['/slow-body/3/1', Buffer.from('part0part1part2')],
    ['/no-content', Buffer.alloc(0)],
  ])('%s', async (path, body) => {
    expect((await get(path)).body.equals(body)).toBe(true)
  })

  it('repeated headers stay apart', async () => {
    expect(headerValues(await get('/set-cookie'), 'Set-Cookie')).toEqual([
      'a=1; Path=/',
      'b=2; HttpOnly',
    ])
  })

  it('HEAD has no body', async () => {
    const response = await ask('HEAD /x HTTP/1.1')
    expect(response.body).toHaveLength(0)
    expect(Number(headerValues(response, 'content-length')[0])).toBeGreaterThan(0)
  })

  it('/flaky fails so often, then echoes', async () => {
    const statuses = []
    for (let i = 0; i < 3; i += 1) statuses.push((await get('/flaky/2/503')).status)
    expect(statuses).toEqual([503, 503, 200])
  })

  it.each([
    '/reset',
    '/flaky/1/reset',
    '/close/before',
    '/close/after-headers',
    '/malformed/status-line',
    '/malformed/header',
    '/malformed/two-lengths',
    '/malformed/chunk',
  ])('%s is broken', async (path) => {
    await expect(get(path)).rejects.toThrow(BrokenError)
  })

  it('closing ends what hangs', async () => {
    const other = await startEchoUpstream()
    await using client = await openRawClient(addressOf(other.origin), 15_000)
    client.send([Buffer.from('GET /hang HTTP/1.1\r\n\r\n')])
    expect(await client.more(50)).toBe(false)
    expect(other.connections()).toBe(1)
    await other.close()
    expect(await client.more()).toBe(false)
  })
})
