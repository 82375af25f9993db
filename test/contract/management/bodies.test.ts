import { describe, expect, it } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import { Limiter } from '../../../base/limiter.ts'
import { bearerAuthorizer } from '../../../dataplane/management/credentials.ts'
import { makeDocument } from '../../dataplane/store/rig.ts'
import { eventually } from '../../support/eventually.ts'
import { addressOf, openRawClient, type RawResponse } from '../../support/raw-client.ts'
import { isErrorRecord, startGateway } from './gateway.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const POST_HEAD = 'POST /api_specs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
const INVALID = 'wamp.error.invalid_argument'
const NO_JSON = 'svc.error.invalid_data'

describe('bodies', () => {
  it.each([
    ['nothing', '', 400, INVALID],
    ['blanks', ' \n', 400, INVALID],
    ['words', 'this is no JSON', 400, NO_JSON],
    ['an unclosed map', '{"id": "x"', 400, NO_JSON],
    ['an unclosed list', '[{"id": "x"}', 400, NO_JSON],
    ['a list with a broken document', '[{"id": "x"}, {"id": x}]', 400, NO_JSON],
    ['a number', '42', 400, INVALID],
    ['a text', '"text"', 400, INVALID],
    ['null', 'null', 400, INVALID],
    ['a nesting bomb', '['.repeat(100_000), 400, INVALID],
    ['nested maps', `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`, 400, INVALID],
    [
      'bytes that are no UTF-8',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      400,
      NO_JSON,
    ],
    ['__proto__', '{"__proto__": {"id": "x"}}', 400, INVALID],
  ])('%s: %s', async (_name, body, status, code) => {
    await using gateway = await startGateway()
    const response = await gateway.send('POST', '/api_specs', { body, headers: JSON_TYPE })
    expect([response.status, response.record.code, isErrorRecord(response)]).toEqual([
      status,
      code,
      true,
    ])
    expect(response.text.length).toBeLessThan(10_000)
    expect(gateway.served()).toEqual([])
  })

  it('says what an empty body lacks', async () => {
    await using gateway = await startGateway()
    const { record } = await gateway.send('POST', '/api_specs', { body: '', headers: JSON_TYPE })
    expect(record.message).toBe('Invalid number of positional arguments')
  })

  it('pollutes nothing by __proto__ and constructor', async () => {
    await using gateway = await startGateway()
    const text = JSON.stringify({
      ...makeDocument('a'),
      variables: { constructor: { prototype: { polluted: 1 } } },
    })
    const body = text.replace('{', '{"__proto__":{"polluted":1},')
    await gateway.send('POST', '/api_specs', { body, headers: JSON_TYPE })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect((await gateway.send('GET', '/api_specs/a')).text).toContain('"__proto__":{"polluted":1}')
  })

  it('bounds the faults of a response', async () => {
    await using gateway = await startGateway()
    const paths = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`/p${n}`, 7]))
    const json = { ...makeDocument('a'), versions: { v1: { base_path: '/v1', paths } } }
    const { record } = await gateway.send('POST', '/api_specs', { json })
    expect(record.errors?.length).toBe(200)
    expect(record.description).toMatch(/more problems are not listed/)
  })

  it('bounds the texts of a response', async () => {
    await using gateway = await startGateway()
    const json = { ...makeDocument('a'), versions: { ['v'.repeat(100_000)]: 7 } }
    const response = await gateway.send('POST', '/api_specs', { json })
    expect([response.status, response.text.length < 10_000]).toEqual([400, true])
  })
})

describe('content types', () => {
  const body = JSON.stringify(makeDocument('a'))

  it.each([
    ['application/json', 204],
    ['application/json; charset=utf-8', 204],
    ['APPLICATION/JSON', 204],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/msgpack', 415],
  ])('%s: %d', async (type, status) => {
    await using gateway = await startGateway()
    const response = await gateway.send('POST', '/api_specs', {
      body,
      headers: { 'content-type': type },
    })
    expect(response.status).toBe(status)
  })

  it('may not be left out: a web page can send a body without', async () => {
    await using gateway = await startGateway()
    expect((await gateway.send('POST', '/api_specs', { body: Buffer.from(body) })).status).toBe(415)
  })

  it.each([
    ['gzip', gzipSync(body), 204],
    ['identity', Buffer.from(body), 204],
    ['br', Buffer.from(body), 415],
    ['gzip, gzip', gzipSync(body), 415],
    ['gzip', Buffer.from(body), 400],
    ['gzip', gzipSync(body).subarray(0, 60), 400],
  ])('encoded as %s', async (encoding, bytes, status) => {
    await using gateway = await startGateway()
    const headers = { ...JSON_TYPE, 'content-encoding': encoding }
    const response = await gateway.send('POST', '/api_specs', { body: bytes, headers })
    expect(response.status).toBe(status)
  })
})

describe('sizes', () => {
  const MIB = 1024 * 1024
  const filled = (bytes: number): string =>
    JSON.stringify({ ...makeDocument('a'), meta: { f: 'x'.repeat(bytes) } })

  it.each([
    ['a document within 4 MiB', filled(4 * MIB - 1000), {}, 204],
    ['a document over 4 MiB', filled(5 * MIB), {}, 413],
    [
      'a document over 4 MiB, chunked and zipped',
      gzipSync(filled(5 * MIB)),
      { 'content-encoding': 'gzip' },
      413,
    ],
    ['a zip bomb', gzipSync(Buffer.alloc(80 * MIB, '[')), { 'content-encoding': 'gzip' }, 400],
    [
      'a zip bomb of blanks',
      gzipSync(Buffer.alloc(80 * MIB, ' ')),
      { 'content-encoding': 'gzip' },
      413,
    ],
    ['a list over 4 MiB', `[${filled(3 * MIB)},${filled(3 * MIB)}]`, {}, 200],
  ])('%s', async (_name, body, headers, status) => {
    await using gateway = await startGateway()
    const response = await gateway.send('POST', '/api_specs', {
      body,
      headers: { ...JSON_TYPE, ...headers },
    })
    expect(response.status).toBe(status)
  })

  it('refuses a length over 64 MiB unread', async () => {
    await using gateway = await startGateway({
      app: { times: { idleMs: 500, totalMs: 500, lingerMs: 10 } },
    })
    await using client = await openRawClient(addressOf(gateway.url), 15_000)
    client.send([Buffer.from(`${POST_HEAD}Content-Length: ${65 * MIB}\r\n\r\n[`)])
    const response: RawResponse = await client.response()
    expect(response.status).toBe(413)
  })

  it('refuses what goes over the memory for all bodies, and recovers', async () => {
    await using gateway = await startGateway({ app: { bodyBudget: new Limiter(10_000) } })
    const response = await gateway.send('POST', '/api_specs', {
      body: filled(20_000),
      headers: JSON_TYPE,
    })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    for (let n = 0; n < 3; n++)
      expect(
        (await gateway.send('POST', '/api_specs', { body: filled(5000), headers: JSON_TYPE }))
          .status,
      ).toBe(204)
  })
})

describe('slow and broken senders', () => {
  const times = { idleMs: 30, totalMs: 5000, lingerMs: 10 }
  const head = `${POST_HEAD}Content-Length: 100\r\n\r\n`

  it.each([
    ['pauses too long', times],
    ['takes too long', { ...times, idleMs: 5000, totalMs: 30 }],
  ])('one that %s gets 408 and is let go', async (_name, slow) => {
    await using gateway = await startGateway({ app: { times: slow } })
    await using client = await openRawClient(addressOf(gateway.url), 15_000)
    client.send([Buffer.from(`${head}{"id":`)])
    const { status, headers } = await client.response()
    expect([status, headers.find(([name]) => name.toLowerCase() === 'connection')?.[1]]).toEqual([
      408,
      'close',
    ])
  })

  it('one that goes away leaves nothing behind', async () => {
    const bodyBudget = new Limiter(1000)
    await using gateway = await startGateway({ app: { bodyBudget } })
    for (let n = 0; n < 5; n++) {
      const client = await openRawClient(addressOf(gateway.url), 15_000)
      client.send([Buffer.from(`${POST_HEAD}Content-Length: 900\r\n\r\n{${' '.repeat(800)}`)])
      await eventually(() => {
        expect(bodyBudget.used).toBe(801)
      })
      await client[Symbol.asyncDispose]()
      await eventually(() => {
        expect(bodyBudget.used).toBe(0)
      })
    }
    expect((await gateway.send('POST', '/api_specs', { json: makeDocument('a') })).status).toBe(204)
  })
})

describe('credentials', () => {
  const authorize = bearerAuthorizer(() => ['token-1'])

  it.each(['/api_specs', '/api_specs/a', '/realms', '/ping', '/ready', '/metrics', '/nothing'])(
    'GET %s without any is 401',
    async (path) => {
      await using gateway = await startGateway({ app: { authorize } })
      const response = await gateway.send('GET', path)
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer realm="management"',
      ])
      expect([isErrorRecord(response), response.record.code]).toEqual([
        true,
        'svc.error.unauthorized',
      ])
      const allowed = await gateway.send('GET', path, {
        headers: { authorization: 'Bearer token-1' },
      })
      expect(allowed.status).not.toBe(401)
    },
  )

  it('are requested before a body is looked at', async () => {
    await using gateway = await startGateway({ app: { authorize } })
    const response = await gateway.send('POST', '/api_specs', {
      body: 'x'.repeat(3_000_000),
      headers: JSON_TYPE,
    })
    expect(response.status).toBe(401)
  })

  it('that are not allowed are 403', async () => {
    await using gateway = await startGateway({
      app: { authorize: () => ({ status: 403, headers: {} }) },
    })
    const response = await gateway.send('GET', '/api_specs')
    expect([response.status, response.record.code]).toEqual([403, 'svc.error.forbidden'])
  })
})

describe('too many changes at once', () => {
  it('are refused with 503, the others done', async () => {
    await using gateway = await startGateway()
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        gateway.send('POST', '/api_specs', { json: makeDocument(`d${n}`) }),
      ),
    )
    const statuses = responses.map(({ status }) => status)
    expect(new Set([204, 503, ...statuses])).toEqual(new Set([204, 503]))
    expect(gateway.served()).toHaveLength(statuses.filter((status) => status === 204).length)
  })
})
