// Certificates made for tests must convince a real TLS stack.

import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it } from '@jest/globals'
import { createCertificateAuthority } from './certificates.ts'
import { request } from './http-request.ts'

it('a certificate names its owner and is signed by its CA', () => {
  const ca = createCertificateAuthority('test CA')
  const issued = new X509Certificate(ca.issue('gateway.test').cert)
  const root = new X509Certificate(ca.cert)
  expect(issued.subject).toBe('CN=gateway.test')
  expect(issued.checkHost('gateway.test')).toBe('gateway.test')
  expect(issued.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(issued.verify(root.publicKey)).toBe(true)
  expect(root.ca).toBe(true)
  expect(
    issued.verify(new X509Certificate(createCertificateAuthority('other').cert).publicKey),
  ).toBe(false)
})

it('serves and authenticates over TLS', async () => {
  const ca = createCertificateAuthority('test CA')
  const server = createServer(
    { ...ca.issue('gateway.test'), ca: ca.cert, requestCert: true },
    (_, response) => response.end('hello'),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  try {
    const client = { ca: ca.cert, ...ca.issue('client.test'), servername: 'gateway.test' }
    expect((await request(url, { tls: client })).text).toBe('hello')
    await expect(request(url, { tls: { ca: ca.cert } })).rejects.toThrow()
    await expect(
      request(url, { tls: { ...client, ca: createCertificateAuthority('other').cert } }),
    ).rejects.toThrow()
  } finally {
    server.close()
  }
})
