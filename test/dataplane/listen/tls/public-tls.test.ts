// The public listener with certificates of several hosts, over real TLS: who is shown which, and what happens while
// they come, change, break and go.

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { readGatewaySettings } from '../../../../dataplane/config.ts'
import { openListeners, type Listeners } from '../../../../dataplane/listen/listeners.ts'
import { createLog } from '../../../../telemetry/log.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { eventually } from '../../../support/eventually.ts'
import { mountSecret, type MountedSecret } from '../../../support/mounted-secret.ts'
import { makeTempDir, type TempDir } from '../../../support/temp-dir.ts'

const authority = createCertificateAuthority('authority')
const lines: string[] = []
const log = createLog({
  level: 'info',
  name: 'test',
  destination: { write: (line) => lines.push(line) },
})
const opened: Listeners[] = []
let dir: TempDir

beforeEach(async () => {
  dir = await makeTempDir()
})

afterEach(async () => {
  lines.length = 0
  for (const listeners of opened.splice(0)) {
    const closed = listeners.close()
    listeners.abort()
    await closed
  }
  await dir[Symbol.asyncDispose]()
})

const pairOf = (name: string, ...names: readonly string[]): Record<string, string> => {
  const { cert, key } = authority.issue(name, { names })
  return { 'tls.crt': cert, 'tls.key': key }
}

const mount = (folder: string, ...names: [string, ...string[]]): Promise<MountedSecret> =>
  mountSecret(join(dir.path, folder), pairOf(...names))

const open = async (...flags: readonly string[]): Promise<Listeners> => {
  const argv = ['--public', '127.0.0.1:0', '--management', '127.0.0.1:0', ...flags]
  if (!flags.includes('--public-tls')) argv.push('--public-tls', '127.0.0.1:0')
  const parsed = readGatewaySettings([...argv, '--tls-dir', dir.path], {})
  if (parsed.kind !== 'settings') throw new Error(JSON.stringify(parsed))
  const listeners = await openListeners({
    settings: parsed.settings,
    log,
    publicHandlers: (scheme) => ({
      onRequest: (_: IncomingMessage, response: ServerResponse) => response.end(scheme),
    }),
    fileCheckMs: 20,
  })
  opened.push(listeners)
  return listeners
}

const portOf = (listeners: Listeners): number =>
  Number(new URL(listeners.urls().publicTls ?? '').port)

/** The common name of the certificate that a client is shown; it must have been signed by our CA. */
const shown = async (listeners: Listeners, servername?: string): Promise<string> => {
  const socket = connect({
    port: portOf(listeners),
    host: '127.0.0.1',
    ca: authority.cert,
    checkServerIdentity: () => undefined,
    ...(servername === undefined ? {} : { servername }),
  })
  await once(socket, 'secureConnect')
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return String(CN)
}

describe('several hosts', () => {
  it('each name is shown its certificate, any other the first', async () => {
    await mount('b-shop', 'shop.test', '*.shop.test')
    await mount('a-api', 'api.test', 'alias.test')
    await mkdir(join(dir.path, 'empty'))
    await writeFile(join(dir.path, 'README'), 'a file is no folder')
    const listeners = await open()
    const names = [
      'api.test',
      'alias.test',
      'SHOP.test',
      'www.shop.test',
      'a.b.shop.test',
      'x.test',
    ]
    const all = await Promise.all(names.map((name) => shown(listeners, name)))
    expect(all).toEqual(['api.test', 'api.test', 'shop.test', 'shop.test', 'api.test', 'api.test'])
    expect(await shown(listeners)).toBe('api.test')
    expect(lines.filter((line) => line.includes('cannot use a TLS certificate yet'))).toHaveLength(
      1,
    )
  })

  it('with --tls-cert that one is for any other name', async () => {
    const { cert, key } = authority.issue('default.test')
    await mount('a', 'api.test')
    const files = { cert: join(dir.path, '.cert'), key: join(dir.path, '.key') }
    await Promise.all([writeFile(files.cert, cert), writeFile(files.key, key)])
    const listeners = await open('--tls-cert', files.cert, '--tls-key', files.key)
    expect(await shown(listeners)).toBe('default.test')
    expect(await shown(listeners, 'x.test')).toBe('default.test')
    expect(await shown(listeners, 'api.test')).toBe('api.test')
    const ends = listeners.certificateEndsMs()
    expect([...ends.keys()].sort()).toEqual(['--tls-cert', 'a'])
    expect(ends.get('--tls-cert')).toBe(Date.parse(new X509Certificate(cert).validTo))
    const renewed = authority.issue('renewed.test')
    await Promise.all([writeFile(files.key, renewed.key), writeFile(files.cert, renewed.cert)])
    await eventually(async () => {
      expect(await shown(listeners)).toBe('renewed.test')
    })
    expect(await shown(listeners, 'api.test')).toBe('api.test')
  })
})

describe('while it serves', () => {
  it('a renewed certificate is for new connections, and drops none', async () => {
    const secret = await mount('a', 'one.test')
    const other = await mount('b', 'two.test')
    const listeners = await open()
    const socket = connect({
      port: portOf(listeners),
      host: '127.0.0.1',
      ca: authority.cert,
      servername: 'two.test',
    })
    const ask = async (): Promise<string> => {
      socket.write('GET / HTTP/1.1\r\nHost: two.test\r\n\r\n')
      const [response] = (await once(socket, 'data')) as [Buffer]
      return response.toString()
    }
    expect(await ask()).toMatch(/^HTTP\/1\.1 200 /)
    await other.update(pairOf('two-renewed.test', 'two.test'))
    await secret.update(pairOf('one-renewed.test', 'one.test'))
    await eventually(async () => {
      expect(await shown(listeners, 'two.test')).toBe('two-renewed.test')
      expect(await shown(listeners, 'one.test')).toBe('one-renewed.test')
      expect(await shown(listeners)).toBe('one-renewed.test')
    })
    expect(await ask()).toMatch(/^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  it('a new folder is served, one that is gone is not', async () => {
    await mount('a', 'one.test')
    const listeners = await open()
    expect(await shown(listeners, 'new.test')).toBe('one.test')
    await mount('new', 'new.test')
    await eventually(async () => {
      expect(await shown(listeners, 'new.test')).toBe('new.test')
    })
    expect([...listeners.certificateEndsMs().keys()]).toEqual(['a', 'new'])
    await rm(join(dir.path, 'new'), { recursive: true })
    await eventually(async () => {
      expect(await shown(listeners, 'new.test')).toBe('one.test')
    })
    expect([...listeners.certificateEndsMs().keys()]).toEqual(['a'])
  })

  it.each([
    ['nonsense', { 'tls.crt': 'nonsense', 'tls.key': 'nonsense' }],
    ['a key of another', { ...pairOf('x.test'), 'tls.key': authority.issue('x.test').key }],
    ['a certificate alone', { 'tls.crt': pairOf('x.test')['tls.crt'] ?? '' }],
  ])('a folder that breaks keeps its last good certificate: %s', async (_, broken) => {
    await mount('a', 'one.test')
    const secret = await mount('b', 'two.test')
    const listeners = await open()
    await secret.update(broken)
    await eventually(() => {
      expect(lines.join('')).toContain('the previous one stays')
    })
    expect(await shown(listeners, 'two.test')).toBe('two.test')
    expect(lines.join('')).not.toContain('PRIVATE KEY')
    await secret.update(pairOf('mended.test', 'two.test'))
    await eventually(async () => {
      expect(await shown(listeners, 'two.test')).toBe('mended.test')
    })
  })

  it('a directory that is gone changes nothing', async () => {
    await mount('a', 'one.test')
    const listeners = await open()
    await rm(dir.path, { recursive: true })
    await eventually(() => {
      expect(lines.join('')).toContain('cannot use the directory of TLS certificates')
    })
    expect(await shown(listeners, 'one.test')).toBe('one.test')
  })
})

describe('when nothing is there yet', () => {
  it('opens with the first certificate, and says so', async () => {
    await mountSecret(join(dir.path, 'a'), { 'tls.crt': 'half', 'tls.key': 'half' })
    const listeners = await open()
    expect(listeners.urls().publicTls).toBeUndefined()
    expect(lines.join('')).toContain('public TLS listener opens when there is a certificate')
    await mount('b', 'late.test')
    await eventually(async () => {
      expect(await shown(listeners, 'late.test')).toBe('late.test')
    })
    expect(lines.join('')).toContain('public TLS listener is open now')
  })

  it('an address that is taken then is logged, and tried again with the next certificate', async () => {
    const holder = createServer()
    await once(holder.listen(0, '127.0.0.1'), 'listening')
    const bound = holder.address()
    const port = typeof bound === 'object' ? (bound?.port ?? 0) : 0
    const listeners = await open('--public-tls', `127.0.0.1:${port}`)
    const secret = await mount('a', 'late.test')
    await eventually(() => {
      expect(lines.join('')).toContain('cannot open the public TLS listener')
    })
    holder.close()
    await secret.update(pairOf('later.test'))
    await eventually(async () => {
      expect(await shown(listeners)).toBe('later.test')
    })
  })

  it('an address that is taken at the start ends it', async () => {
    await mount('a', 'one.test')
    const first = await open()
    await expect(open('--public-tls', `127.0.0.1:${portOf(first)}`)).rejects.toThrow('--public-tls')
  })
})
