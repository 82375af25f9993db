// What anybody who can send bytes to the management API may try: pages in a browser of this machine,
// batches beyond measure, ids that no URL can name.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'

let gateway: GatewayProcess

beforeAll(async () => {
  gateway = await startGateway()
  await request(`${gateway.management}/realms`, { method: 'POST', json: { uri: 'com.hostile' } })
})

afterAll(() => gateway.stop(), 15_000)

const documentOf = (id: string): object => ({
  id,
  host: '_',
  realm_uri: 'com.hostile',
  versions: {
    v1: { base_path: '/hostile', paths: { '/x': { get: { action: { type: 'static' } } } } },
  },
})

describe('a web page in a browser of this machine', () => {
  it.each<[string, Readonly<Record<string, string>>, number, string]>([
    ['writes from its origin', { origin: 'https://evil.example' }, 403, 'svc.error.forbidden'],
    ['writes from nowhere', { origin: 'null' }, 403, 'svc.error.forbidden'],
    ['comes by its own name', { host: 'evil.example' }, 404, 'svc.error.not_found'],
    ['comes by its own name, our port', { host: 'evil.example:1' }, 404, 'svc.error.not_found'],
    ['looks like our name', { host: 'localhost.evil.example' }, 404, 'svc.error.not_found'],
    ['looks like our address', { host: '127.0.0.1.evil.example' }, 404, 'svc.error.not_found'],
  ])('%s: refused, and nothing is loaded', async (_, headers, status, code) => {
    const body = JSON.stringify(documentOf('of-a-page'))
    const url = `${gateway.management}/api_specs`
    const response = await request(url, { method: 'POST', headers, body })
    expect(response.status).toBe(status)
    expect(response.json()).toMatchObject({ code })
    expect((await request(url, { headers })).status).toBe(status)
    expect((await request(`${url}/of-a-page`)).status).toBe(404)
  })

  it.each(['localhost', 'LOCALHOST:1', 'gateway.localhost', '127.0.0.1:5', '[::1]', '[::1]:80'])(
    'is not %s',
    async (host) => {
      const response = await request(`${gateway.management}/api_specs`, { headers: { host } })
      expect(response.status).toBe(200)
    },
  )
})

describe('a batch beyond measure', () => {
  it.each([
    ['maps', '{}'],
    ['lists', '[]'],
    ['numbers', '1'],
  ])('100 000 %s: 413', async (_, entry) => {
    const body = `[${`${entry},`.repeat(99_999)}${entry}]`
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const response = await request(`${gateway.management}/api_specs`, options)
    expect(response.status).toBe(413)
    expect(response.json()).toMatchObject({ code: 'svc.error.payload_too_large' })
  })
})

describe('an id that no URL can name', () => {
  it.each(['.', '..', '\ud800'])('%j: 400', async (id) => {
    const options = { method: 'POST', json: documentOf(id) }
    const response = await request(`${gateway.management}/api_specs`, options)
    expect(response.status).toBe(400)
    expect(response.json()).toMatchObject({ errors: [{ path: '/id', code: 'invalid_value' }] })
  })
})

it.each(['public', 'management'] as const)(
  'CONNECT on the %s listener is answered, not hung up on',
  async (listener) => {
    await using client = await openRawClient(addressOf(gateway[listener]), 15_000)
    client.send([Buffer.from('CONNECT a:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')])
    const response = await client.response()
    expect(response.status).toBe(404)
    expect(JSON.parse(response.body.toString())).toMatchObject({ code: 'svc.error.not_found' })
  },
)
