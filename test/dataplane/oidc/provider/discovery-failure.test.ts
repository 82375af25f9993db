// Asks, over real sockets, in which word the discovery of a provider is said to have failed.

import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type ServerResponse } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { discoveryFailureOf } from '../../../../dataplane/oidc/provider/discovery-failure.ts'
import { discoverProvider } from '../../../../dataplane/oidc/provider/provider-client.ts'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import {
  createGuardedFetch,
  type GuardedFetchOptions,
} from '../../../../dataplane/upstream/destinations/guarded-fetch.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { providerRecord } from '../room.ts'

interface Peer extends AsyncDisposable {
  /** `127.0.0.1:port` */
  readonly host: string
}

const listening = async (server: Server, sockets = new Set<Socket>()): Promise<Peer> => {
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const answering = (answer: (response: ServerResponse, host: string) => void): Promise<Peer> =>
  listening(
    createServer((request, response) => {
      answer(response, request.headers.host ?? '')
    }),
  )

const json = (
  response: ServerResponse,
  body: Readonly<Record<string, unknown>> | string,
  status = 200,
): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

const metadata = (issuer: string): Readonly<Record<string, unknown>> => ({
  issuer,
  authorization_endpoint: 'https://idp.example/authorize',
  token_endpoint: 'https://idp.example/token',
  jwks_uri: 'https://idp.example/jwks',
})

const socketThat = (act: (socket: Socket) => void): Promise<Peer> =>
  listening(
    createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        act(socket)
      })
    }),
  )

/** No name exists. */
const resolve: GuardedFetchOptions['resolve'] = (name, _options, callback) => {
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), [])
}

const discover = async (
  issuer: string,
  { isPlainAllowed = true, timeoutMs }: { isPlainAllowed?: boolean; timeoutMs?: number } = {},
): Promise<unknown> => {
  const fetch = createGuardedFetch({ guard: createGuard(), extraCa: [], resolve })
  const record = providerRecord(issuer, { allow_unsafe_http: isPlainAllowed })
  try {
    await discoverProvider(record, (url, init, limits) =>
      fetch(url, init, { ...limits, timeoutMs: timeoutMs ?? limits.timeoutMs }),
    )
  } catch (error) {
    return discoveryFailureOf(error)
  }
  throw new Error('the discovery has not failed')
}

type Respond = Parameters<typeof answering>[0]

describe('a discovery that fails', () => {
  it.each<[string, Respond, object]>([
    [
      'a status',
      (response) => {
        json(response, {}, 404)
      },
      { cause: 'status', found: '404' },
    ],
    [
      'what is not JSON',
      (response) => {
        json(response, '<html>')
      },
      { cause: 'metadata' },
    ],
    [
      'a page',
      (response) => {
        response.end('<html>')
      },
      { cause: 'metadata' },
    ],
    [
      'no issuer',
      (response) => {
        json(response, {})
      },
      { cause: 'metadata' },
    ],
    [
      'no endpoints',
      (response, host) => {
        json(response, { issuer: `http://${host}` })
      },
      { cause: 'metadata' },
    ],
    [
      'more than a mebibyte',
      (response) => {
        json(response, `"${'x'.repeat(1024 * 1024)}"`)
      },
      { cause: 'metadata' },
    ],
    [
      'the issuer of many tenants',
      (response) => {
        json(response, metadata('https://login.test/{tenantid}/v2.0'))
      },
      { cause: 'issuer', found: 'https://login.test/{tenantid}/v2.0' },
    ],
    [
      'another issuer',
      (response) => {
        json(response, metadata('https://idp.example/realms/main'))
      },
      { cause: 'issuer', found: 'https://idp.example/realms/main' },
    ],
    [
      'an issuer with a slash more',
      (response, host) => {
        json(response, metadata(`http://${host}/`))
      },
      { cause: 'issuer', found: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/) },
    ],
    [
      'an issuer that holds a password',
      (response) => {
        json(response, metadata('https://me:secret@idp.example'))
      },
      { cause: 'issuer' },
    ],
    [
      'an issuer with a query',
      (response) => {
        json(response, metadata('https://idp.example/?token=1'))
      },
      { cause: 'issuer' },
    ],
  ])('for %s', async (_, response, failure) => {
    await using peer = await answering(response)
    expect(await discover(`http://${peer.host}`)).toEqual(failure)
  })

  it.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['does not speak HTTP', (socket) => socket.end('220 mail.example ESMTP\r\n')],
  ])('for a peer that %s', async (_, act) => {
    await using peer = await socketThat(act)
    expect(await discover(`http://${peer.host}`)).toEqual({ cause: 'reset' })
  })

  it('for a peer that says nothing', async () => {
    await using peer = await socketThat(() => undefined)
    expect(await discover(`http://${peer.host}`, { timeoutMs: 50 })).toEqual({ cause: 'timeout' })
  })

  it('for TLS on a plain port, and for a certificate that is not trusted', async () => {
    await using plain = await socketThat((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const server = createTlsServer(createCertificateAuthority('a CA').issue('idp.example'))
    await using untrusted = await listening(server)
    expect(await discover(`https://${plain.host}`)).toEqual({ cause: 'tls' })
    expect(await discover(`https://${untrusted.host}`)).toEqual({ cause: 'tls' })
  })

  it.each([
    ['a port that nothing listens at', 'http://127.0.0.1:1', 'refused'],
    ['a name that there is not', 'http://no-such-host.test', 'dns'],
    ['an address that is denied', 'http://169.254.169.254', 'denied'],
  ])('for %s', async (_, issuer, cause) => {
    expect(await discover(issuer)).toEqual({ cause })
  })

  it('for http where only https is allowed, of the issuer or of an endpoint', async () => {
    const failure = { cause: 'plain_http' }
    expect(await discover('http://127.0.0.1:1', { isPlainAllowed: false })).toEqual(failure)
  })

  it('for anything else', () => {
    expect(discoveryFailureOf('text')).toEqual({ cause: 'metadata' })
    expect(discoveryFailureOf(undefined)).toEqual({ cause: 'metadata' })
  })
})
