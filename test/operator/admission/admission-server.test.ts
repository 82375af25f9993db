// The server on loopback: what comes over HTTPS, how much of it, and with which certificate.

import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { connect } from 'node:tls'
import { afterEach, describe, expect, it } from '@jest/globals'
import {
  type AdmissionServer,
  type AdmissionServerOptions,
  startAdmissionServer,
} from '../../../operator/admission/admission-server.ts'
import { validateReview } from '../../../operator/admission/validate-review.ts'
import { API_VERSION, GROUP } from '../../../operator/resource/resource.ts'
import { createLog, createSilentLog } from '../../../telemetry/log.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { request } from '../../support/http-request.ts'
import { loopbackAddresses } from '../../support/loopback-addresses.ts'
import { aSpecification } from '../../support/resources.ts'

const MIB = 1024 * 1024
const ca = createCertificateAuthority('webhook CA')
const tls = { ca: ca.cert, servername: 'hook.test' }

const closing: AdmissionServer[] = []

afterEach(async () => {
  await Promise.all(closing.splice(0).map((server) => server.close()))
})

const start = async (options: Partial<AdmissionServerOptions> = {}): Promise<AdmissionServer> => {
  const pair = ca.issue('hook.test')
  const server = await startAdmissionServer({
    address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    certificate: () => pair,
    paths: { '/validate': (review) => validateReview(review, { className: 'svc' }) },
    log: createSilentLog(),
    ...options,
  })
  closing.push(server)
  return server
}

const reviewOf = (document: object): object => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'u-1',
    kind: { group: GROUP, version: 'v1alpha1', kind: 'ApiSpecification' },
    operation: 'CREATE',
    namespace: 'shop',
    name: 'orders',
    object: {
      apiVersion: API_VERSION,
      kind: 'ApiSpecification',
      metadata: { name: 'orders', namespace: 'shop' },
      spec: { document },
    },
  },
})

const post = (server: AdmissionServer, json: unknown, path = '/validate?timeout=3s') =>
  request(`${server.url}${path}`, { method: 'POST', json, tls })

describe('what is requested', () => {
  it.each(loopbackAddresses())(
    'is answered on every address, where none is named: %s',
    async (host) => {
      const server = await start({ address: { kind: 'tcp', host: '', port: 0 } })
      const url = `https://${host}:${new URL(server.url).port}`
      expect((await request(`${url}/nothing`, { tls })).status).toBe(404)
    },
  )

  it('is answered', async () => {
    const server = await start()
    const good = await post(server, reviewOf(aSpecification('orders')))
    expect([good.status, good.json()]).toEqual([
      200,
      {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: 'u-1', allowed: true },
      },
    ])
    const bad = await post(server, reviewOf(aSpecification('orders', { host: 'a..b' })))
    expect(bad.json()).toMatchObject({
      response: { allowed: false, status: { message: expect.stringContaining('a..b') } },
    })
  })

  it.each<[string, string, string, number]>([
    ['another path', 'POST /mutate', '{}', 404],
    ['a path two below', 'POST /validate/a/b', '{}', 404],
    ['a path from the prototype', 'POST /constructor', '{}', 404],
    ['another method', 'GET /validate', '', 405],
    ['no JSON', 'POST /validate', '{', 400],
    ['nothing', 'POST /validate', '', 400],
    ['no review', 'POST /validate', '{"apiVersion": "v1"}', 400],
  ])('%s', async (_, line, body, status) => {
    const server = await start()
    const [method = '', path = ''] = line.split(' ')
    const response = await request(`${server.url}${path}`, { method, body, tls })
    expect([response.status, response.json()]).toEqual([
      status,
      expect.objectContaining({ kind: 'Status', code: status, message: expect.any(String) }),
    ])
  })

  it('with a word below the path passes it on', async () => {
    const words: (string | undefined)[] = []
    const server = await start({
      paths: {
        '/validate': (_request, word) => {
          words.push(word)
          return { allowed: true, warnings: [] }
        },
      },
    })
    const body = JSON.stringify(reviewOf(aSpecification('orders')))
    for (const path of ['/validate', '/validate/0a1b', '/validate/?a=b'])
      await request(`${server.url}${path}`, { method: 'POST', body, tls })
    expect(words).toEqual(['', '0a1b', ''])
  })

  it('and makes a validate fail is a 500, with nothing of the object in the log', async () => {
    const lines: string[] = []
    const destination = { write: (line: string) => lines.push(line) }
    const server = await start({
      log: createLog({ level: 'debug', name: 'test', destination }),
      paths: {
        '/validate': () => {
          throw new Error('a bug')
        },
      },
    })
    const response = await post(server, reviewOf(aSpecification('orders', { name: 'hunter2' })))
    expect(response.status).toBe(500)
    expect(lines.join('')).toContain('a bug')
    expect(lines.join('') + response.text).not.toContain('hunter2')
  })
})

describe('size', () => {
  const padded = (bytes: number): string =>
    `${JSON.stringify(reviewOf(aSpecification('orders')))}${' '.repeat(bytes)}`

  it.each<[string, number, number]>([
    ['7 MiB', 7 * MIB, 200],
    ['a little more than 8 MiB', 8 * MIB, 413],
    ['20 MiB', 20 * MIB, 413],
  ])('%s', async (_, bytes, status) => {
    const server = await start()
    const response = await request(`${server.url}/validate`, {
      method: 'POST',
      body: padded(bytes),
      tls,
    })
    expect(response.status).toBe(status)
    expect(response.text).toMatch(status === 200 ? /"allowed":true/ : /8388608 bytes/)
  })

  it.each<[string, unknown, RegExp]>([
    ['too many values', [Array<object>(500_000).fill({})], /holds too many values/],
    ['nested too deeply', JSON.parse(`${'['.repeat(130)}${']'.repeat(130)}`), /nested too deeply/],
  ])('%s: not even parsed', async (_, value, words) => {
    const response = await post(await start(), { ...reviewOf(aSpecification('orders')), value })
    expect([response.status, response.text]).toEqual([413, expect.stringMatching(words)])
  })

  it('without end is cut off', async () => {
    const server = await start({ limits: { maxBytes: 1000, maxTotalBytes: 10_000 } })
    const outgoing = httpsRequest(`${server.url}/validate`, { method: 'POST', ...tls })
    outgoing.on('error', () => undefined)
    const chunk = Buffer.alloc(1000)
    const timer = setInterval(() => outgoing.write(chunk), 1)
    try {
      await once(outgoing, 'close')
      expect(outgoing.destroyed).toBe(true)
    } finally {
      clearInterval(timer)
    }
  })

  it('all together is bounded, and free again afterwards', async () => {
    const server = await start({ limits: { maxBytes: 60_000, maxTotalBytes: 100_000 } })
    const open = httpsRequest(`${server.url}/validate`, { method: 'POST', ...tls })
    open.on('error', () => undefined)
    open.write(' '.repeat(59_000))
    const ask = async (): Promise<number> =>
      (await request(`${server.url}/validate`, { method: 'POST', body: padded(50_000), tls }))
        .status
    await eventually(async () => {
      expect(await ask()).toBe(503)
    })
    open.destroy()
    await eventually(async () => {
      expect(await ask()).toBe(200)
    })
  })
})

describe('the certificate', () => {
  it('is the one that is current when a connection comes; open connections live on', async () => {
    let pair = ca.issue('hook.test')
    const server = await start({ certificate: () => pair })
    const fresh = async (): Promise<string | undefined> => {
      const socket = connect({ ...tls, host: '127.0.0.1', port: Number(new URL(server.url).port) })
      await once(socket, 'secureConnect')
      const certificate = socket.getPeerX509Certificate()?.toString()
      socket.destroy()
      return certificate
    }
    expect(await fresh()).toBe(pair.cert)
    const held = connect({ ...tls, host: '127.0.0.1', port: Number(new URL(server.url).port) })
    await once(held, 'secureConnect')
    pair = ca.issue('hook.test')
    expect(await fresh()).toBe(pair.cert)
    held.write('POST /validate HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}')
    const [chunk] = (await once(held, 'data')) as [Buffer]
    expect(chunk.toString()).toMatch(/^HTTP\/1.1 400/)
    held.destroy()
  })

  it('that is broken changes nothing', async () => {
    let pair = ca.issue('hook.test')
    const server = await start({ certificate: () => pair })
    expect((await post(server, {})).status).toBe(400)
    pair = { cert: pair.cert, key: 'x' }
    expect((await post(server, {})).status).toBe(400)
  })

  it('that is not there yet lets no client in; its coming does', async () => {
    const issued: ReturnType<typeof ca.issue>[] = []
    const server = await start({ certificate: () => issued[0] })
    await expect(post(server, {})).rejects.toThrow()
    issued.push(ca.issue('hook.test'))
    expect((await post(server, {})).status).toBe(400)
  })

  it('is not requested by plain HTTP: nothing is shown', async () => {
    const server = await start()
    const socket = connectPlain(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    const heard: Buffer[] = []
    socket.on('data', (chunk: Buffer) => heard.push(chunk))
    await once(socket, 'close')
    expect(Buffer.concat(heard).toString('latin1')).not.toContain('HTTP')
    expect((await post(server, {})).status).toBe(400)
  })
})

it('a taken address is an error that names it', async () => {
  const { url } = await start()
  const address = { kind: 'tcp', host: '127.0.0.1', port: Number(new URL(url).port) } as const
  await expect(start({ address })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
