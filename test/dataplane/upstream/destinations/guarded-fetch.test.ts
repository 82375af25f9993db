import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createGuard, readRules } from '../../../../dataplane/upstream/destinations/guard.ts'
import {
  createGuardedFetch,
  type FetchLimits,
  type GuardedFetch,
} from '../../../../dataplane/upstream/destinations/guarded-fetch.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { roundTrip } from '../../round-trip.ts'

const LIMITS: FetchLimits = { timeoutMs: 60_000, maxBytes: 1000 }
const authority = createCertificateAuthority('idp CA')
const asked: string[] = []
let onHang: () => void = () => undefined

const behave: RequestListener = (request, response) => {
  asked.push(request.url ?? '')
  const acts: Record<string, () => void> = {
    '/ok': () => response.setHeader('x-seen', request.headers['accept-encoding'] ?? '').end('ok'),
    '/echo': () => request.pipe(response),
    '/redirect': () => response.writeHead(302, { location: '/ok' }).end(),
    '/empty': () => response.writeHead(204).end(),
    '/cookies': () => response.setHeader('set-cookie', ['a=1', 'b=2']).end(),
    '/large': () => response.end('x'.repeat(1001)),
    '/endless': () => {
      const timer = setInterval(() => response.write('x'), 5)
      response.on('close', () => {
        clearInterval(timer)
      })
    },
    '/cut': () => {
      response.writeHead(200, { 'content-length': '100' }).write('x')
      void roundTrip().then(() => response.destroy())
    },
    '/hang': () => {
      onHang()
    },
  }
  acts[request.url ?? '']?.()
}

const servers: Server[] = []

const listen = async (server: Server): Promise<string> => {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

let plain: string
let secure: string
let fetch: GuardedFetch

beforeAll(async () => {
  plain = `http://${await listen(createServer(behave))}`
  secure = `https://${await listen(createHttps(authority.issue('idp.test'), behave))}`
  fetch = createGuardedFetch({ guard: createGuard(), extraCa: [] })
})

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

describe('a guarded fetch', () => {
  it('brings the whole response, and asks for it without compression', async () => {
    const response = await fetch(`${plain}/ok`, {}, LIMITS)

    expect([response.status, await response.text()]).toEqual([200, 'ok'])
    expect(response.headers.get('x-seen')).toBe('identity')
  })

  it('sends a method, headers and a body', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'hello' }
    const response = await fetch(`${plain}/echo`, init, LIMITS)

    expect(await response.text()).toBe('hello')
  })

  it('follows no redirect', async () => {
    asked.length = 0
    const response = await fetch(`${plain}/redirect`, {}, LIMITS)

    expect([response.status, response.headers.get('location')]).toEqual([302, '/ok'])
    expect(asked).toEqual(['/redirect'])
  })

  it('takes an empty response, and headers that stand twice', async () => {
    const empty = await fetch(`${plain}/empty`, {}, LIMITS)
    const cookies = await fetch(`${plain}/cookies`, {}, LIMITS)

    expect([empty.status, await empty.text()]).toEqual([204, ''])
    expect(cookies.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  it.each([
    ['/large', LIMITS, 'too_large'],
    ['/endless', { ...LIMITS, maxBytes: 3 }, 'too_large'],
    ['/endless', { timeoutMs: 50, maxBytes: 1_000_000 }, 'timeout'],
    ['/hang', { timeoutMs: 50, maxBytes: 1000 }, 'timeout'],
    ['/cut', LIMITS, 'unreachable'],
  ])('gives %s up within %j: %s', async (path, limits, code) => {
    await expect(fetch(plain + path, {}, limits)).rejects.toMatchObject({
      name: 'FetchError',
      code,
    })
  })

  it('gives up when it is aborted', async () => {
    const controller = new AbortController()
    onHang = () => {
      controller.abort()
    }
    const init = { signal: controller.signal }

    const response = fetch(`${plain}/hang`, init, { ...LIMITS, timeoutMs: 1_000_000 })
    await expect(response).rejects.toMatchObject({ code: 'timeout' })
  })

  it.each(['http://127.0.0.1:1/', 'nonsense', 'ftp://127.0.0.1/', 'http://'])(
    'of %s is unreachable',
    async (url) => {
      await expect(fetch(url, {}, LIMITS)).rejects.toMatchObject({ code: 'unreachable' })
    },
  )
})

describe('where it goes', () => {
  it('is the guard’s to say, for addresses and for names that stand for them', async () => {
    const guard = createGuard({ deny: readRules(['127.0.0.0/8', '*.internal']).rules })
    const resolve: Parameters<typeof createGuardedFetch>[0]['resolve'] = (
      _host,
      _options,
      done,
    ) => {
      done(null, [{ address: '127.0.0.1', family: 4 }])
    }
    const guarded = createGuardedFetch({ guard, extraCa: [], resolve })
    asked.length = 0
    for (const url of [plain, plain.replace('127.0.0.1', 'idp.example')])
      await expect(guarded(`${url}/ok`, {}, LIMITS)).rejects.toMatchObject({
        code: 'unreachable',
        cause: { name: 'DestinationError' },
      })

    expect(asked).toEqual([])
  })
})

describe('over TLS', () => {
  it('trusts the CA of this peer alone', async () => {
    const response = await fetch(`${secure}/ok`, {}, { ...LIMITS, ca: authority.cert })

    expect(await response.text()).toBe('ok')
    await expect(fetch(`${secure}/ok`, {}, LIMITS)).rejects.toMatchObject({ code: 'unreachable' })
    await expect(
      fetch(`${secure}/ok`, {}, { ...LIMITS, ca: createCertificateAuthority('other').cert }),
    ).rejects.toMatchObject({ code: 'unreachable' })
  })

  it('trusts the CAs of the gateway', async () => {
    const trusting = createGuardedFetch({ guard: createGuard(), extraCa: [authority.cert] })

    expect(await (await trusting(`${secure}/ok`, {}, LIMITS)).text()).toBe('ok')
  })
})
