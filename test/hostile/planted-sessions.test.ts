// An upstream tries to plant a session of its own choice in browsers of the gateway's origin: no response of the gateway sets
// one of the gateway's cookies, whichever way its headers are made.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { api, forwards, load, type Operation } from '../component/gateway-client.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { addressOf, headerValues, openRawClient } from '../support/raw-client.ts'

const PLANTED = [
  'svc_ticket_com.component=forged; Path=/',
  ' svc_csrf_com.component=forged',
  '=svc_ticket_com.component=forged',
  '\tsvc_ticket_com.component=forged',
  '__Host-svc_oidc_1=forged; Path=/; Secure',
]
const FAIR = ['mine=1; Path=/', 'other=svc_ticket_com.component']

let upstream: Server
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = createServer((request, response) => {
    response.writeHead(request.url === '/fails' ? 500 : 200, {
      'content-type': 'application/json',
      'set-cookie': [...PLANTED, ...FAIR],
    })
    response.end(JSON.stringify({ cookies: [...PLANTED, ...FAIR] }))
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const withResult = (onResult: object): Operation => ({
    ...forwards(origin, '/'),
    response: { on_result: onResult },
  })
  gateway = await startGateway()
  await load(
    gateway,
    api('planted', {
      '/passed': forwards(origin, '/'),
      '/failed': forwards(origin, '/fails'),
      '/map': withResult({ headers: '{{action.result.headers}}', body: 'x' }),
      '/one': withResult({
        headers: { 'Set-Cookie': '{{action.result.headers.set-cookie}}' },
        body: '{{action.result.body}}',
      }),
      '/body': withResult({ headers: { 'set-cookie': '{{action.result.body.cookies}}' } }),
      '/static': {
        action: { type: 'static', body: 'x', headers: { 'set-cookie': [...PLANTED, ...FAIR] } },
        response: {},
      },
      '/on-error': {
        ...forwards(origin, '/fails'),
        response: {
          on_error: { headers: { 'set-cookie': '{{action.error.headers.set-cookie}}' }, body: 'x' },
        },
      },
    }),
  )
})

afterAll(async () => {
  upstream.closeAllConnections()
  upstream.close()
  await gateway.stop()
})

describe('Set-Cookie of an upstream', () => {
  it.each([
    ['passed', FAIR],
    ['map', FAIR],
    ['one', FAIR],
    ['body', FAIR],
    ['static', FAIR],
    ['on-error', FAIR],
    ['failed', FAIR],
  ])("%s: never one of the gateway's", async (path, expected) => {
    await using client = await openRawClient(addressOf(gateway.public), 15_000)
    client.send([Buffer.from(`GET /planted/${path} HTTP/1.1\r\nHost: a\r\n\r\n`)])
    const cookies = headerValues(await client.response(), 'set-cookie')
    expect(cookies.map((each) => each.trim())).toEqual(expected)
  })
})
