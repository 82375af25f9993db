// Balancers with the PROXY protocol, trusted proxies and forwarded headers in every combination: conditions and bodies,
// upstreams, access log, audit log and traces name the same client.

import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createCertificateAuthority } from '../support/certificates.ts'
import { type EchoUpstream, startEchoUpstream } from '../support/echo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { binaryHeader, proxyBinary, proxyLine } from '../support/proxy-header.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { answers, api, forwards, load } from './gateway-client.ts'

const BALANCER = '127.0.0.1'
const PROXY = '127.0.0.2'
const STRANGER = '127.0.0.3'

const authority = createCertificateAuthority('authority')
let gateway: GatewayProcess
let upstream: EchoUpstream
let collector: OtlpReceiver
let dir: TempDir
let tlsPort: number

beforeAll(async () => {
  upstream = await startEchoUpstream()
  collector = await startOtlpReceiver()
  dir = await makeTempDir()
  tlsPort = await freePort()
  const { cert, key } = authority.issue('gateway.test')
  const [certFile, keyFile] = [join(dir.path, 'tls.crt'), join(dir.path, 'tls.key')]
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
  gateway = await startGateway({
    flags: [
      '--public-proxy-protocol',
      `${BALANCER}/32`,
      '--trusted-proxies',
      `${PROXY},10.0.0.0/8`,
      '--public-tls',
      `127.0.0.1:${tlsPort}`,
      '--tls-cert',
      certFile,
      '--tls-key',
      keyFile,
      '--processes',
      '2',
      '--access-log',
      'on',
      '--otlp',
      collector.url,
    ],
  })
  const guarded = { ...api('guarded', { '/who': answers('nobody') }), security: { type: 'basic' } }
  await load(
    gateway,
    api('open', {
      '/who': answers('{{request.peername}}'),
      '/echo': forwards(upstream.origin, '/echo'),
    }),
    withSecurity(guarded),
  )
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await collector[Symbol.asyncDispose]()
  await dir[Symbol.asyncDispose]()
})

/** Of its version, where documents have it. */
const withSecurity = (document: object): object => {
  const { security, versions, ...rest } = document as {
    readonly security: object
    readonly versions: { readonly v1: object }
  }
  return { ...rest, versions: { v1: { ...versions.v1, security } } }
}

interface Sent {
  /** Where the connection really comes from. */
  readonly from: string
  /** In front of the request. */
  readonly header?: Buffer | undefined
  readonly forwardedFor?: string | undefined
}

const requestOf = (path: string, { forwardedFor }: Sent): string =>
  [
    `GET ${path} HTTP/1.1`,
    'Host: a',
    'Connection: close',
    // somebody:wrong
    'Authorization: Basic c29tZWJvZHk6d3Jvbmc=',
    ...(forwardedFor === undefined ? [] : [`X-Forwarded-For: ${forwardedFor}`]),
    '\r\n',
  ].join('\r\n')

/** The whole response. */
const ask = async (path: string, sent: Sent): Promise<string> => {
  const port = Number(new URL(gateway.public).port)
  const socket = connect({ host: '127.0.0.1', port, localAddress: sent.from })
  await once(socket, 'connect')
  if (sent.header !== undefined) socket.write(sent.header)
  socket.write(requestOf(path, sent))
  return text(socket)
}

const requestId = (response: string): string => /^x-request-id: (.*)$/im.exec(response)?.[1] ?? ''

/** A line of a log that has all these. */
const logged = (...parts: readonly string[]): Promise<Readonly<Record<string, unknown>>> =>
  eventually(() => {
    const line = gateway.logs().find((each) => parts.every((part) => each.includes(part)))
    if (line === undefined) throw new Error(`no line has ${parts.join(', ')}`)
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  })

const CLIENT = proxyLine('192.0.2.1', 4711)
const TRUSTED = proxyBinary('10.0.0.5', 4711)
const LOCAL = binaryHeader({ command: 0x20, family: 0 })

describe('the address of the client', () => {
  it.each<[string, Sent, RegExp]>([
    ['a balancer tells it', { from: BALANCER, header: CLIENT }, /^192\.0\.2\.1:4711$/],
    [
      'of IPv6',
      { from: BALANCER, header: proxyLine('2001:db8::1', 4711) },
      /^\[2001:db8::1\]:4711$/,
    ],
    [
      'a client of a balancer says it is another',
      { from: BALANCER, header: CLIENT, forwardedFor: '1.2.3.4' },
      /^192\.0\.2\.1:4711$/,
    ],
    [
      'a trusted proxy behind a balancer tells it',
      { from: BALANCER, header: TRUSTED, forwardedFor: '1.2.3.4' },
      /^1\.2\.3\.4:0$/,
    ],
    [
      'two trusted proxies behind a balancer tell it',
      { from: BALANCER, header: TRUSTED, forwardedFor: '9.9.9.9, 1.2.3.4, 10.1.1.1' },
      /^1\.2\.3\.4:0$/,
    ],
    [
      'a trusted proxy behind a balancer asks for itself',
      { from: BALANCER, header: TRUSTED },
      /^10\.0\.0\.5:4711$/,
    ],
    ['a balancer asks for itself', { from: BALANCER, header: LOCAL }, /^127\.0\.0\.1:\d+$/],
    [
      'a balancer is no trusted proxy',
      { from: BALANCER, header: LOCAL, forwardedFor: '1.2.3.4' },
      /^127\.0\.0\.1:\d+$/,
    ],
    ['a trusted proxy tells it', { from: PROXY, forwardedFor: '1.2.3.4' }, /^1\.2\.3\.4:0$/],
    ['a trusted proxy asks for itself', { from: PROXY }, /^127\.0\.0\.2:\d+$/],
    ['a stranger says', { from: STRANGER, forwardedFor: '1.2.3.4' }, /^127\.0\.0\.3:\d+$/],
  ])('%s', async (_, sent, peername) => {
    const response = await ask('/open/who', sent)
    const told = JSON.parse(response.split('\r\n\r\n')[1] ?? '') as string
    expect(told).toMatch(peername)
    expect((await logged(requestId(response), '"peername"'))['peername']).toMatch(peername)
    const address = told.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
    await ask('/open/echo', sent)
    const echoes = upstream.seen((path) => path === '/echo')
    expect(echoes.at(-1)?.header['x-forwarded-for']).toEqual([address])
    const refused = await ask('/guarded/who', sent)
    expect(refused).toMatch(/^HTTP\/1\.1 401 /)
    expect((await logged(requestId(refused), '"peername"'))['peername']).toContain(address)
  })

  it('stands in the audit log', async () => {
    const sent = { from: BALANCER, header: proxyLine('192.0.2.77') }
    const id = requestId(await ask('/guarded/who', sent))
    expect((await logged(id, '"audit":true'))['address']).toBe('192.0.2.77')
    const behind = { from: BALANCER, header: TRUSTED, forwardedFor: '192.0.2.78' }
    const other = requestId(await ask('/guarded/who', behind))
    expect((await logged(other, '"audit":true'))['address']).toBe('192.0.2.78')
  })

  it('stands in traces', async () => {
    const told = requestId(await ask('/open/who', { from: BALANCER, header: CLIENT }))
    const sent = { from: BALANCER, header: TRUSTED, forwardedFor: '192.0.2.78' }
    const behind = requestId(await ask('/open/who', sent))
    const addressOf = (id: string): unknown =>
      collector.spans().find(({ attributes }) => attributes['svc.request_id'] === id)?.attributes[
        'client.address'
      ]
    await eventually(
      () => {
        expect([addressOf(told), addressOf(behind)]).toEqual(['192.0.2.1', '192.0.2.78'])
      },
      { withinMs: 15_000 },
    )
  })

  it('comes before TLS', async () => {
    const socket = connect(tlsPort, '127.0.0.1')
    socket.write(CLIENT)
    const secure = connectTls({ socket, ca: authority.cert, servername: 'gateway.test' })
    secure.write(requestOf('/open/who', { from: BALANCER }))
    expect(await text(secure)).toContain('"192.0.2.1:4711"')
  })

  it('a balancer that sends none is reported in the log and counted', async () => {
    expect(await ask('/open/who', { from: BALANCER }).catch(() => '')).toBe('')
    const line = await logged('have no valid PROXY header')
    expect(line).toMatchObject({ level: 'warn', balancer: BALANCER })
    // A process that is held up is counted as it was at the scrape before.
    await eventually(async () => {
      const metrics = await (await fetch(`${gateway.management}/metrics`)).text()
      expect(metrics).toMatch(/^svc_gateway_connections_refused_total\{reason="proxy_header"\} 1$/m)
    })
  })
})
