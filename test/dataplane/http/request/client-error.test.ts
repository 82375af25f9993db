// What the HTTP parser refuses, over real connections.

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import type { ByteSink } from '../../../../dataplane/actions/performer.ts'
import { createClientErrorHandler } from '../../../../dataplane/http/request/client-error.ts'
import { eventually } from '../../../support/eventually.ts'
import { headerValues } from '../../../support/raw-client.ts'
import { roundTrip } from '../../round-trip.ts'
import { stopTimers } from '../../stop-timers.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'

stopTimers()

let gateway: ServedGateway

beforeEach(async () => {
  gateway = await serveGateway()
  await gateway.load(apiOf({ '/x': { get: answers('x'), post: answers('{{request.body}}') } }))
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

describe('requests that are no HTTP', () => {
  it.each([
    ['noise', '\x16\x03\x01\r\n\r\n', 400, 'svc.error.invalid_data'],
    [
      'a method that the parser does not know',
      'FOO /x HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n',
      400,
      'svc.error.invalid_data',
    ],
    [
      'a method in lower case, which is another one',
      'get /x HTTP/1.1\r\nHost: a\r\n\r\n',
      400,
      'svc.error.invalid_data',
    ],
    [
      'a bad header',
      'GET /x HTTP/1.1\r\nHost: a\r\nbad header: b\r\n\r\n',
      400,
      'svc.error.invalid_data',
    ],
    [
      'two lengths',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'svc.error.invalid_data',
    ],
    [
      'length and chunks',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'svc.error.invalid_data',
    ],
    [
      'too many headers',
      `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'svc.error.invalid_data',
    ],
    [
      'a body of broken chunks',
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
      'svc.error.invalid_data',
    ],
    [
      'endless chunk extensions',
      `POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
      413,
      'svc.error.payload_too_large',
    ],
  ])('%s: an error record, and the end', async (_, text, status, code) => {
    await using client = await gateway.raw(text)
    const response = await client.response()
    expect(response.status).toBe(status)
    expect(JSON.parse(response.body.toString())).toMatchObject({
      code,
      description: '',
      request_id: headerValues(response, 'x-request-id')[0],
    })
    expect(headerValues(response, 'x-request-id')).toEqual(['client-error'])
    expect(headerValues(response, 'connection')).toEqual(['close'])
    expect(await client.more()).toBe(false)
  })

  it.each([
    ['another request', 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('behind a head of too many lines nothing is performed: %s', async (_, next) => {
    const lines = 'X: y\r\n'.repeat(128)
    await using client = await gateway.raw(`GET /x HTTP/1.1\r\nHost: a\r\n${lines}\r\n${next}`)
    expect((await client.response()).status).toBe(431)
    expect(await client.more()).toBe(false)
    expect([gateway.statuses, gateway.unmatched]).toEqual([[], []])
  })

  const UPGRADE = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n'
  const NEXT = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'

  // Node drops the rest of what came with it.
  it.each([
    ['a request', `GET /x HTTP/1.1\r\n${UPGRADE}\r\n`, NEXT, ''],
    ['half a request', `GET /x HTTP/1.1\r\n${UPGRADE}\r\n`, 'POST /x HTTP/1.1\r\nHo', NEXT],
    ['a body and more', `POST /x HTTP/1.1\r\n${UPGRADE}Content-Length: 2\r\n\r\n42`, NEXT, NEXT],
    ['a body later', `POST /x HTTP/1.1\r\n${UPGRADE}Content-Length: 2\r\n\r\n`, '', `42${NEXT}`],
  ])('behind an upgrade that is none: %s; the connection ends', async (_, own, rest, later) => {
    await using client = await gateway.raw(`${own}${rest}`)
    client.send([Buffer.from(later)])
    expect(headerValues(await client.response(), 'connection')).toEqual(['close'])
    expect(await client.more()).toBe(false)
    expect([...gateway.statuses, ...gateway.unmatched]).toHaveLength(1)
  })

  it('an upgrade that is none, and comes alone, keeps its connection', async () => {
    await using client = await gateway.raw(`GET /x HTTP/1.1\r\n${UPGRADE}\r\n`)
    expect((await client.response()).status).toBe(200)
    client.send([Buffer.from(NEXT)])
    expect((await client.response()).status).toBe(200)
  })

  it('noise behind a request whose response is made at once ends the connection with it', async () => {
    await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n')
    expect((await client.response()).status).toBe(200)
    expect(await client.more()).toBe(false)
  })

  it('a body that breaks behind its response ends the connection, without another one', async () => {
    await using client = await gateway.raw(
      'POST /none HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n',
    )
    expect((await client.response()).status).toBe(404)
    client.send([Buffer.from('too many bytes')])
    expect(await client.more()).toBe(false)
  })

  it('a response before it is whole', async () => {
    await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await client.response()).body.toString()).toBe('"x"')
    client.send([Buffer.from('nonsense\r\n\r\n')])
    expect((await client.response()).status).toBe(400)
  })

  it('a client that never hangs up does not keep its connection', async () => {
    const socket = connect({ ...gateway.address, allowHalfOpen: true })
    socket.on('error', () => undefined)
    socket.write('nonsense\r\n\r\n')
    await once(socket, 'data')
    jest.advanceTimersByTime(999)
    await roundTrip()
    expect(await gateway.connections()).toBe(1)
    jest.advanceTimersByTime(1)
    await eventually(async () => {
      expect(await gateway.connections()).toBe(0)
    })
    socket.destroy()
  })
})

describe('what comes behind a request whose response is still to come', () => {
  const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n'
  const READ = { on_result: { body: '{{action.result.body}}' } }

  it.each([
    ['no HTTP', `${GET}\r\n`, 'nonsense\r\n\r\n'],
    ['no well-formed head', `${GET}\r\n`, 'GET /x HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['a request behind `Connection: close`', `${GET}Connection: close\r\n\r\n`, `${GET}\r\n`],
  ])('%s: the response comes, and the end', async (_, first, behind) => {
    let answer = (): void => undefined
    await using slow = await serveGateway({
      forward: (exchange) => {
        answer = () => {
          exchange.succeed({ status_code: 200, body: 'first' })
        }
      },
    })
    const get = { action: { type: 'forward', host: 'a' }, response: READ }
    await slow.load(apiOf({ '/x': { get } }))
    await using client = await slow.raw(first + behind)
    await eventually(() => {
      expect(slow.inFlight.count).toBe(1)
    })
    await roundTrip()
    answer()
    const { status, headers, body } = await client.response()
    expect([status, body.toString()]).toEqual([200, '"first"'])
    expect(headerValues({ status, headers, body }, 'connection')).toEqual(['close'])
    expect(await client.more()).toBe(false)
    expect([slow.statuses, slow.unmatched]).toEqual([[200], []])
  })

  it('a response that is on its way is not cut', async () => {
    const sinks: (ByteSink | undefined)[] = []
    await using slow = await serveGateway({
      forward: (exchange) => {
        const headers = [['content-length', '7']] as const
        sinks.push(exchange.stream({ statusCode: 200, headers, hasBody: true }))
        sinks[0]?.write(Buffer.from('con'))
      },
    })
    await slow.load(apiOf({ '/x': { get: { action: { type: 'forward', host: 'a' } } } }))
    await using client = await slow.raw(`${GET}\r\n`)
    await client.more()
    client.send([Buffer.from('nonsense\r\n\r\n')])
    await roundTrip()
    sinks[0]?.write(Buffer.from('tent'))
    sinks[0]?.end()
    expect((await client.response()).body.toString()).toBe('content')
  })
})

describe('a connection that is past talking to', () => {
  const handle = createClientErrorHandler(() => 'id')
  const failure = (code: string) => Object.assign(new Error(code), { code })

  it.each<[string, string, (socket: PassThrough) => void]>([
    ['was reset', 'ECONNRESET', () => undefined],
    ['can not be written', 'HPE_INVALID_METHOD', (socket) => socket.end()],
    [
      'is in the middle of a response',
      'HPE_INVALID_METHOD',
      (socket) => Object.assign(socket, { _httpMessage: { headersSent: true, req: {} } }),
    ],
  ])('%s: nothing is written', (_, code, prepare) => {
    const socket = new PassThrough()
    prepare(socket)
    handle(failure(code), socket)
    expect(socket.destroyed).toBe(true)
    expect(socket.read()).toBeNull()
  })

  it('while a response has not begun the refusal is written', () => {
    const socket = new PassThrough()
    Object.assign(socket, { _httpMessage: { headersSent: false, req: {} } })
    handle(failure('ERR_HTTP_REQUEST_TIMEOUT'), socket)
    expect(String(socket.read())).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    socket.destroy()
  })
})
