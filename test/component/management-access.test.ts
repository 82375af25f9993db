// Who gets into the management API, and by which door.

import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createCertificateAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request, type HttpResponse, type HttpOptions } from '../support/http-request.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

/** The management URL by a loopback address, whatever the listener is bound to. */
const local = (gateway: GatewayProcess, path: string): string => {
  const url = new URL(path, gateway.management)
  url.hostname = '127.0.0.1'
  return url.href
}

const bearer = (token: string): HttpOptions => ({ headers: { authorization: `Bearer ${token}` } })

describe('a bearer token', () => {
  let dir: TempDir
  let gateway: GatewayProcess

  beforeAll(async () => {
    dir = await makeTempDir()
    const file = join(dir.path, 'token')
    await writeFile(file, 'first-secret\n')
    const flags = ['--management', '0.0.0.0:0', '--management-token-file', file]
    gateway = await startGateway({ flags: [...flags, '--health', '127.0.0.1:0'] })
  })

  afterAll(async () => {
    await gateway.stop()
    await dir[Symbol.asyncDispose]()
  })

  const ask = (options: HttpOptions = {}): Promise<HttpResponse> =>
    request(local(gateway, '/api_specs'), options)

  it('the right one lets in', async () => {
    expect((await ask(bearer('first-secret'))).status).toBe(200)
  })

  it.each<[string, HttpOptions]>([
    ['none', {}],
    ['a wrong one', bearer('second-secret')],
    ['a beginning of it', bearer('first')],
    ['an empty one', bearer('')],
    ['Basic', { headers: { authorization: 'Basic Zmlyc3Qtc2VjcmV0' } }],
  ])('%s: 401', async (_, options) => {
    const response = await ask(options)
    expect(response.status).toBe(401)
    expect(response.headers['www-authenticate']).toMatch(/^Bearer/)
    expect(response.text).not.toContain('first-secret')
  })

  it('is read again when its file changes, and never logged', async () => {
    await writeFile(join(dir.path, 'token'), 'second-secret\n')
    await eventually(async () => {
      expect((await ask(bearer('second-secret'))).status).toBe(200)
    })
    expect((await ask(bearer('first-secret'))).status).toBe(401)
    expect(gateway.logs().join('\n')).not.toMatch(/first-secret|second-secret/)
  })

  it('is not required by the health listener, which says how it is and nothing else', async () => {
    const health = String(gateway.listening['health'])
    const statuses = ['/ping', '/ready', '/metrics', '/api_specs', '/realms'].map(
      async (path) => (await request(`${health}${path}`)).status,
    )
    expect(await Promise.all(statuses)).toEqual([204, 204, 200, 404, 404])
  })
})

/** A CA, and files of a management listener that its certificate secures. */
const prepareTls = async (dir: TempDir) => {
  const ca = createCertificateAuthority('fleet CA')
  const { cert, key } = ca.issue('gateway.test')
  const paths = {
    cert: join(dir.path, 'cert'),
    key: join(dir.path, 'key'),
    ca: join(dir.path, 'ca'),
  }
  await Promise.all([
    writeFile(paths.cert, cert),
    writeFile(paths.key, key),
    writeFile(paths.ca, ca.cert),
  ])
  const flags = [
    '--management-tls-cert',
    paths.cert,
    '--management-tls-key',
    paths.key,
    '--management-client-ca',
    paths.ca,
    '--management-client-name',
    'operator.test',
  ]
  return { ca, key, paths, flags, trust: { ca: ca.cert, servername: 'gateway.test' } }
}

it('mutual TLS opens when its files appear, lets the named client in, and no other', async () => {
  await using dir = await makeTempDir()
  const { ca, key, paths, flags, trust } = await prepareTls(dir)
  await rm(paths.key)
  const port = await freePort()
  await using gateway = await startGateway({
    flags: ['--management', `0.0.0.0:${port}`, ...flags],
  })
  const url = `https://127.0.0.1:${port}/api_specs`
  const tls = { ...trust, ...ca.issue('operator.test') }
  // Connections are closed unread: that somebody comes is all that is known.
  await expect(request(url, { tls })).rejects.toThrow(/ECONNRESET|disconnected|hang up/)
  await writeFile(paths.key, key)
  await eventually(async () => {
    expect((await request(url, { tls })).status).toBe(200)
  })
  const stranger = createCertificateAuthority('other CA').issue('operator.test')
  const other = await request(url, { tls: { ...trust, ...ca.issue('somebody.test') } })
  expect(other.status).toBe(403)
  await expect(request(url, { tls: trust })).rejects.toThrow()
  await expect(request(url, { tls: { ...trust, ...stranger } })).rejects.toThrow()
  await expect(request(url.replace('https:', 'http:'))).rejects.toThrow()
  expect(gateway.logs().join('\n')).not.toContain('PRIVATE KEY')
})

it('Unix sockets serve both APIs, the management one for its owner alone, also after a kill -9', async () => {
  await using dir = await makeTempDir()
  const at = (name: string): string => join(dir.path, name)
  const flags = ['--public', `unix:${at('public')}`, '--management', `unix:${at('management')}`]
  await (await startGateway({ flags })).kill()
  // Cleared away, but never from under a living process.
  await using gateway = await startGateway({ flags })
  await expect(startGateway({ flags })).rejects.toThrow('in use')
  expect(gateway.public).toContain(at('public'))
  const ask = (name: string, path: string): Promise<number> =>
    request(`http://localhost${path}`, { socketPath: at(name) }).then(({ status }) => status)
  expect(await ask('management', '/ready')).toBe(204)
  expect(await ask('public', '/nowhere')).toBe(404)
  expect((await stat(at('management'))).mode & 0o077).toBe(0)
})
