// Connections that show a client certificate: whose requests they carry, and who suffers from a wrong one.

import { createSecureContext } from 'node:tls'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Resolve } from '../../../dataplane/name-lookup.ts'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../dataplane/upstream/pooled-upstream.ts'
import type { ClientTls } from '../../../dataplane/upstream/upstream.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { ask } from './servers.ts'

const ca = createCertificateAuthority('CA')
const strangers = createCertificateAuthority('strangers')

const tlsOf = (name: string, of = ca): ClientTls => {
  const { cert, key } = of.issue(name)
  return {
    id: name,
    secureContext: createSecureContext({ cert, key, ca: [ca.cert] }),
    serverName: undefined,
  }
}

let server: Server
let origin = ''
let connections = 0

beforeAll(async () => {
  const { cert, key } = ca.issue('upstream.test')
  const options = { cert, key, ca: [ca.cert], requestCert: true, rejectUnauthorized: false }
  server = createServer(options, (request, response) => {
    const socket = request.socket as unknown as TLSSocket
    if (!socket.authorized) {
      socket.destroy()
      return
    }
    response.end(String(socket.getPeerCertificate().subject.CN))
  })
  server.on('secureConnection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `https://upstream.test:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const resolve: Resolve = (_host, _options, callback) => {
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ])
}

it('are used again for the same certificate, and for no other', async () => {
  const upstream = createUpstream({
    guard: createGuard(),
    resolve: (_host, _options, callback) => {
      callback(null, [{ address: '127.0.0.1', family: 4 }])
    },
  })
  connections = 0
  const [one, other] = [tlsOf('one'), tlsOf('other')]
  const bodies: string[] = []
  for (const tls of [one, one, other, one])
    bodies.push((await ask(upstream, { origin, tls }).done).body)
  expect(bodies).toEqual(['one', 'one', 'other', 'one'])
  expect(connections).toBe(2)
  await upstream.close()
})

it('of a wrong certificate take no address from others', async () => {
  const upstream = createUpstream({ guard: createGuard(), resolve })
  const wrong = tlsOf('wrong', strangers)
  for (let at = 0; at < 12; at++) {
    const { error } = await ask(upstream, { origin, tls: wrong, realm: 'theirs' }).done
    expect(error).toBeDefined()
  }
  const right = tlsOf('right')
  expect((await ask(upstream, { origin, tls: right, realm: 'ours' }).done).body).toBe('right')
  const ofOurs = upstream
    .view(true)
    .origins.flatMap(({ troubles }) => troubles)
    .filter(({ realm }) => realm !== 'theirs')
  expect(ofOurs).toEqual([])
  await upstream.close()
})
