// One serving process, whole, behind a real server: what it serves, what it counts, what it refuses to do.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { readGatewaySettings, type GatewaySettings } from '../../../dataplane/config.ts'
import { createPlainServer } from '../../../dataplane/listen/http-server.ts'
import { createServingParts, type ServingProcess } from '../../../dataplane/start/serving-parts.ts'
import { StartError } from '../../../dataplane/start-error.ts'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import { compile } from '../../../language/compile.ts'
import { readRequest } from '../../../language/explain/read-request.ts'
import { createLog } from '../../../telemetry/log.ts'
import { renderMetrics } from '../../../telemetry/metrics-state.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { request } from '../../support/http-request.ts'
import { servingHome } from '../../support/serving-home.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { answers, apiOf } from '../http/served-gateway.ts'

const settingsOf = (...argv: readonly string[]): GatewaySettings => {
  const parsed = readGatewaySettings([...argv], {})
  if (parsed.kind !== 'settings') throw new Error(JSON.stringify(parsed))
  return parsed.settings
}

const lines: string[] = []
const logged: string[] = []
const log = createLog({
  level: 'info',
  name: 'test',
  destination: { write: (line) => logged.push(line) },
})

const servers: Server[] = []
let parts: ServingProcess

const listen = async (server: Server): Promise<string> => {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const start = async (...argv: readonly string[]): Promise<string> => {
  const settings = settingsOf('--access-log', 'on', ...argv)
  parts = createServingParts({
    settings,
    log,
    writeLines: (text) => lines.push(text),
    home: servingHome(),
  })
  return listen(createPlainServer(settings, parts.publicHandlers('http')))
}

const load = (document: unknown) => {
  const outcome = compile(document, { realm: () => ({ authmethods: [], oidcProviders: [] }) })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  return parts.serving.apply({
    put: [packDocument(outcome.compiled, { since: 0, rank: 0 })],
    remove: [],
    realms: { put: [{ uri: 'com.acme', call_timeout: 2000 }], delete: [] },
  })
}

const metrics = async (): Promise<string> =>
  renderMetrics([...(await parts.exportMetrics()), ...parts.measurements.requests.families()])

beforeEach(() => {
  lines.length = 0
  logged.length = 0
})

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
  await parts.close()
})

describe('a gateway with --managed', () => {
  const reading = readRequest({ method: 'GET', url: 'http://a.test/x', headers: [] })
  if ('error' in reading) throw new Error(reading.error)
  const { request: asked } = reading
  const NOTHING = { put: [], remove: [], realms: { put: [], delete: [] } }
  const load = (isComplete: boolean) =>
    parts.serving.apply({ ...NOTHING, ...(isComplete && { isComplete }) })

  it('answers 503 until its operator has sent something, and keeps its own endpoints', async () => {
    const url = await start('--managed', 'op')
    const response = await request(`${url}/x`)
    expect([response.status, response.headers['retry-after'], response.json()]).toEqual([
      503,
      '1',
      {
        code: 'svc.error.not_ready',
        message: 'This gateway waits for its documents',
        request_id: response.headers['x-request-id'],
        description: expect.stringContaining('/ready'),
      },
    ])
    expect((await request(`${url}/.well-known/jwks.json`)).status).toBe(200)
    const explained = () => parts.explain?.(asked).verdict
    expect(explained()).toMatchObject({ status: 503, code: 'svc.error.not_ready' })
    await load(false)
    expect((await request(`${url}/x`)).status).toBe(503)
    await load(true)
    expect((await request(`${url}/x`)).status).toBe(404)
    expect(explained()).toMatchObject({ status: 404 })
    expect(await metrics()).toContain('svc_gateway_refusals_total{code="svc.error.not_ready"} 2')
  })

  it('is none without it: 404 from the start', async () => {
    const url = await start()
    expect((await request(`${url}/x`)).status).toBe(404)
  })
})

describe('createServingParts', () => {
  it('serves, logs and counts', async () => {
    const url = await start()
    await load(
      apiOf({ '/x': { get: answers('x') }, '/bad': { get: answers('{{request.body.nope}}') } }),
    )
    expect((await request(`${url}/x`)).text).toBe('"x"')
    expect((await request(`${url}/bad`)).status).toBe(400)
    expect((await request(`${url}/nope`)).status).toBe(404)
    const text = await metrics()
    expect(text).toMatch(
      /svc_gateway_requests_total\{api="api",version="v1",path="\/x",method="GET",status="2xx"\} 1/,
    )
    expect(text).toMatch(/svc_gateway_refusals_total\{code="svc\.error\.not_found"\} 1/)
    expect(text).toMatch(/svc_gateway_requests_in_flight 0/)
    await parts.close()
    expect(
      lines
        .join('')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as { status: number }).status),
    ).toEqual([200, 400, 404])
  })

  it('forwards, by the pools of a version, and shows them', async () => {
    const upstream = await listen(
      createServer((incoming, response) => response.end(`got ${incoming.url ?? ''}`)),
    )
    const url = await start()
    await load(apiOf({ '/x': { get: { action: { type: 'forward', host: upstream } } } }))
    for (let turn = 0; turn < 2; turn++) expect((await request(`${url}/x?y`)).text).toBe('got /x?y')
    expect(await metrics()).toContain(
      `svc_gateway_upstream_connections{origin="${upstream}",state="connected"}`,
    )
  })

  it('never forwards to itself', async () => {
    const url = await start()
    parts.announce?.([url])
    await load(apiOf({ '/x': { get: { action: { type: 'forward', host: url } } } }))
    const response = await request(`${url}/x`)
    expect([response.status, response.json()]).toMatchObject([
      504,
      { code: 'svc.error.bad_gateway' },
    ])
    expect(await metrics()).toContain(
      `svc_gateway_upstream_failures_total{origin="${url}",failure="denied"} 1`,
    )
  })

  it('reports one of several hosts that can not be reached', async () => {
    const url = await start()
    const gone = await Promise.all([createServer(), createServer()].map(listen))
    for (const server of servers.splice(-gone.length)) server.close()
    const hosts = gone.map((host) => ({ host, weight: 1 }))
    await load(apiOf({ '/x': { get: { action: { type: 'forward', hosts } } } }))
    // Five failures in a row of one of two.
    for (let count = 0; count < 9; count++) await request(`${url}/x`)
    const line = logged.find((each) => each.includes('a host of a forward cannot be reached'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      origin: expect.stringMatching(gone.join('|')),
      realm: 'com.acme',
    })
  })

  it('a realm that is gone fails WAMP actions so', async () => {
    const url = await start()
    await load(apiOf({ '/x': { get: { action: { type: 'wamp_call', procedure: 'a.b' } } } }))
    expect((await request(`${url}/x`)).json()).toMatchObject({ code: 'wamp.error.net_failure' })
    await parts.serving.apply({ put: [], remove: [], realms: { put: [], delete: ['com.acme'] } })
    expect((await request(`${url}/x`)).json()).toMatchObject({ code: 'wamp.error.no_such_realm' })
  })

  it('takes more CAs, and says which file it can not read', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'ca.pem')
    await writeFile(path, createCertificateAuthority('more CAs').cert)
    await start('--upstream-ca', path)
    const gone = join(dir.path, 'gone.pem')
    expect(() =>
      createServingParts({
        settings: settingsOf('--upstream-ca', gone),
        log,
        writeLines: () => undefined,
        home: servingHome(),
      }),
    ).toThrow(StartError)
  })

  it('logs what it does not understand, and answers 500', async () => {
    const url = await start()
    await load(apiOf({ '/x': { get: answers('x') } }))
    const [document] = [packDocumentOf(apiOf({ '/y': { get: answers('{{request.id}}') } }))]
    await parts.serving.apply({
      put: [{ ...document, content: { plain: Buffer.alloc(9999) } }],
      remove: [],
      realms: { put: [], delete: [] },
    })
    expect((await request(`${url}/y`)).status).toBe(500)
    expect(logged.join('')).toContain('a request failed unexpectedly')
  })
})

const packDocumentOf = (document: unknown) => {
  const outcome = compile(document, { realm: () => ({ authmethods: [], oidcProviders: [] }) })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  return packDocument(outcome.compiled, { since: 0, rank: 0 })
}
