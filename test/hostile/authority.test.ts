// One request, one host: whatever a client writes into Host and target, what a document is found by is what an
// expression, an upstream and the access log are told. None of them sees another one.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { load, REALM } from '../component/gateway-client.ts'
import { type EchoUpstream, startEchoUpstream } from '../support/echo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'

let gateway: GatewayProcess
let upstream: EchoUpstream

beforeAll(async () => {
  ;[gateway, upstream] = await Promise.all([
    startGateway({ flags: ['--access-log', 'on'] }),
    startEchoUpstream(),
  ])
  const headers = {
    'x-host': '{{request.host}}',
    'x-port': '{{request.port}}',
    'x-header': '{{request.headers.host}}',
  }
  const action = { type: 'forward', host: upstream.origin, headers }
  const versions = { v1: { base_path: '/', paths: { '/:n': { get: { action, response: {} } } } } }
  await load(gateway, { id: 'bound', host: '[...]acme.test', realm_uri: REALM, versions })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

interface Told {
  readonly status: number
  readonly log: unknown
  readonly header: Readonly<Record<string, readonly string[]>> | undefined
}

let count = 0

const ask = async (target: string, host: string): Promise<Told> => {
  const path = `/${++count}`
  await using client = await openRawClient(addressOf(gateway.public), 15_000)
  client.send([Buffer.from(`GET ${target}${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'latin1')])
  const { status } = await client.response()
  const log = await eventually(() => {
    const line = gateway.logs().find((each) => each.includes(`"path":"${path}"`))
    if (line === undefined) throw new Error('it is not logged yet')
    return (JSON.parse(line) as { host: unknown }).host
  })
  return { status, log, header: upstream.seen((each) => each === path)[0]?.header }
}

it.each([
  ['', 'api.acme.test', 'api.acme.test', ''],
  ['', 'API.acme.test:8443', 'API.acme.test:8443', '8443'],
  ['', 'api.acme.test:', 'api.acme.test', ''],
  ['http://api.acme.test', 'evil.example', 'api.acme.test', ''],
  ['HTTPS://API.acme.test:443', 'evil.example:1', 'API.acme.test:443', '443'],
])('%j with Host %j is for %s', async (target, host, text, port) => {
  const { status, log, header } = await ask(target, host)
  expect([status, log]).toEqual([200, text])
  expect(header?.['x-forwarded-host']).toEqual([text])
  expect(header?.['x-host']).toEqual(['api.acme.test'])
  const listening = new URL(gateway.public).port
  expect(header?.['x-port']).toEqual([port === '' ? listening : port])
  // The header itself may be written with an empty port.
  expect(header?.['x-header']?.[0]?.replace(/:$/, '')).toBe(text)
  expect(JSON.stringify(header)).not.toContain('evil')
})

it.each([
  ['x://api.acme.test', 'evil.example'],
  ['', 'api.acme.test:443,evil.example'],
  ['', 'evil.example,api.acme.test'],
  ['', 'evil.example:80.acme.test'],
  ['http://api.acme.test:1,evil.example', 'api.acme.test'],
  ['http://evil.example@api.acme.test', 'api.acme.test'],
  ['http://api.acme.test', 'evil.example,x'],
])('%j with Host %j is for no document', async (target, host) => {
  expect(await ask(target, host)).toEqual({ status: 400, log: '', header: undefined })
})
