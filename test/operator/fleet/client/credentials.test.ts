import { writeFile } from 'node:fs/promises'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { createCredentialReader } from '../../../../operator/fleet/client/credentials.ts'
import { ManagementClient } from '../../../../operator/fleet/management-client.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { makeTempDir } from '../../../support/temp-dir.ts'

describe('credential files', () => {
  it('are read again when they change, and only then', async () => {
    await using dir = await makeTempDir()
    const tokenFile = join(dir.path, 'token')
    await writeFile(tokenFile, 'first\n')
    const read = createCredentialReader({ tokenFile, serverName: 'shop.gateway' })
    const first = await read()
    expect(first).toEqual({ token: 'first', tls: { servername: 'shop.gateway' } })
    expect(await read()).toBe(first)
    await writeFile(tokenFile, 'the second one')
    expect((await read()).token).toBe('the second one')
  })

  it('TLS material', async () => {
    await using dir = await makeTempDir()
    const [caFile, certFile, keyFile] = ['ca', 'cert', 'key'].map((name) => join(dir.path, name))
    for (const file of [caFile, certFile, keyFile]) await writeFile(file ?? '', 'pem')
    const read = createCredentialReader({
      caFile: caFile ?? '',
      certFile: certFile ?? '',
      keyFile: keyFile ?? '',
    })
    expect(await read()).toEqual({ tls: { ca: 'pem', cert: 'pem', key: 'pem' } })
  })

  it.each(['/nowhere/token', '/'])('%s cannot be read: named in the fault', async (tokenFile) => {
    await expect(createCredentialReader({ tokenFile })()).rejects.toThrow(tokenFile)
  })
})

describe('mutual TLS', () => {
  const BOUND = { bytes: 10_000, values: 1_000 }

  const STATE = JSON.stringify({
    bootId: 'b',
    version: 1,
    manager: 'op',
    epoch: 1,
    rootDigest: 'r',
    complete: true,
    specs: {},
    realms: {},
  })

  it('shows our certificate, knows the name of theirs, and says what is wrong', async () => {
    const ca = createCertificateAuthority('test CA')
    const other = createCertificateAuthority('other CA')
    const server = createServer(
      { ...ca.issue('shop.gateway'), ca: ca.cert, requestCert: true, rejectUnauthorized: true },
      (_request, response) => {
        response.end(STATE)
      },
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const own = ca.issue('operator')
    const ask = async (tls: object): Promise<string> => {
      const client = new ManagementClient(
        { name: 'a', url, labels: {} },
        { credentials: () => Promise.resolve({ tls }), timeoutMs: 10_000 },
      )
      const response = await client.state(undefined, BOUND)
      await client.close()
      return response.result === 'failed' ? response.message : response.result
    }
    try {
      expect(await ask({ ...own, ca: ca.cert, servername: 'shop.gateway' })).toBe('ok')
      expect(await ask({ ...own, ca: other.cert, servername: 'shop.gateway' })).toContain(
        '--management-ca',
      )
      expect(await ask({ ...own, ca: ca.cert, servername: 'other.gateway' })).toContain(
        '--management-server-name',
      )
      expect(await ask({ ca: ca.cert, servername: 'shop.gateway' })).not.toBe('ok')
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('a unix socket', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'management.sock')
    const server = createPlainServer((_request, response) => {
      response.end(STATE)
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const client = new ManagementClient(
      { name: 'a', url: `unix:${path}`, labels: {} },
      { credentials: () => Promise.resolve({ tls: {} }), timeoutMs: 10_000 },
    )
    expect((await client.state(undefined, BOUND)).result).toBe('ok')
    expect((await client.source('a/b')).result).toBe('ok')
    await client.close()
    expect((await client.state(undefined, BOUND)).result).toBe('failed')
    server.close()
  })
})
