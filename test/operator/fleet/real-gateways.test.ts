// Gateway processes as data planes: mutual TLS, restarts, last good versions, another leader.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import type { DataPlane } from '../../../operator/data-plane.ts'
import type { DesiredDocument, DesiredSet } from '../../../operator/desired-set.ts'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import type { FleetOptions } from '../../../operator/fleet/fleet.ts'
import { RecoverSource } from '../../../operator/fleet/recover-source.ts'
import { digestOf, documentDigest } from '../../../language/wire/digest.ts'
import { readVersion } from '../../../telemetry/version.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../../support/certificates.ts'
import { aDesiredSet } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { type GatewayProcess, startGateway } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { aFleet, closeAll, closeLater, report, synced, ToldDataPlanes } from './rig.ts'

afterEach(closeAll)
// A process takes its time to start on a machine that is busy.
jest.setTimeout(60_000)

const SERVER_NAME = 'shop.gateway.svc.dev'
const WITHIN = { withinMs: 30_000 }

const textOf = (id: string, body: string) => ({
  id,
  host: `${id}.shop.test`,
  realm_uri: 'com.shop',
  versions: {
    v1: {
      base_path: '/v1',
      paths: { '/a': { get: { action: { type: 'static', body }, response: {} } } },
    },
  },
})

const aDocument = (id: string, body = 'first'): DesiredDocument => {
  const spec = textOf(id, body)
  return {
    id,
    spec,
    digest: digestOf(spec),
    since: 1,
    realmUri: 'com.shop',
    hosts: [],
    claims: [],
    namespace: 'shop',
    resource: `shop/${id}`,
  }
}

const REALM = {
  uri: 'com.shop',
  digest: digestOf({ uri: 'com.shop' }),
  record: { uri: 'com.shop' },
  namespace: 'default',
}

const desiredSet = (documents: readonly DesiredDocument[], version = 1): DesiredSet =>
  aDesiredSet(documents, { version, realmList: [REALM] })

/** Where a gateway of a namespace listens, whatever process it is. */
interface Place {
  readonly port: number
  readonly flags: readonly string[]
}

const filesOf = async (directory: TempDir, ca: CertificateAuthority): Promise<Place['flags']> => {
  const { cert, key } = ca.issue(SERVER_NAME)
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(directory.path, name)
    await writeFile(path, text)
    return path
  }
  return [
    '--management-tls-cert',
    await file('tls.crt', cert),
    '--management-tls-key',
    await file('tls.key', key),
    '--management-client-ca',
    await file('ca.crt', ca.cert),
    '--management-client-name',
    'operator.test',
  ]
}

const aPlace = async (files: Place['flags']): Promise<Place> => {
  const port = await freePort()
  const management = ['--managed', 'svc-operator', '--management', `127.0.0.1:${port}`]
  return { port, flags: [...management, ...files] }
}

const start = async ({ flags }: Place): Promise<GatewayProcess> => {
  const gateway = await startGateway({ flags })
  closeLater(() => gateway[Symbol.asyncDispose]())
  return gateway
}

const dataPlane = (name: string, { port }: Place, incarnation: string): DataPlane => ({
  name,
  incarnation,
  serverName: SERVER_NAME,
  labels: {},
  url: `https://127.0.0.1:${port}`,
})

const aRealFleet = (ca: CertificateAuthority, more: Partial<FleetOptions> = {}) => {
  const told = new ToldDataPlanes()
  const credentials = { tls: { ca: ca.cert, ...ca.issue('operator.test') } }
  const { fleet, reports } = aFleet([], {
    dataPlanes: told,
    credentials: () => Promise.resolve(credentials),
    clock: SYSTEM_CLOCK,
    pollMs: 200,
    timeoutMs: 10_000,
    version: readVersion(),
    ...more,
  })
  return { told, fleet, reports }
}

const answer = async (gateway: GatewayProcess, id: string): Promise<string> => {
  const headers = { host: `${id}.shop.test` }
  return (await request(`${gateway.public}/v1/a`, { headers })).text
}

describe('real gateways', () => {
  const ca = createCertificateAuthority('operator CA')
  let directory: TempDir
  let files: Place['flags']
  /** Of all tests that begin with whatever it holds. */
  let shared: { readonly place: Place; readonly gateway: GatewayProcess }

  beforeAll(async () => {
    directory = await makeTempDir()
    files = await filesOf(directory, ca)
    const place = await aPlace(files)
    shared = { place, gateway: await startGateway({ flags: place.flags }) }
  })

  afterAll(async () => {
    await shared.gateway[Symbol.asyncDispose]()
    await directory[Symbol.asyncDispose]()
  })

  it('hold what is desired, in compressed batches, and are reported by their version', async () => {
    const places = [await aPlace(files), await aPlace(files)]
    await Promise.all(places.map(start))
    const { told, fleet } = aRealFleet(ca)
    const documents = Array.from({ length: 250 }, (_, i) => aDocument(`d${i}`))
    fleet.apply(desiredSet(documents))
    told.tell(places.map((place, i) => dataPlane(`pod-${i}`, place, 'c1')))
    for (const index of [0, 1]) {
      await synced(fleet, index)
      expect(report(fleet, index)).toMatchObject({ version: readVersion(), ready: true })
      expect(report(fleet, index).documents.size).toBe(250)
    }
    expect(fleet.counters()).toMatchObject({
      pushes: { ok: 6, refused: 0, failed: 0 },
      items: { loaded: 502, rejected: 0 },
    })
    expect(fleet.counters().pushedBytes).toBeLessThan(60_000)
  })

  it('one that is killed and starts again is sent everything again, without disturbing the other', async () => {
    const place = await aPlace(files)
    const before = await start(place)
    const { told, fleet, reports } = aRealFleet(ca)
    fleet.apply(desiredSet([aDocument('a')]))
    const others = dataPlane('other', shared.place, 'c1')
    told.tell([dataPlane('pod', place, 'c1'), others])
    await synced(fleet, 0)
    await synced(fleet, 1)
    const seen = reports.length
    await before.kill()
    const after = await start(place)
    told.tell([dataPlane('pod', place, 'c2'), others])
    await eventually(async () => {
      expect(await answer(after, 'a')).toContain('first')
    }, WITHIN)
    const names = reports.slice(seen).map((each) => each.dataPlane.name)
    expect(new Set(names)).toEqual(new Set(['pod']))
  })

  it('a certificate of another name is not spoken to', async () => {
    const { told, fleet } = aRealFleet(ca)
    fleet.apply(desiredSet([aDocument('a')]))
    told.tell([{ ...dataPlane('pod', shared.place, 'c1'), serverName: 'bank.gateway.svc.dev' }])
    await eventually(() => {
      expect(report(fleet).message).toContain('does not carry the name bank.gateway.svc.dev')
    }, WITHIN)
  })

  it('a client of another name is refused, and it is said which setting decides', async () => {
    const credentials = { tls: { ca: ca.cert, ...ca.issue('somebody.test') } }
    const { told, fleet } = aRealFleet(ca, { credentials: () => Promise.resolve(credentials) })
    fleet.apply(desiredSet([aDocument('a')]))
    told.tell([dataPlane('pod', shared.place, 'c1')])
    await eventually(() => {
      expect(report(fleet)).toMatchObject({ phase: 'unauthorized', ready: false })
      expect(report(fleet).message).toContain('--management-client-name')
    }, WITHIN)
  })

  it('one gives the text of a version that no other has', async () => {
    const { told, fleet } = aRealFleet(ca)
    const secretVersions = [{ name: 's', uid: 'u', resourceVersion: '7' }]
    const plain = aDocument('plain')
    const secret: DesiredDocument = {
      ...aDocument('secret'),
      digest: documentDigest({ spec: textOf('secret', 'first'), secretVersions }),
      variables: { password: 's3cret' },
    }
    fleet.apply(desiredSet([plain, secret]))
    told.tell([dataPlane('pod', shared.place, 'c1')])
    await synced(fleet)
    const found = new Map<string, string>()
    const source = new RecoverSource({
      holders: (version) => fleet.holders(version),
      recover: ({ digest }: { readonly digest: string }, spec) => {
        found.set(digest, JSON.stringify(spec))
        const isGood =
          digest === digestOf(spec) || digest === documentDigest({ spec, secretVersions })
        return Promise.resolve(isGood)
      },
      onRecovered: () => undefined,
      clock: SYSTEM_CLOCK,
      log: createSilentLog(),
    })
    source.want(
      [plain.digest, secret.digest, 'unknown'].map((digest) => ({ digest, namespace: 'default' })),
    )
    await eventually(() => {
      expect([...found.keys()].sort()).toEqual([plain.digest, secret.digest].sort())
    }, WITHIN)
    source.stop()
    expect(found.get(secret.digest)).not.toContain('s3cret')
    expect(digestOf(JSON.parse(found.get(plain.digest) ?? 'null') as object as never)).toBe(
      plain.digest,
    )
  })

  it('a leader that lost its turn is refused by a later one’s epoch, and all ends right', async () => {
    const { place, gateway } = shared
    const epoch = Date.now()
    const lost: string[] = []
    const epochSource = (name: string, its: number) => ({
      epoch: () => its,
      challenge: () => {
        lost.push(name)
        return Promise.resolve(false)
      },
    })
    const first = aRealFleet(ca, { epochSource: epochSource('first', epoch) })
    first.fleet.apply(desiredSet([aDocument('a', 'of the first')]))
    first.told.tell([dataPlane('pod', place, 'c1')])
    await synced(first.fleet)
    const second = aRealFleet(ca, { epochSource: epochSource('second', epoch + 1) })
    second.fleet.apply(desiredSet([aDocument('a', 'of the second')], 2))
    second.told.tell([dataPlane('pod', place, 'c1')])
    await synced(second.fleet)
    first.fleet.apply(desiredSet([aDocument('a', 'too late')], 3))
    await eventually(() => {
      expect(report(first.fleet).phase).toBe('superseded')
    }, WITHIN)
    await first.fleet.stop()
    expect(lost.every((name) => name === 'first')).toBe(true)
    await eventually(async () => {
      expect(await answer(gateway, 'a')).toContain('of the second')
    }, WITHIN)
    expect(report(second.fleet)).toMatchObject({ phase: 'synced', ready: true })
  })
})
