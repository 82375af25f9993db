import { once } from 'node:events'
import { statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, get } from 'node:http'
import { connect as connectTcp, createServer } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { readGatewaySettings, type GatewaySettings } from '../../../dataplane/config.ts'
import type { ServerHandlers, ServerLimits } from '../../../dataplane/listen/http-server.ts'
import {
  openListeners,
  type Listeners,
  type ListenersOptions,
} from '../../../dataplane/listen/listeners.ts'
import { StartError } from '../../../dataplane/start-error.ts'
import { createLog } from '../../../telemetry/log.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { request } from '../../support/http-request.ts'
import { loopbackAddresses } from '../../support/loopback-addresses.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { roundTrip } from '../round-trip.ts'
import { stopTimers } from '../stop-timers.ts'

stopTimers()

const opened: Listeners[] = []
const lines: string[] = []
const log = createLog({
  level: 'info',
  name: 'test',
  destination: { write: (line) => lines.push(line) },
})

afterEach(async () => {
  lines.length = 0
  for (const listeners of opened.splice(0)) {
    const closed = listeners.close()
    listeners.abort()
    await closed
  }
})

const settingsOf = (...argv: readonly string[]): GatewaySettings => {
  const free = ['--public', '127.0.0.1:0', '--management', '127.0.0.1:0']
  const parsed = readGatewaySettings([...free, ...argv], {})
  if (parsed.kind !== 'settings') throw new Error(JSON.stringify(parsed))
  return parsed.settings
}

const answering = (text: string): ServerHandlers => ({
  onRequest: (_: IncomingMessage, response: ServerResponse) => response.end(text),
})

const open = async (
  argv: readonly string[],
  more: Partial<ListenersOptions> = {},
): Promise<Listeners> => {
  const listeners = await openListeners({
    settings: settingsOf(...argv),
    log,
    publicHandlers: (scheme) => answering(scheme),
    managementHandlers: answering('management'),
    healthHandlers: answering('health'),
    ...more,
  })
  opened.push(listeners)
  return listeners
}

/** TLS files are looked at every two seconds. */
const followed = <T>(check: () => T | Promise<T>): Promise<T> =>
  eventually(() => {
    jest.advanceTimersByTime(2000)
    return check()
  })

const publicUrl = (listeners: Listeners): string => listeners.urls().public ?? ''

/** The bytes that come back for these, until the other side closes. */
const talk = async (listeners: Listeners, text: string): Promise<string> => {
  const { port } = new URL(publicUrl(listeners))
  const socket = connectTcp(Number(port), '127.0.0.1')
  let response = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (response += chunk))
  socket.on('error', () => undefined)
  socket.write(text)
  await once(socket, 'close')
  return response
}

describe('openListeners', () => {
  it('opens what is configured on real ports', async () => {
    const listeners = await open(['--health', '127.0.0.1:0'])
    const urls = listeners.urls()
    expect(Object.keys(urls)).toEqual(['public', 'management', 'health'])
    const texts = await Promise.all(
      Object.values(urls).map(async (url) => (await request(url)).text),
    )
    expect(texts).toEqual(['http', 'management', 'health'])
    expect(listeners.addresses().public).toEqual({
      kind: 'tcp',
      host: '127.0.0.1',
      port: Number(new URL(urls.public ?? '').port),
    })
  })

  it('opens nothing that has no handlers', async () => {
    const listeners = await openListeners({ settings: settingsOf(), log })
    expect(listeners.urls()).toEqual({})
    await listeners.close()
  })

  it('counts connections', async () => {
    const listeners = await open([])
    const agent = new Agent({ keepAlive: true })
    await new Promise((resolve) =>
      get(publicUrl(listeners), { agent }, (r) => r.resume().on('end', resolve)),
    )
    expect(await listeners.connections()).toEqual({ public: 1, management: 0 })
    agent.destroy()
  })

  it('says in one line which address is taken, and closes what it had opened', async () => {
    const holder = createServer()
    await once(holder.listen(0, '127.0.0.1'), 'listening')
    const taken = holder.address()
    const port = typeof taken === 'object' && taken !== null ? taken.port : 0
    const free = await freePort()
    const error: unknown = await open([
      '--public',
      `127.0.0.1:${free}`,
      '--management',
      `127.0.0.1:${port}`,
    ]).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(StartError)
    expect(String(error)).toContain(`--management 127.0.0.1:${port}: the address is already in use`)
    await open(['--public', `127.0.0.1:${free}`])
    holder.close()
  })

  it.each([
    ['203.0.113.1:0', 'this machine does not have the address'],
    ['no-such-host.invalid:0', 'the host name cannot be resolved'],
    ['unix:/no/such/folder/x.sock', 'not permitted|directory of the socket does not exist'],
  ])('%s cannot be had: %s', async (address, reason) => {
    await expect(open(['--public', address])).rejects.toThrow(new RegExp(reason))
  })
})

describe('every address: `:PORT`', () => {
  const portOf = (url = ''): string => new URL(url).port

  it.each(loopbackAddresses())('answers on %s, on each listener', async (host) => {
    const listeners = await open(['--public', ':0', '--health', ':0'])
    const urls = listeners.urls()
    expect(urls.public).toMatch(/^http:\/\/(\[::\]|0\.0\.0\.0):[1-9]\d*$/)
    expect((await request(`http://${host}:${portOf(urls.public)}`)).text).toBe('http')
    expect((await request(`http://${host}:${portOf(urls.health)}`)).text).toBe('health')
  })

  it('says which address is taken', async () => {
    const { public: url } = (await open(['--public', ':0'])).urls()
    const error: unknown = await open(['--public', `:${portOf(url)}`]).catch((e: unknown) => e)
    expect(String(error)).toContain(`--public :${portOf(url)}: the address is already in use`)
  })

  it('management on every address asks for credentials', () => {
    expect(() => settingsOf('--management', ':0')).toThrow('not on loopback')
  })
})

describe('hardening', () => {
  it('answers a head that is too big with the handler for what the parser refuses', async () => {
    const codes: unknown[] = []
    const listeners = await open(['--max-header-bytes', '1024'], {
      publicHandlers: () => ({
        ...answering('x'),
        onClientError: (error, socket) => {
          codes.push(error.code)
          socket.end('HTTP/1.1 431 Mine\r\nConnection: close\r\n\r\n')
        },
      }),
    })
    const response = await talk(
      listeners,
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(2000)}\r\n\r\n`,
    )
    expect(response).toContain('431 Mine')
    expect(codes).toEqual(['HPE_HEADER_OVERFLOW'])
  })

  it('leaves a missing Host and an unknown Expect to the handler', async () => {
    const listeners = await open([])
    const response = await talk(
      listeners,
      'GET / HTTP/1.1\r\nExpect: magic\r\nConnection: close\r\n\r\n',
    )
    expect(response).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('does not wait for a head for ever', async () => {
    const times: Partial<ServerLimits> = { headersTimeoutSeconds: 0.05, checkMs: 20 }
    const settings = { ...settingsOf(), ...times }
    const listeners = await open([], { settings })
    expect(await talk(listeners, 'GET / HTTP/1.1\r\n')).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('closes connections beyond the bound', async () => {
    const listeners = await open(['--max-connections', '1'])
    const { port } = new URL(publicUrl(listeners))
    const first = connectTcp(Number(port), '127.0.0.1')
    await once(first, 'connect')
    await eventually(async () => {
      expect((await listeners.connections()).public).toBe(1)
    })
    expect(await talk(listeners, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('')
    first.destroy()
  })

  it('takes as many connections as memory holds', async () => {
    const listeners = await open([], { memoryBytes: 0 })
    const { port } = new URL(publicUrl(listeners))
    const sockets = Array.from({ length: 128 }, () =>
      connectTcp(Number(port), '127.0.0.1').on('error', () => undefined),
    )
    let closed = 0
    for (const socket of sockets) socket.resume().on('close', () => closed++)
    // Of 128, four fifths are for a single address.
    await eventually(() => {
      expect(closed).toBe(25)
    })
    expect(await listeners.connections()).toMatchObject({ public: 103, management: 0 })
    expect((await request(listeners.urls().management ?? '')).status).toBe(200)
    for (const socket of sockets) socket.destroy()
  })

  it('hands an upgrade to its handler, or answers it as a plain request', async () => {
    const ask =
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n'
    expect(await talk(await open([]), ask)).toMatch(/^HTTP\/1\.1 200 /)
    const upgraded = Promise.withResolvers<undefined>()
    const upgrading = await open([], {
      publicHandlers: () => ({
        ...answering('x'),
        onUpgrade: (_, socket) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\nhello')
          upgraded.resolve(undefined)
        },
      }),
    })
    const talking = talk(upgrading, ask)
    await upgraded.promise
    await roundTrip()
    upgrading.abort()
    expect(await talking).toContain('101 Switching Protocols')
  })
})

describe('draining and closing', () => {
  it('says Connection: close while draining, and closes idle connections', async () => {
    const listeners = await open([])
    const agent = new Agent({ keepAlive: true })
    const ask = (): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        get(publicUrl(listeners), { agent }, (response) => {
          response.resume().on('end', () => {
            resolve(response.headers.connection)
          })
        }).on('error', reject)
      })
    expect(await ask()).toBe('keep-alive')
    listeners.beginDraining()
    expect(await ask()).toBe('close')
    expect(await ask()).toBe('close')
    await listeners.close()
    await expect(ask()).rejects.toThrow('ECONNREFUSED')
  })

  it.each(['100-continue', 'wonders'])(
    'says so to a client that expects %s, too',
    async (expectation) => {
      const listeners = await open([], {
        publicHandlers: () => ({
          onRequest: (asked, response) => {
            asked.resume().on('end', () => response.end('read'))
          },
        }),
      })
      listeners.beginDraining()
      const answer = await talk(
        listeners,
        `POST / HTTP/1.1\r\nHost: a\r\nExpect: ${expectation}\r\nContent-Length: 1\r\n\r\n1`,
      )
      expect(answer).toMatch(/^HTTP\/1\.1 200 .*^Connection: close\r$.*read$/ms)
    },
  )

  it.each([
    ['before', 3, 0],
    ['before and after', 2, 2],
  ])('answers all that was sent at once %s it drains, and the last one says so', async (...row) => {
    const [, before, after] = row
    const arrived: ServerResponse[] = []
    const listeners = await open([], {
      publicHandlers: () => ({
        onRequest: (_, response) => {
          arrived.push(response)
        },
      }),
    })
    const { port } = new URL(publicUrl(listeners))
    const client = connectTcp(Number(port), '127.0.0.1')
    let text = ''
    client.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const asked = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
    client.write(asked.repeat(before))
    await eventually(() => {
      expect(arrived).toHaveLength(1)
    })
    listeners.beginDraining()
    const closed = listeners.close()
    client.write(asked.repeat(after))
    await roundTrip()
    const count = before + after
    for (let at = 0; at < count; at++) {
      await eventually(() => {
        expect(arrived).toHaveLength(at + 1)
      })
      jest.advanceTimersByTime(50)
      await roundTrip()
      arrived[at]?.end(`body ${at}`)
    }
    await once(client, 'close')
    await closed
    const expected = arrived.flatMap((_, at) => [
      `Connection: ${at === count - 1 ? 'close' : 'keep-alive'}`,
      `body ${at}`,
    ])
    expect(text.match(/connection: [a-z-]+|body \d/gi)).toEqual(expected)
  })

  it('closes idle connections alone on request, and takes new ones', async () => {
    const arrived = Promise.withResolvers<ServerResponse>()
    const listeners = await open([], {
      publicHandlers: () => ({
        onRequest: ({ url }, response) => {
          if (url === '/late') arrived.resolve(response)
          else response.end('at once')
        },
      }),
    })
    const idle = connectTcp(Number(new URL(publicUrl(listeners)).port), '127.0.0.1')
    idle.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    const [head] = (await once(idle, 'data')) as [Buffer]
    expect(String(head)).toContain('200 OK')
    const late = request(`${publicUrl(listeners)}/late`)
    const response = await arrived.promise
    listeners.closeIdle()
    await once(idle.resume(), 'end')
    idle.destroy()
    expect((await request(publicUrl(listeners))).text).toBe('at once')
    response.end('late')
    expect((await late).text).toBe('late')
    await listeners.close()
  })

  it('finishes what is in flight, then closes', async () => {
    const arrived = Promise.withResolvers<ServerResponse>()
    const listeners = await open([], {
      publicHandlers: () => ({
        onRequest: (_, response) => {
          arrived.resolve(response)
        },
      }),
    })
    const received = request(publicUrl(listeners))
    const response = await arrived.promise
    let isClosed = false
    const closed = listeners.close().then(() => (isClosed = true))
    for (let sweep = 0; sweep < 3; sweep++) {
      jest.advanceTimersByTime(50)
      await roundTrip()
    }
    expect(isClosed).toBe(false)
    response.end('late')
    expect((await received).text).toBe('late')
    await closed
  })

  it('abort breaks off what is in flight', async () => {
    const arrived = Promise.withResolvers<undefined>()
    const listeners = await open([], {
      publicHandlers: () => ({
        onRequest: () => {
          arrived.resolve(undefined)
        },
      }),
    })
    const response = request(publicUrl(listeners)).catch((error: unknown) => String(error))
    await arrived.promise
    const closed = listeners.close()
    listeners.abort()
    await closed
    expect(await response).toMatch(/socket hang up|ECONNRESET/)
  })
})

describe('Unix sockets', () => {
  it('are private to their user or group, and go when closed', async () => {
    await using dir = await makeTempDir()
    const paths = { public: join(dir.path, 'p.sock'), management: join(dir.path, 'm.sock') }
    const listeners = await open([
      '--public',
      `unix:${paths.public}`,
      '--management',
      `unix:${paths.management}`,
    ])
    expect(listeners.urls()).toEqual({
      public: `unix:${paths.public}`,
      management: `unix:${paths.management}`,
    })
    expect(statSync(paths.public).mode & 0o777).toBe(0o660)
    expect(statSync(paths.management).mode & 0o777).toBe(0o600)
    expect((await request('http://x/', { socketPath: paths.management })).text).toBe('management')
    await listeners.close()
    expect(() => statSync(paths.public)).toThrow('ENOENT')
  })

  it('takes the place of a stale one, never of a living one or of a file', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'p.sock')
    const living = createServer()
    await once(living.listen(path), 'listening')
    await expect(open(['--public', `unix:${path}`])).rejects.toThrow('already in use')
    living.close()

    await writeFile(path, 'content')
    await expect(open(['--public', `unix:${path}`])).rejects.toThrow('not a socket')
    await rm(path)

    // A process that is killed leaves its socket file behind.
    const { spawn } = await import('node:child_process')
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
    await once(spawn(process.execPath, ['-e', script]), 'exit')
    expect(statSync(path).isSocket()).toBe(true)
    await open(['--public', `unix:${path}`])
    expect((await request('http://x/', { socketPath: path })).text).toBe('http')
  })
})

describe('TLS', () => {
  const serialOf = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTls(
        { port: Number(new URL(url).port), rejectUnauthorized: false },
        () => {
          resolve(String(socket.getPeerCertificate().subject.CN))
          socket.destroy()
        },
      )
      socket.on('error', reject)
    })

  it('serves https, TLS 1.2 or newer, and follows its files', async () => {
    await using dir = await makeTempDir()
    const authority = createCertificateAuthority('authority')
    const cert = join(dir.path, 'cert.pem')
    const key = join(dir.path, 'key.pem')
    const write = async (name: string): Promise<void> => {
      const issued = authority.issue(name)
      await Promise.all([writeFile(cert, issued.cert), writeFile(key, issued.key)])
    }
    await write('first.example')
    const listeners = await open([
      '--public-tls',
      '127.0.0.1:0',
      '--tls-cert',
      cert,
      '--tls-key',
      key,
    ])
    const url = listeners.urls().publicTls ?? ''
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(
      (await request(url, { tls: { ca: authority.cert, servername: 'first.example' } })).text,
    ).toBe('https')
    const old = connectTls({
      port: Number(new URL(url).port),
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
      rejectUnauthorized: false,
    })
    await expect(once(old, 'secureConnect')).rejects.toThrow()

    await write('second.example')
    await followed(async () => {
      expect(await serialOf(url)).toBe('second.example')
    })
    await writeFile(key, 'nonsense')
    await followed(() => {
      expect(lines.join('')).toContain('the previous ones stay')
    })
    expect(await serialOf(url)).toBe('second.example')
  })

  it.each([
    ['missing', undefined, '--tls-cert .*: cannot read the file'],
    ['nonsense', 'nonsense', '--tls-cert, --tls-key: cannot be used'],
  ])('public files that are %s are a fault at start', async (_, content, message) => {
    await using dir = await makeTempDir()
    const file = join(dir.path, 'pem')
    if (content !== undefined) await writeFile(file, content)
    const argv = ['--public-tls', '127.0.0.1:0', '--tls-cert', file, '--tls-key', file]
    await expect(open(argv)).rejects.toThrow(new RegExp(message))
  })

  it('management opens when its files appear, asks for a client certificate, and is renewed', async () => {
    await using dir = await makeTempDir()
    const authority = createCertificateAuthority('authority')
    const paths = {
      cert: join(dir.path, 'cert'),
      key: join(dir.path, 'key'),
      ca: join(dir.path, 'ca'),
    }
    const listeners = await open([
      '--management-tls-cert',
      paths.cert,
      '--management-tls-key',
      paths.key,
      '--management-client-ca',
      paths.ca,
    ])
    expect(listeners.urls().management).toBeUndefined()
    expect(lines.join('')).toContain('cannot be used yet')

    const server = authority.issue('gateway.example')
    await writeFile(paths.ca, authority.cert)
    await writeFile(paths.key, 'half written')
    await writeFile(paths.cert, server.cert)
    await followed(() => {
      expect(lines.filter((line) => line.includes('cannot be used yet')).length).toBeGreaterThan(1)
    })
    await writeFile(paths.key, server.key)
    const url = await followed(() => {
      const { management } = listeners.urls()
      if (management === undefined) throw new Error('not open yet')
      return management
    })
    const tls = { ca: authority.cert, servername: 'gateway.example' }
    await expect(request(url, { tls })).rejects.toThrow()
    const client = authority.issue('operator.example')
    expect((await request(url, { tls: { ...tls, ...client } })).text).toBe('management')

    const renewed = authority.issue('renewed.example')
    await writeFile(paths.key, renewed.key)
    await writeFile(paths.cert, renewed.cert)
    await followed(async () => {
      const response = await request(url, {
        tls: { ...tls, ...client, servername: 'renewed.example' },
      })
      expect(response.text).toBe('management')
    })
  })

  describe('the CAs of management clients', () => {
    /** A management listener with mutual TLS; `release` lets the responses to `/held` go on. */
    const openMutual = async (directory: string) => {
      const [before, after] = [createCertificateAuthority('one'), createCertificateAuthority('two')]
      const issued = before.issue('m.example')
      const file = (name: string): string => join(directory, name)
      await writeFile(file('cert'), issued.cert)
      await writeFile(file('key'), issued.key)
      await writeFile(file('ca'), before.cert)
      const held: ServerResponse[] = []
      const performed: string[] = []
      const argv = ['cert', 'key'].flatMap((name) => [`--management-tls-${name}`, file(name)])
      const listeners = await open([...argv, '--management-client-ca', file('ca')], {
        managementHandlers: {
          onRequest: ({ url = '' }: IncomingMessage, response: ServerResponse) => {
            performed.push(url)
            if (url === '/begun') response.write('begun ')
            if (url === '/held' || url === '/begun') held.push(response)
            else response.end('at once')
          },
        },
      })
      const port = Number(new URL(listeners.urls().management ?? '').port)
      const client = before.issue('operator.example')
      const identity = { ...client, servername: 'm.example', ca: before.cert }
      const connect = async () => {
        const socket = connectTls({ ...identity, host: '127.0.0.1', port })
        let received = ''
        let isClosed = false
        socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
        socket.on('error', () => undefined).once('close', () => (isClosed = true))
        await once(socket, 'secureConnect')
        return { socket, received: () => received, isClosed: () => isClosed }
      }
      const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: m\r\n\r\n`
      const change = (ca: string): Promise<void> => writeFile(file('ca'), ca)
      return { before, after, issued, identity, held, performed, port, connect, get, change, file }
    }

    it('when they change, idle connections end, others after their response or their handshake', async () => {
      await using dir = await makeTempDir()
      const mutual = await openMutual(dir.path)
      const [unused, idle, busy, begun] = [
        await mutual.connect(),
        await mutual.connect(),
        await mutual.connect(),
        await mutual.connect(),
      ]
      const silent = connectTcp(mutual.port, '127.0.0.1')
      await once(silent, 'connect')
      idle.socket.write(mutual.get('/idle'))
      busy.socket.write(mutual.get('/held') + mutual.get('/queued'))
      begun.socket.write(mutual.get('/begun') + mutual.get('/queued'))
      await eventually(() => {
        expect(idle.received()).toContain('at once')
        expect(begun.received()).toContain('begun')
        expect(mutual.held).toHaveLength(2)
      })

      await mutual.change(mutual.after.cert)
      await followed(() => {
        expect([unused.isClosed(), idle.isClosed()]).toEqual([true, true])
      })
      const late = connectTls({ ...mutual.identity, socket: silent })
      late.on('error', () => undefined)
      late.on('secureConnect', () => late.write(mutual.get('/late')))
      await once(silent, 'close')
      expect([busy.isClosed(), begun.isClosed()]).toEqual([false, false])
      for (const response of mutual.held) response.end('whole')
      await eventually(() => {
        expect([busy.isClosed(), begun.isClosed()]).toEqual([true, true])
      })
      expect(busy.received()).toMatch(/connection: close[^]*whole$/i)
      expect(begun.received()).toMatch(/whole\r\n0\r\n\r\n$/)
      expect(mutual.performed.filter((path) => path !== '/idle').toSorted()).toEqual([
        '/begun',
        '/held',
      ])
      expect(lines.join('')).toContain('connections of others were ended')
    })

    it('when one more comes, and when another one goes, connections of those that stay stay', async () => {
      await using dir = await makeTempDir()
      const mutual = await openMutual(dir.path)
      const idle = await mutual.connect()
      const changes = (): number => lines.join('').split('connections of others were ended').length
      for (const ca of [mutual.after.cert + mutual.before.cert, mutual.before.cert]) {
        const before = changes()
        await mutual.change(ca)
        await followed(() => {
          expect(changes()).toBe(before + 1)
        })
      }
      idle.socket.write(mutual.get('/idle'))
      await eventually(() => {
        expect(idle.received()).toContain('at once')
      })
      idle.socket.destroy()
    })

    it('when others change, connections stay', async () => {
      await using dir = await makeTempDir()
      const mutual = await openMutual(dir.path)
      const idle = await mutual.connect()
      const renewed = mutual.before.issue('renewed.example')
      await writeFile(mutual.file('key'), renewed.key)
      await writeFile(mutual.file('cert'), renewed.cert)
      const url = `https://127.0.0.1:${mutual.port}`
      await followed(async () => {
        const tls = {
          ca: mutual.before.cert,
          servername: 'renewed.example',
          ...mutual.before.issue('c'),
        }
        expect((await request(url, { tls })).text).toBe('at once')
      })
      idle.socket.write(mutual.get('/idle'))
      await eventually(() => {
        expect(idle.received()).toContain('at once')
      })
      idle.socket.destroy()
    })
  })

  it('management opens at once when its files are there', async () => {
    await using dir = await makeTempDir()
    const issued = createCertificateAuthority('a').issue('m.example')
    const paths = { cert: join(dir.path, 'cert'), key: join(dir.path, 'key') }
    await Promise.all([writeFile(paths.cert, issued.cert), writeFile(paths.key, issued.key)])
    const argv = ['--management-tls-cert', paths.cert, '--management-tls-key', paths.key]
    const listeners = await open(argv)
    const url = listeners.urls().management ?? ''
    expect(url).toMatch(/^https:/)
    await expect(open([...argv, '--management', new URL(url).host])).rejects.toThrow(
      'already in use',
    )
  })
})
