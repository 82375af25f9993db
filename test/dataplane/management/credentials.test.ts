import { afterEach, describe, expect, it } from '@jest/globals'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, IncomingMessage } from 'node:http'
import { createServer as createTlsServer, request } from 'node:https'
import { type AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import {
  allowAll,
  bearerAuthorizer,
  clientCertificateAuthorizer,
  openTokenFile,
} from '../../../dataplane/management/credentials.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import type { Authorize } from '../../../web/browser-access.ts'
import { eventually } from '../../support/eventually.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import * as pki from './certificates.ts'

const withHeader = (authorization?: string): IncomingMessage => {
  const req = new IncomingMessage(new Socket())
  if (authorization !== undefined) req.headers.authorization = authorization
  return req
}

describe('bearerAuthorizer', () => {
  const authorize = bearerAuthorizer(() => ['first-token', 'second-token'])

  it.each([
    ['Bearer first-token', true],
    ['bearer  second-token ', true],
    ['Bearer third-token', false],
    ['Bearer first-token second-token', false],
    ['Bearer first-toke', false],
    ['Bearer', false],
    ['Basic first-token', false],
    [undefined, false],
  ])('%s', (header, isLetIn) => {
    expect(authorize(withHeader(header)) === true).toBe(isLetIn)
  })

  it.each([
    ['Basic Zm9v', 'Bearer realm="management"'],
    ['Bearer third-token', 'Bearer realm="management", error="invalid_token"'],
  ])('says how after %s', (header, challenge) => {
    expect(authorize(withHeader(header))).toEqual({
      status: 401,
      headers: { 'www-authenticate': challenge },
    })
  })

  it('lets no client in when there are no tokens', () => {
    expect(bearerAuthorizer(() => [])(withHeader('Bearer x'))).not.toBe(true)
  })

  it('is not called at all on loopback', () => {
    expect(allowAll(withHeader())).toBe(true)
  })
})

describe('openTokenFile', () => {
  it('reads lines, and again when they change, and keeps them when the file is gone', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'token')
    const file = await openTokenFile({ path, log: createSilentLog(), everyMs: 5 })
    try {
      expect(file.tokens()).toEqual([])
      await writeFile(path, 'one\n')
      await eventually(() => {
        expect(file.tokens()).toEqual(['one'])
      })
      await writeFile(path, ' one \r\n\ntwo\n')
      await eventually(() => {
        expect(file.tokens()).toEqual(['one', 'two'])
      })
      await rm(path)
      await file.refresh()
      expect(file.tokens()).toEqual(['one', 'two'])
    } finally {
      file.close()
    }
  })
})

describe('clientCertificateAuthorizer', () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  /** The verdict on a connection made with `credential`. */
  const verdictOn = async (
    authorize: Authorize,
    credential?: pki.Credential,
  ): Promise<ReturnType<Authorize>> => {
    const server = createTlsServer(
      { ...pki.SERVER, ca: pki.AUTHORITY, requestCert: true, rejectUnauthorized: false },
      (req, res) => {
        res.end(JSON.stringify(authorize(req)))
      },
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(
      () =>
        new Promise((resolve) =>
          server.close(() => {
            resolve()
          }),
        ),
    )
    const { port } = server.address() as AddressInfo
    const text = await new Promise<string>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, ca: pki.AUTHORITY, agent: false, ...credential }
      request(options, (res) => {
        let body = ''
        res.on('data', (chunk: Buffer) => (body += chunk.toString()))
        res.on('end', () => {
          resolve(body)
        })
      })
        .on('error', reject)
        .end()
    })
    return JSON.parse(text) as ReturnType<Authorize>
  }

  const NAME = 'operator.gateway.svc.dev'

  it.each([
    ['a SAN that is the name', NAME, pki.NAMED, true],
    ['another SAN of the same certificate', 'svc-operator', pki.NAMED, true],
    ['the common name, without a SAN', NAME, pki.COMMON, true],
    [
      'the common name, beside a SAN of another name',
      NAME,
      pki.HIDDEN,
      { status: 403, headers: {} },
    ],
    ['a wildcard', NAME, pki.WILDCARD, { status: 403, headers: {} }],
    ['a name that begins with a dot', '.gateway.svc.dev', pki.NAMED, { status: 403, headers: {} }],
    ['another authority', NAME, pki.FOREIGN, { status: 401, headers: {} }],
    ['no certificate', NAME, undefined, { status: 401, headers: {} }],
  ])('%s', async (_name, name, credential, verdict) => {
    expect(await verdictOn(clientCertificateAuthorizer(name), credential)).toEqual(verdict)
  })

  it('lets no client in over plain HTTP', async () => {
    const server = createServer((req, res) => {
      res.end(JSON.stringify(clientCertificateAuthorizer(NAME)(req)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(
      () =>
        new Promise((resolve) =>
          server.close(() => {
            resolve()
          }),
        ),
    )
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect(await response.json()).toEqual({ status: 401, headers: {} })
  })
})
