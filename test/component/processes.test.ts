// A gateway of several processes is one gateway: what a load has acknowledged, every worker serves.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createCertificateAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { loopbackAddresses } from '../support/loopback-addresses.ts'
import { mountSecret, type MountedSecret } from '../support/mounted-secret.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { answers, api, load } from './gateway-client.ts'

const authority = createCertificateAuthority('authority')
let dir: TempDir
let tlsPort: number
let gateway: GatewayProcess
let origin: string

beforeAll(async () => {
  dir = await makeTempDir()
  tlsPort = await freePort()
  const tls = ['--public-tls', `127.0.0.1:${tlsPort}`, '--tls-dir', dir.path]
  gateway = await startGateway({ flags: ['--processes', '2', '--public', ':0', ...tls] })
  origin = originAt('127.0.0.1')
})

afterAll(async () => {
  await gateway.kill()
  await dir[Symbol.asyncDispose]()
})

const originAt = (host: string): string => `http://${host}:${new URL(gateway.public).port}`

const read = async (path: string): Promise<unknown> => {
  const response = await request(`${origin}${path}`)
  return response.status === 200 ? response.json() : response.status
}

// Each test has a document of its own.
describe('two workers', () => {
  it.concurrent(
    'every process follows the certificates of --tls-dir, which may come late',
    async () => {
      await load(gateway, api('hosts', { '/x': answers('in TLS') }))
      const ask = async (servername: string): Promise<number> => {
        const tls = { ca: authority.cert, servername }
        return (await request(`https://127.0.0.1:${tlsPort}/hosts/x`, { tls })).status
      }
      await expect(ask('one.test')).rejects.toThrow('ECONNREFUSED')
      const mount = async (name: string): Promise<MountedSecret> => {
        const { cert, key } = authority.issue(name)
        return mountSecret(join(dir.path, name), { 'tls.crt': cert, 'tls.key': key })
      }
      const secret = await mount('one.test')
      await mount('two.test')
      const untilAll = (name: string): Promise<void> =>
        eventually(
          async () => {
            const statuses = await Promise.all(Array.from({ length: 8 }, () => ask(name)))
            expect(statuses).toEqual(Array.from({ length: 8 }, () => 200))
          },
          { withinMs: 20_000 },
        )
      await untilAll('one.test')
      await untilAll('two.test')
      const renewed = authority.issue('three.test')
      await secret.update({ 'tls.crt': renewed.cert, 'tls.key': renewed.key })
      await untilAll('three.test')
    },
    60_000,
  )

  it.concurrent('right after its 204 a load is served on every connection', async () => {
    for (const round of [1, 2, 3]) {
      await load(gateway, api('shared', { '/x': answers({ round }) }))
      const bodies = await Promise.all(Array.from({ length: 100 }, () => read('/shared/x')))
      expect(bodies).toEqual(Array.from({ length: 100 }, () => ({ round })))
    }
    await request(`${gateway.management}/api_specs/shared`, { method: 'DELETE' })
    const statuses = await Promise.all(Array.from({ length: 100 }, () => read('/shared/x')))
    expect(new Set(statuses)).toEqual(new Set([404]))
  })

  it.concurrent('a load under traffic drops no request and shows no mix', async () => {
    const version = (n: number): object => api('live', { '/x': answers({ a: n, b: n }) })
    await load(gateway, version(0))
    let isLoading = true
    const watch = async (): Promise<string[]> => {
      const faults: string[] = []
      while (isLoading) {
        const body = (await read('/live/x')) as { a: number; b: number }
        if (body.a !== body.b) faults.push(JSON.stringify(body))
      }
      return faults
    }
    const watches = Array.from({ length: 8 }, watch)
    for (let n = 1; n <= 30; n += 1) await load(gateway, version(n))
    isLoading = false
    expect((await Promise.all(watches)).flat()).toEqual([])
    expect(await read('/live/x')).toEqual({ a: 30, b: 30 })
  })

  it.concurrent.each(loopbackAddresses())(
    'listen with `:PORT` at every address: %s',
    async (host) => {
      await load(gateway, api('wide', { '/x': answers('everywhere') }))
      const url = `${originAt(host)}/wide/x`
      const answered = await Promise.all(Array.from({ length: 10 }, () => request(url)))
      expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([200]))
    },
  )
})

describe('the log is lines of JSON and nothing else', () => {
  /** What Node or V8 have to say of flags that they do not know would stand between. */
  const isOther = (line: string): boolean => !line.startsWith('{"')

  it('of two processes', () => {
    expect(gateway.logs().filter(isOther)).toEqual([])
  })

  it('of one', async () => {
    await using own = await startGateway()
    await load(own, api('quiet', { '/x': answers({}) }))
    expect((await request(`${own.public}/quiet/x`)).status).toBe(200)
    expect(own.logs().filter(isOther)).toEqual([])
  })
})

it('the end of the primary is the end of its workers', async () => {
  await load(gateway, api('orphan', { '/x': answers('x') }))
  await gateway.kill()
  await eventually(async () => {
    await expect(request(`${origin}/orphan/x`)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/)
  })
})
