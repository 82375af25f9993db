// Request bodies over real connections: limits, types, clients that are slow or leave, and what becomes
// of the connection after a refusal.

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { eventually } from '../../../support/eventually.ts'
import type { Part } from '../../../support/raw-client.ts'
import { roundTrip } from '../../round-trip.ts'
import { stopTimers } from '../../stop-timers.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'

stopTimers()

let gateway: ServedGateway

beforeEach(async () => {
  gateway = await serveGateway({
    forward: (exchange) => {
      exchange.succeed({ status_code: 200, body: exchange.rawBody?.toString('latin1') ?? 'unread' })
    },
  })
  const read = answers('{{request.body}}')
  const forward = (body: string) => ({
    action: { type: 'forward', host: 'a' },
    response: { on_result: { body } },
  })
  await gateway.load(
    apiOf({
      '/read': { post: read, get: read, delete: read },
      '/form': { accepts: ['application/x-www-form-urlencoded'], post: read },
      '/text': {
        accepts: ['text/*', 'application/*+json', 'application/vnd.msgpack'],
        post: read,
      },
      '/unread': { post: answers('fine'), get: answers('fine') },
      '/length': { post: answers('{{request.body_length}}') },
      '/small': { body_max_bytes: 10, post: read, put: answers('fine') },
      '/none': { body_max_bytes: 0, post: answers('fine') },
      '/slow': { body_read_seconds: 1, post: read },
      '/forward': { post: forward('got {{action.result.body}}') },
      '/forward-read': { post: forward('{{request.body.a}} {{action.result.body}}') },
      '/forward-length': { post: forward('{{request.body_length}} {{action.result.body}}') },
      '/secured': { security: { type: 'basic' }, post: read },
    }),
  )
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const JSON_TYPE = 'Content-Type: application/json\r\n'

const post = (path: string, head: string, ...body: readonly (string | Part)[]) =>
  gateway.raw(`POST ${path} HTTP/1.1\r\nHost: a\r\n${head}\r\n`, ...body)

describe('what a body is to a document', () => {
  it.each<[string, string, string | undefined, string, number, unknown]>([
    ['JSON', '/read', 'application/json', '{"a":[1]}', 200, { a: [1] }],
    ['JSON in capitals', '/read', 'Application/JSON; Charset=UTF-8', '"é"', 200, 'é'],
    [
      'a form',
      '/form',
      'application/x-www-form-urlencoded',
      'a=1&constructor=2',
      200,
      { a: '1', constructor: '2' },
    ],
    ['another type', '/read', 'text/plain', 'x', 415, undefined],
    ['a type that is not accepted here', '/form', 'application/json', '{}', 415, undefined],
    ['another charset', '/read', 'application/json; charset=latin1', '{}', 415, undefined],
    ['no type', '/read', undefined, '{}', 415, undefined],
    ['broken', '/read', 'application/json', '{', 400, undefined],
    ['broken, and no template reads it', '/unread', 'application/json', '{', 200, 'fine'],
    ['of a wrong type, and no template reads it', '/unread', 'text/plain', '{', 415, undefined],
    ['counted', '/length', 'application/json', '"é"', 200, 4],
    ['forwarded unread, of no type', '/forward', undefined, 'x', 200, 'got unread'],
    ['forwarded unread, of any type', '/forward', 'text/plain', 'x', 200, 'got unread'],
    ['forwarded unread, of an empty type', '/forward', '', 'x', 200, 'got unread'],
    ['forwarded unread, of no valid type', '/forward', 'text', 'x', 415, undefined],
    [
      'forwarded unread, of two types',
      '/forward',
      'application/json\r\nContent-Type: text/plain',
      'x',
      415,
      undefined,
    ],
    ['read, of an empty type', '/read', '', '{}', 415, undefined],
    [
      'read, of two types',
      '/read',
      'text/plain\r\nContent-Type: application/json',
      '1',
      415,
      undefined,
    ],
    ['a text', '/text', 'text/csv; header=absent', 'a,é', 200, 'a,é'],
    ['a text in capitals', '/text', 'TEXT/XML', '<a/>', 200, '<a/>'],
    ['a text in another charset', '/text', 'text/plain; charset="UTF-16LE"', 'a\0b\0', 200, 'ab'],
    [
      'a text in a charset that is none',
      '/text',
      'text/plain; charset=klingon',
      'x',
      415,
      undefined,
    ],
    ['JSON of another name', '/text', 'application/merge-patch+json', '{"a":1}', 200, { a: 1 }],
    ['MessagePack of another name', '/text', 'application/vnd.msgpack', '\x01', 200, 1],
    ['other XML', '/text', 'application/xml', '<a/>', 415, undefined],
    ['forwarded and read', '/forward-read', 'application/json', '{"a":1}', 200, '1 {"a":1}'],
    ['forwarded and read, of no type', '/forward-read', undefined, '{"a":1}', 415, undefined],
    ['forwarded and counted', '/forward-length', 'application/json', '{', 200, '1 {'],
  ])('%s', async (...[, path, contentType, body, status, value]) => {
    for (const chunked of [false, true]) {
      const bytes = Buffer.from(body)
      const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`
      await using client = chunked
        ? await post(
            path,
            `${type}Transfer-Encoding: chunked\r\n`,
            `${bytes.length.toString(16)}\r\n`,
            bytes.toString('latin1'),
            '\r\n0\r\n\r\n',
          )
        : await post(path, `${type}Content-Length: ${bytes.length}\r\n`, bytes.toString('latin1'))
      const response = await client.response()
      expect(response.status).toBe(status)
      expect(status === 200 ? JSON.parse(response.body.toString()) : undefined).toEqual(value)
    }
  })

  it.each([
    ['POST', 'Content-Length: 0\r\n', ''],
    ['POST', `${JSON_TYPE}Transfer-Encoding: chunked\r\n`, '0\r\n\r\n'],
    ['POST', '', ''],
    ['GET', '', ''],
  ])('%s without one is an empty text (%j)', async (method, head, body) => {
    await using client = await gateway.raw(
      `${method} /read HTTP/1.1\r\nHost: a\r\n${head}\r\n${body}`,
    )
    const response = await client.response()
    expect([response.status, response.body.length]).toEqual([method === 'GET' ? 200 : 204, 0])
  })

  it.each([
    ['application/json', '{"a":1}', 200, '{"a":1}'],
    ['application/json', '{', 400, expect.stringContaining('svc.error.invalid_data')],
    ['text/plain', 'x', 200, ''],
  ])('of a GET it counts if its type is known: %s %s', async (type, body, status, text) => {
    await using client = await gateway.raw(
      `GET /read HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const response = await client.response()
    expect([response.status, response.body.toString()]).toEqual([status, text])
  })
})

describe('limits', () => {
  it.each([
    ['a declared length', '/small', `${JSON_TYPE}Content-Length: 11\r\n`, ''],
    [
      'chunks that add up',
      '/small',
      `${JSON_TYPE}Transfer-Encoding: chunked\r\n`,
      '6\r\n"12345\r\n6\r\n12345"\r\n',
    ],
    ['any byte where none is taken', '/none', `${JSON_TYPE}Content-Length: 1\r\n`, ''],
    [
      'of a body that no template reads',
      '/none',
      `${JSON_TYPE}Transfer-Encoding: chunked\r\n`,
      '1\r\n1\r\n',
    ],
  ])(
    '%s over the limit: 413, before the rest has come, and the connection ends',
    async (_, path, head, body) => {
      await using client = await post(path, head, body)
      const response = await client.response()
      expect(response.status).toBe(413)
      expect(JSON.parse(response.body.toString())).toMatchObject({
        code: 'svc.error.payload_too_large',
      })
      expect(await client.more()).toBe(false)
      expect(gateway.refused).toEqual(['svc.error.payload_too_large'])
    },
  )

  it('a body of just the limit is taken, in whatever pieces', async () => {
    await using client = await post(
      '/small',
      `${JSON_TYPE}Transfer-Encoding: chunked\r\n`,
      '5\r\n"1234\r\n',
    )
    await roundTrip()
    client.send([Buffer.from('5\r\n5678"\r\n0\r\n\r\n')])
    expect((await client.response()).body.toString()).toBe('"12345678"')
  })

  it('a client that goes on sending still reads the refusal', async () => {
    const megabyte = Buffer.alloc(1_000_000, 0x20)
    await using client = await post(
      '/small',
      `${JSON_TYPE}Content-Length: 50000000\r\n`,
      ...Array.from({ length: 50 }, () => megabyte),
    )
    expect((await client.response()).status).toBe(413)
  })

  it('too slow: 408, and the connection ends', async () => {
    await using client = await post('/slow', `${JSON_TYPE}Content-Length: 1000\r\n`)
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(1)
    })
    // The time is that of the whole body: what comes meanwhile does not prolong it.
    for (let drop = 0; drop < 20; drop++) {
      expect(gateway.statuses).toEqual([])
      client.send([Buffer.from('1')])
      await roundTrip()
      jest.advanceTimersByTime(50)
    }
    jest.advanceTimersByTime(40)
    const response = await client.response()
    expect([response.status, JSON.parse(response.body.toString())]).toMatchObject([
      408,
      { code: 'svc.error.request_timeout' },
    ])
    expect(await client.more()).toBe(false)
    expect(gateway.statuses).toEqual([408])
  })
})

describe('a client that leaves in its body', () => {
  it.each([
    ['a declared one', `${JSON_TYPE}Content-Length: 100\r\n`, '{"a"'],
    ['chunks', `${JSON_TYPE}Transfer-Encoding: chunked\r\n`, '4\r\n{"a"\r\n'],
  ])('%s: counted once as 499, nothing is performed', async (_, head, body) => {
    for (const path of ['/read', '/unread', '/forward-read']) {
      gateway.statuses.length = 0
      const client = await post(path, head, body)
      await eventually(() => {
        expect(gateway.inFlight.count).toBe(1)
      })
      client.close()
      await eventually(() => {
        expect([gateway.statuses, gateway.inFlight.count]).toEqual([[499], 0])
      })
    }
    expect(gateway.unexpected).toEqual([])
  })
})

describe('after a refusal the connection serves the next request', () => {
  const NEXT = 'GET /unread HTTP/1.1\r\nHost: a\r\n\r\n'
  const rest = 'x'.repeat(200_000)

  it.each([
    ['404', '/nope', '', 404],
    ['405', '/form', '', 405],
    ['401', '/secured', '', 401],
    ['406', '/read', `${JSON_TYPE}Accept: a/b\r\n`, 406],
    ['415', '/read', 'Content-Type: a/b\r\n', 415],
    ['400', '/read', JSON_TYPE, 400],
  ])('%s', async (name, path, head, status) => {
    const method = name === '405' ? 'PUT' : 'POST'
    await using client = await gateway.raw(
      `${method} ${path} HTTP/1.1\r\nHost: a\r\n${head}Content-Length: ${rest.length}\r\n\r\n`,
    )
    await roundTrip()
    client.send([Buffer.from(rest), Buffer.from(NEXT)])
    expect((await client.response()).status).toBe(status)
    expect((await client.response()).body.toString()).toBe('"fine"')
  })

  it('also by chunks', async () => {
    await using client = await post('/nope', 'Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n')
    expect((await client.response()).status).toBe(404)
    client.send([Buffer.from('0\r\n\r\n'), Buffer.from(NEXT)])
    expect((await client.response()).body.toString()).toBe('"fine"')
  })
})
