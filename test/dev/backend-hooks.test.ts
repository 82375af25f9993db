// The webhooks of the example backend: what is signed is answered, nothing else.

import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { isGenuine } from '../../dev/backend-hooks.ts'
import { type Backend, startBackend } from '../../dev/backend.ts'
import { type HttpResponse, request } from '../support/http-request.ts'

const SECRET = 'tell-nobody'

const sign = (body: string, seconds: number, secret = SECRET): string =>
  `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`

describe('isGenuine', () => {
  const body = '{"args":[]}'
  it.each([
    ['signed now', sign(body, 1000), true],
    ['signed a while ago', sign(body, 700), true],
    ['signed long ago', sign(body, 699), false],
    ['signed by a clock that is ahead', sign(body, 1301), false],
    ['signed with another secret', sign(body, 1000, 'guessed'), false],
    ['signed for another body', sign('{}', 1000), false],
    ['signed for another time', sign(body, 1000).replace('t=1000', 't=1001'), false],
    ['not signed', undefined, false],
    ['signed with half a digest', sign(body, 1000).slice(0, -2), false],
    ['no signature at all', 'constructor', false],
  ])('%s: %j is %j', (_name, signature, expected) => {
    const headers = signature === undefined ? {} : { 'x-svc-signature': signature }
    expect(isGenuine(headers, Buffer.from(body), 1000)).toBe(expected)
  })
})

describe('POST /hooks', () => {
  let backend: Backend
  beforeAll(async () => {
    backend = await startBackend(0)
  })
  afterAll(() => backend.close())

  const post = (invocation: object, headers?: Record<string, string>): Promise<HttpResponse> => {
    const body = JSON.stringify(invocation)
    const signed = { 'x-svc-signature': sign(body, Math.floor(Date.now() / 1000)) }
    const url = `${backend.origin}/hooks/greet`
    return request(url, { method: 'POST', body, headers: headers ?? signed })
  }

  it.each([
    [{ args: ['Ada'], kwargs: {} }, 200, { args: ['Hello Ada'], kwargs: { hook: 'greet' } }],
    [{ args: [], kwargs: { name: 'Bob' } }, 200, { args: ['Hello Bob'] }],
    [{ args: [1], kwargs: {} }, 422, { error_uri: 'com.example.error.no_name' }],
  ])('%j is answered', async (invocation, status, json) => {
    const response = await post(invocation)
    expect(response.status).toBe(status)
    expect(response.json()).toMatchObject(json)
  })

  it('is refused without a signature', async () => {
    const response = await post({ args: ['Ada'], kwargs: {} }, {})
    expect(response.status).toBe(401)
    expect(response.json()).toEqual({ error_uri: 'com.example.error.bad_signature' })
  })
})
