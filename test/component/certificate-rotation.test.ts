// A real gateway whose management files are Secrets as a kubelet mounts them, and the operator's own client: who is
// let in, and that no request fails while every certificate and the CA itself are replaced.

import { connect } from 'node:tls'
import { once } from 'node:events'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CertificateManager } from '../../operator/certificates/certificate-manager.ts'
import { SECRET_NAMES } from '../../operator/certificates/certificate-names.ts'
import {
  issueAuthority,
  issueLeaf,
  type KeyPair,
  SYSTEM_RANDOM,
} from '../../operator/certificates/issue-certificate.ts'
import { DEFAULT_POLICY } from '../../operator/certificates/policy.ts'
import { ManagementClient } from '../../operator/fleet/management-client.ts'
import { createSilentLog } from '../../telemetry/log.ts'
import { createFakeSecrets } from '../operator/certificates/fake-secrets.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

const OWN = 'system'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PATIENCE = { withinMs: 20_000 }

/** The clock of the keeper runs ahead of the machine's by months: what it makes is valid now all the same. */
const POLICY = { ...DEFAULT_POLICY, skewMs: 400 * DAY_MS }

const secrets = createFakeSecrets()
const clock = createManualClock({ startMs: Date.now() })
const keeper = new CertificateManager({
  api: secrets.api,
  namespace: OWN,
  dataPlaneNamespaces: () => ['shop'],
  clientName: 'operator.test',
  policy: POLICY,
  clock,
  log: createSilentLog(),
  onChange: () => undefined,
})

let dir: TempDir
let gateway: GatewayProcess

beforeAll(async () => {
  keeper.lead()
  await keeper.credentialsFor('shop')
  await keeper.ensureNamespace('shop')
  dir = await makeTempDir()
  for (const name of ['tls.crt', 'tls.key', 'ca.crt'])
    await symlink(join('..data', name), join(dir.path, name))
  await mount()
  const at = (name: string): string => join(dir.path, name)
  gateway = await startGateway({
    flags: [
      '--management',
      '0.0.0.0:0',
      '--managed',
      'svc-operator',
      '--management-tls-cert',
      at('tls.crt'),
      '--management-tls-key',
      at('tls.key'),
      '--management-client-ca',
      at('ca.crt'),
      '--management-client-name',
      'operator.test',
    ],
  })
})

afterAll(async () => {
  await keeper.stop()
  await gateway.stop()
  await dir[Symbol.asyncDispose]()
})

let mounts = 0

/** A new directory, and a link to it that changes at once. */
const mount = async (): Promise<void> => {
  const name = `..${(mounts += 1)}`
  await mkdir(join(dir.path, name))
  for (const [key, text] of Object.entries(secrets.texts('shop', SECRET_NAMES.server) ?? {}))
    await writeFile(join(dir.path, name, key), text)
  await symlink(name, join(dir.path, '..next'))
  await rename(join(dir.path, '..next'), join(dir.path, '..data'))
}

const port = (): number => Number(new URL(gateway.management).port)

const ask = async (client: Partial<KeyPair>): Promise<number> => {
  const { tls } = await keeper.credentialsFor('shop')
  const { cert, key, ...trust } = tls
  const own = Object.keys(client).length === 0 ? { cert, key } : client
  const response = await request(`https://127.0.0.1:${port()}/api_specs?view=state`, {
    tls: { ...trust, ...own },
  })
  return response.status
}

const authorityTexts = (): Readonly<Record<string, string>> =>
  secrets.texts(OWN, SECRET_NAMES.authority) ?? {}

const life = { notBeforeMs: Date.now() - HOUR_MS, notAfterMs: Date.now() + DAY_MS }

const issue = (authority: KeyPair, usage: 'client' | 'server', name: string): Promise<KeyPair> =>
  issueLeaf(authority, { usage, names: [name], life }, SYSTEM_RANDOM)

const signer = (name: 'tls' | 'next'): KeyPair => ({
  cert: authorityTexts()[`${name}.crt`] ?? '',
  key: authorityTexts()[`${name}.key`] ?? '',
})

describe('who is let in', () => {
  it('the operator', async () => {
    expect(gateway.management).toMatch(/^https:/)
    expect(await ask({})).toBe(200)
  })

  it('no other client: another name is forbidden, another CA or use gets no connection', async () => {
    expect(await ask(await issue(signer('tls'), 'client', 'somebody.test'))).toBe(403)
    const stranger = await issueAuthority(life, SYSTEM_RANDOM)
    await expect(ask(await issue(stranger, 'client', 'operator.test'))).rejects.toThrow()
    await expect(ask(await issue(signer('tls'), 'server', 'operator.test'))).rejects.toThrow()
  })

  it('the operator speaks to the gateways of the namespace it means', async () => {
    const { tls } = await keeper.credentialsFor('other')
    await expect(request(`https://127.0.0.1:${port()}/ping`, { tls })).rejects.toThrow('altnames')
  })
})

describe('while requests flow', () => {
  const outcomes: string[] = []
  let isFlowing = true
  let flows: Promise<unknown> = Promise.resolve()

  beforeAll(() => {
    const dataPlane = { name: 'a', url: `https://127.0.0.1:${port()}`, labels: {} }
    const client = new ManagementClient(dataPlane, {
      credentials: () => keeper.credentialsFor('shop'),
      timeoutMs: 10_000,
    })
    const flow = async (): Promise<void> => {
      while (isFlowing) {
        const response = await client.state(undefined, { bytes: 100_000, values: 10_000 })
        outcomes.push('message' in response ? response.message : response.result)
        outcomes.push(await ask({}).then((status) => (status === 200 ? 'ok' : `${status}`), String))
        await sleep(20)
      }
      await client.close()
    }
    flows = flow()
  })

  afterAll(async () => {
    isFlowing = false
    await flows
  })

  const shown = async (): Promise<string> => {
    const { tls } = await keeper.credentialsFor('shop')
    const socket = connect({ ...tls, host: '127.0.0.1', port: port() })
    await once(socket, 'secureConnect')
    const certificate = socket.getPeerX509Certificate()?.toString() ?? ''
    socket.destroy()
    return certificate
  }

  /** Moves the keeper's clock, and waits until the gateway shows what the Secret then holds. */
  const pass = async (ms: number, isDone: () => boolean): Promise<void> => {
    clock.advance(ms)
    await eventually(() => {
      expect(isDone()).toBe(true)
    }, PATIENCE)
    await keeper.ensureNamespace('shop')
    await mount()
    await eventually(async () => {
      expect(await shown()).toBe(secrets.texts('shop', SECRET_NAMES.server)?.['tls.crt'])
    }, PATIENCE)
  }

  const isPrepared = (): boolean => Object.hasOwn(authorityTexts(), 'next.key')
  const bundleSize = (): number => authorityTexts()['ca.crt']?.match(/BEGIN/g)?.length ?? 0

  it('leaves and then the CA are replaced without one failure', async () => {
    const first = { ca: signer('tls').cert, server: await shown() }
    const client = (await keeper.credentialsFor('shop')).tls.cert
    const serverChanged = (): boolean =>
      secrets.texts('shop', SECRET_NAMES.server)?.['tls.crt'] !== first.server
    await pass(21 * DAY_MS, serverChanged)
    expect((await keeper.credentialsFor('shop')).tls.cert).not.toBe(client)

    await pass(230 * DAY_MS, isPrepared)
    const early = await issue(signer('next'), 'client', 'operator.test')
    await eventually(async () => {
      expect(await ask(early)).toBe(200)
    }, PATIENCE)
    expect(signer('tls').cert).toBe(first.ca)

    await pass(2 * HOUR_MS, () => signer('tls').cert !== first.ca)
    expect(bundleSize()).toBe(2)
    await pass(2 * HOUR_MS, () => bundleSize() === 1)

    const enough = outcomes.length + 20
    await eventually(() => {
      expect(outcomes.length).toBeGreaterThan(enough)
    }, PATIENCE)
    expect(outcomes.filter((outcome) => outcome !== 'ok')).toEqual([])
    expect(outcomes.length).toBeGreaterThan(40)
  }, 120_000)
})
