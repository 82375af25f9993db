// What the HTTP parser refuses, over real connections.

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { createClientErrorHandler } from '../../../dataplane/http/client-error.ts'
import { eventually } from '../../support/eventually.ts'
import { headerValues } from '../../support/raw-client.ts'
import { roundTrip } from '../round-trip.ts'
import { stopTimers } from '../stop-timers.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

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
    const answer = await client.response()
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code, description: '' })
    expect(headerValues(answer, 'x-request-id')).toEqual(['client-error'])
    expect(headerValues(answer, 'connection')).toEqual(['close'])
    expect(await client.more()).toBe(false)
  })

  it('an answer before it is whole', async () => {
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

describe('a connection that is past talking to', () => {
  const handle = createClientErrorHandler(() => 'id')
  const failure = (code: string) => Object.assign(new Error(code), { code })

  it.each<[string, string, (socket: PassThrough) => void]>([
    ['was reset', 'ECONNRESET', () => undefined],
    ['can not be written', 'HPE_INVALID_METHOD', (socket) => socket.end()],
    [
      'is in the middle of an answer',
      'HPE_INVALID_METHOD',
      (socket) => Object.assign(socket, { _httpMessage: { headersSent: true } }),
    ],
  ])('%s: nothing is written', (_, code, prepare) => {
    const socket = new PassThrough()
    prepare(socket)
    handle(failure(code), socket)
    expect(socket.destroyed).toBe(true)
    expect(socket.read()).toBeNull()
  })

  it('while an answer has not begun the refusal is written', () => {
    const socket = new PassThrough()
    Object.assign(socket, { _httpMessage: { headersSent: false } })
    handle(failure('ERR_HTTP_REQUEST_TIMEOUT'), socket)
    expect(String(socket.read())).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    socket.destroy()
  })
})
