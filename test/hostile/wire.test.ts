// Bytes that no decent client sends, most of them made by chance: each conversation ends, in responses that
// are whole and never a 500, and the gateway serves the next client as before.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { answers, api, load, post, REALM } from '../component/gateway-client.ts'
import { residentBytes } from '../component/resident-bytes.ts'
import { BrokenError } from '../support/byte-stream.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf, openRawClient, type RawClient } from '../support/raw-client.ts'

let gateway: GatewayProcess
const ECHO = '{{request.body}}'

beforeAll(async () => {
  gateway = await startGateway()
  await load(
    gateway,
    api('wire', {
      '/ok': answers('fine'),
      '/large': answers('x'.repeat(3_000_000)),
      '/all': answers('{{request}}'),
    }),
  )
  const echoes = { action: { type: 'static', body: ECHO }, response: {} }
  const paths = { '/body': { post: echoes, put: echoes, get: echoes } }
  const versions = { v1: { base_path: '/echo', paths } }
  await post(gateway, '/api_specs', { id: 'echo', host: '_', realm_uri: REALM, versions })
})

afterAll(() => gateway.stop(), 15_000)

const open = (): Promise<RawClient> => openRawClient(addressOf(gateway.public), 15_000)

const expectServing = async (): Promise<void> => {
  expect((await request(`${gateway.public}/wire/ok`)).text).toBe('"fine"')
  expect(gateway.logs().filter((line) => /uncaught|unhandled|unexpectedly/i.test(line))).toEqual([])
}

const get = (target: string, head = 'Host: a\r\n'): Buffer =>
  Buffer.from(`GET ${target} HTTP/1.1\r\n${head}\r\n`, 'latin1')

describe('a Host that is none', () => {
  it.each(['a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a\\b', 'a"b', '<a>', '\xe9', '{a}', 'a|b'])(
    '%j is no host, not even on an API for every host: 400',
    async (host) => {
      await using client = await open()
      client.send([get('/wire/ok', `Host: ${host}\r\n`)])
      const response = await client.response()
      expect(response.status).toBe(400)
      expect(JSON.parse(response.body.toString())).toMatchObject({ code: 'svc.error.invalid_data' })
    },
  )

  it.each(['', 'a', 'a_b', 'A.b.', '[::1]:80', 'a:1', '1.2.3.4', 'a'.repeat(300), '__proto__'])(
    '%j is one',
    async (host) => {
      await using client = await open()
      client.send([get('/wire/ok', `Host: ${host}\r\n`)])
      expect((await client.response()).status).toBe(200)
    },
  )
})

it('100 clients that never read a large response cost one copy of it', async () => {
  const before = await residentBytes(gateway.pid)
  const clients = await Promise.all(Array.from({ length: 100 }, open))
  for (const client of clients) client.send([get('/wire/large')])
  await Promise.all(clients.map((client) => client.stream.line()))
  expect((await residentBytes(gateway.pid)) - before).toBeLessThan(150_000_000)
  for (const client of clients) client.close()
  await expectServing()
})

/** Parts of requests, right and wrong. Whatever is joined of them must be answered or ended. */
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'X'),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ' /wire/ok',
      ' /wire/all?a=%',
      ' /echo/body',
      ' *',
      ' http://a/wire/ok',
      ' /wire/%00',
      ' /%c0%af',
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(' HTTP/1.1\r\n', ' HTTP/1.0\r\n', ' HTTP/2.0\r\n', '\r\n', ' \r\n'),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom('Host: a\r\n', 'Host:\r\n', 'Host: a\r\nHost: b\r\n', 'hOsT: [\r\n'),
  },
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      'Content-Type: application/json\r\n',
      'Content-Type: application/msgpack\r\n',
      'Content-Length: 2\r\n',
      'Content-Length: 0\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Transfer-Encoding: gzip, chunked\r\n',
      'Connection: close\r\n',
      'Connection: Upgrade\r\nUpgrade: websocket\r\n',
      'Expect: 100-continue\r\n',
      'Accept: */*;q=0\r\n',
      'Accept-Language: *;q=x\r\n',
      '__proto__: x\r\n',
    ),
  },
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      '\r\n',
      '42',
      '{}',
      '2\r\n42\r\n0\r\n\r\n',
      '0\r\n\r\n',
      'ffffffff\r\n',
      '\r\n\r\n',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
)

const wholeRequest = fc
  .tuple(
    fc.constantFrom(
      'GET /wire/ok',
      'GET /wire/all',
      'POST /echo/body',
      'PUT /echo/body',
      'GET /echo/body',
    ),
    fc.array(
      fc.constantFrom('Accept: */*', 'Connection: keep-alive', 'X: y', 'Expect: 100-continue'),
    ),
    fc.constantFrom('\r\n', 'Content-Length: 2\r\nContent-Type: application/json\r\n\r\n42'),
  )
  .map(
    ([line, headers, rest]) =>
      `${line} HTTP/1.1\r\nHost: a\r\n${headers.map((h) => `${h}\r\n`).join('')}${rest}`,
  )

/** Reads answers until there are no more; a broken one throws. */
const readAll = async (client: RawClient): Promise<readonly number[]> => {
  const statuses: number[] = []
  while (await client.more(60)) statuses.push((await client.response()).status)
  return statuses
}

it('any sequence of requests and parts of requests', async () => {
  const conversation = fc.array(fc.oneof(piece, piece, wholeRequest), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(conversation, async (parts) => {
      await using client = await open()
      client.send([Buffer.from(parts.join(''), 'latin1')])
      // HEAD and CONNECT make the length of what follows a guess: then only the end is looked at.
      const isReadable = !parts.some((part) => /HEAD|CONNECT/.test(part))
      const statuses = await readAll(client).catch((error: unknown) => {
        if (
          isReadable &&
          !(error instanceof BrokenError && error.message.includes('connection closed'))
        )
          throw error
        return []
      })
      expect(statuses.filter((status) => status >= 500)).toEqual([])
    }),
    { numRuns: 60 },
  )
  await expectServing()
})

it('any body, whatever it says it is', async () => {
  const types = ['application/json', 'application/msgpack', 'application/x-www-form-urlencoded', '']
  const marks = fc.constantFrom(
    '81',
    '91',
    'dd',
    'df',
    'ffffffff',
    'c7',
    'd4',
    'db',
    '7b22',
    '5b',
    '5d',
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .array(marks, { maxLength: 60 })
      .map((list) => Uint8Array.from(Buffer.from(list.join(''), 'hex'))),
    fc.json().map((text) => Uint8Array.from(Buffer.from(text))),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...types), bytes, async (type, body) => {
      const headers = type === '' ? {} : { 'content-type': type }
      const response = await request(`${gateway.public}/echo/body`, {
        method: 'POST',
        headers,
        body,
      })
      expect([200, 204, 400, 415]).toContain(response.status)
    }),
    { numRuns: 150 },
  )
  await expectServing()
})

it('clients that leave at any byte', async () => {
  const text =
    'POST /echo/body HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n42'
  const leaveAt = async (end: number): Promise<void> => {
    const client = await open()
    client.send([Buffer.from(text.slice(0, end))])
    await client.more(1)
    client.close()
  }
  await Promise.all(Array.from({ length: text.length / 3 + 1 }, (_, third) => leaveAt(third * 3)))
  await expectServing()
  expect((await request(`${gateway.public}/wire/all`)).status).toBe(200)
})
