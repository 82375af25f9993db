import { afterEach, describe, expect, it } from '@jest/globals'
import type { DataPlane } from '../../../operator/data-plane.ts'
import type { DesiredSet } from '../../../operator/desired-set.ts'
import { Connections, SecureContexts } from '../../../operator/fleet/client/connections.ts'
import type { Credentials } from '../../../operator/fleet/client/credentials.ts'
import { describeFailure } from '../../../operator/fleet/client/failure-words.ts'
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '../../support/certificates.ts'
import { aDocument, aRealm } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import type { FakeDataPlane } from '../../support/fake-data-plane.ts'
import {
  aFleet,
  allSynced,
  aPlane,
  closeAll,
  edited,
  many,
  named,
  report,
  synced,
  ToldDataPlanes,
} from './rig.ts'

afterEach(closeAll)

const nameOf = (namespace: string): string => `${namespace}.gateway.svc.dev`

/** As a data plane of a namespace listens: it lets in who shows a certificate of one of `clients`. */
const tlsOf = (
  namespace: string,
  ca: CertificateAuthority,
  clients: readonly CertificateAuthority[] = [ca],
) => ({
  ...ca.issue(nameOf(namespace)),
  ca: clients.map(({ cert }) => cert),
  requestCert: true,
  rejectUnauthorized: true,
})

const credentialsOf = (
  client: CertificateAuthority,
  trusted: readonly CertificateAuthority[],
): Credentials => ({
  tls: { ca: trusted.map(({ cert }) => cert).join('\n'), ...client.issue('svc-operator') },
})

const inNamespace = (namespace: string, plane: FakeDataPlane, name = namespace): DataPlane =>
  named(name, plane, { serverName: nameOf(namespace), namespace })

const everywhere = (count: number) => {
  const set = many(count)
  const documents = [...set.documents.values()].flatMap((document) =>
    ['shop', 'bank'].map((namespace) =>
      aDocument(`${namespace}-${document.id}`, {
        namespace,
        selector: {},
        realmUri: `com.${namespace}`,
      }),
    ),
  )
  const realms = ['shop', 'bank'].map((namespace) => aRealm(`com.${namespace}`, { namespace }))
  return {
    ...set,
    documents: new Map(documents.map((document) => [document.id, document])),
    realms: new Map(realms.map((realm) => [realm.uri, realm])),
  }
}

describe('mutual TLS per data plane', () => {
  it('each by the name of its namespace, with its own credentials', async () => {
    const [shopCa, bankCa] = [
      createCertificateAuthority('shop'),
      createCertificateAuthority('bank'),
    ]
    const shop = await aPlane(0, tlsOf('shop', shopCa))
    const bank = await aPlane(0, tlsOf('bank', bankCa))
    const told = new ToldDataPlanes()
    const credentials = new Map([
      ['shop', credentialsOf(shopCa, [shopCa])],
      ['bank', credentialsOf(bankCa, [bankCa])],
    ])
    const asked = new Set<string>()
    const { fleet } = aFleet([], {
      dataPlanes: told,
      credentials: ({ name, namespace = '' }) => {
        asked.add(name)
        const found = credentials.get(namespace)
        return found === undefined ? Promise.reject(new Error('none')) : Promise.resolve(found)
      },
    })
    fleet.apply(everywhere(2))
    told.tell([inNamespace('shop', shop), inNamespace('bank', bank)])
    await allSynced(fleet)
    expect([...shop.specs.keys()]).toEqual(['shop-d0000', 'shop-d0001'])
    expect([...bank.specs.keys()]).toEqual(['bank-d0000', 'bank-d0001'])
    expect(asked).toEqual(new Set(['shop', 'bank']))
  })

  it.each([
    [
      'a data plane of another namespace',
      (ca: CertificateAuthority) => tlsOf('bank', ca),
      /does not carry the name shop\.gateway\.svc\.dev/,
    ],
    [
      'a certificate of a foreign CA',
      (ca: CertificateAuthority) => tlsOf('shop', createCertificateAuthority('foreign'), [ca]),
      /a CA that this operator does not trust/,
    ],
    [
      'one that trusts another CA for its clients',
      (ca: CertificateAuthority) => tlsOf('shop', ca, [createCertificateAuthority('foreign')]),
      /client certificate|broke the connection/,
    ],
  ])('%s is sent nothing, and it is said why', async (_name, tlsFor, words) => {
    const ca = createCertificateAuthority('ours')
    const plane = await aPlane(0, tlsFor(ca))
    const told = new ToldDataPlanes()
    const credentials = credentialsOf(ca, [ca])
    const { fleet } = aFleet([], {
      dataPlanes: told,
      credentials: () => Promise.resolve(credentials),
      timeoutMs: 5_000,
    })
    fleet.apply(everywhere(1))
    told.tell([inNamespace('shop', plane)])
    await eventually(() => {
      expect(report(fleet).phase).toBe('unreachable')
      expect(report(fleet).message).toMatch(words)
    })
    expect(plane.calls).toEqual([])
  })

  it('a CA is replaced with overlap while documents are edited: no round fails', async () => {
    const [oldCa, newCa] = [createCertificateAuthority('old'), createCertificateAuthority('new')]
    const [first, second] = [
      await aPlane(0, tlsOf('shop', oldCa)),
      await aPlane(0, tlsOf('shop', oldCa)),
    ]
    const planes = [first, second]
    // So that every call shows certificates.
    for (const plane of planes) plane.isForgetful = true
    const told = new ToldDataPlanes()
    let current = credentialsOf(oldCa, [oldCa])
    const { fleet, reports } = aFleet([], {
      dataPlanes: told,
      credentials: () => Promise.resolve(current),
      timeoutMs: 5_000,
    })
    let desired: DesiredSet = everywhere(2)
    let edits = 0
    const edit = async (): Promise<void> => {
      edits += 1
      const digest = `edit-${edits}`
      desired = edited(
        desired,
        aDocument('shop-d0000', { namespace: 'shop', selector: {}, digest }),
      )
      fleet.apply(desired)
      await eventually(() => {
        expect(planes.map(({ specs }) => specs.get('shop-d0000')?.digest)).toEqual([digest, digest])
      })
    }
    fleet.apply(desired)
    told.tell(planes.map((plane, i) => inNamespace('shop', plane, `pod-${i}`)))
    await allSynced(fleet)
    await edit()
    // Both sides trust both; then one after the other shows a certificate of the new one; then the old one goes.
    const both = [oldCa, newCa]
    const renewAll = (tls: ReturnType<typeof tlsOf>): void => {
      for (const plane of planes) plane.renewTls(tls)
    }
    const steps: readonly (() => void)[] = [
      () => {
        renewAll(tlsOf('shop', oldCa, both))
      },
      () => (current = credentialsOf(oldCa, both)),
      () => {
        first.renewTls(tlsOf('shop', newCa, both))
      },
      () => (current = credentialsOf(newCa, both)),
      () => {
        renewAll(tlsOf('shop', newCa, both))
      },
      () => (current = credentialsOf(newCa, [newCa])),
      () => {
        renewAll(tlsOf('shop', newCa))
      },
    ]
    for (const step of steps) {
      step()
      await edit()
      await edit()
    }
    const phases = new Set(reports.map(({ phase }) => phase))
    for (const phase of ['unreachable', 'unauthorized'] as const) {
      expect(phases.has(phase)).toBe(false)
    }
    expect(fleet.counters()).toMatchObject({
      pushes: { failed: 0, refused: 0 },
      polls: { failed: 0 },
    })
  })

  it('a call that is under way while credentials change ends as if nothing had happened', async () => {
    const ca = createCertificateAuthority('ours')
    const plane = await aPlane(0, tlsOf('shop', ca))
    const told = new ToldDataPlanes()
    let current = credentialsOf(ca, [ca])
    const { fleet } = aFleet([], {
      dataPlanes: told,
      credentials: () => Promise.resolve(current),
      timeoutMs: 5_000,
    })
    plane.onMoment = () => {
      current = credentialsOf(ca, [ca])
    }
    fleet.apply(everywhere(2))
    told.tell([inNamespace('shop', plane)])
    await synced(fleet)
    expect(fleet.counters()).toMatchObject({ pushes: { failed: 0 }, polls: { failed: 0 } })
  })

  it('a client certificate that can not be used is reported in words', async () => {
    const ca = createCertificateAuthority('ours')
    const plane = await aPlane(0, tlsOf('shop', ca))
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], {
      dataPlanes: told,
      credentials: () => Promise.resolve({ tls: { ca: ca.cert, cert: 'no PEM', key: 'no PEM' } }),
    })
    fleet.apply(everywhere(1))
    told.tell([inNamespace('shop', plane)])
    await eventually(() => {
      expect(report(fleet)).toMatchObject({ phase: 'unreachable' })
      expect(report(fleet).message).not.toBe('')
    })
  })
})

describe('connections', () => {
  const PLANE: DataPlane = { name: 'a', url: 'https://127.0.0.1:1', labels: {} }

  it('are kept while credentials say the same, and recreated when they do not', async () => {
    const ca = createCertificateAuthority('ours')
    const connections = new Connections(PLANE, new SecureContexts())
    const first = credentialsOf(ca, [ca])
    const pool = connections.poolFor(first)
    expect(connections.poolFor({ tls: { ...first.tls } })).toBe(pool)
    expect(connections.poolFor({ ...first, token: 'another' })).toBe(pool)
    expect(connections.poolFor(credentialsOf(ca, [ca]))).not.toBe(pool)
    expect(pool.closed).toBe(true)
    await connections.destroy()
  })

  it('share what a certificate is read into', () => {
    const ca = createCertificateAuthority('ours')
    const contexts = new SecureContexts()
    const { tls } = credentialsOf(ca, [ca])
    expect(contexts.of(tls)).toBe(contexts.of(tls))
    expect(() => contexts.of({ cert: 'no PEM', key: 'no PEM' })).toThrow()
  })

  it.each([
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'shop.x', /does not carry the name shop\.x/],
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, undefined, /--management-server-name/],
    [{ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }, undefined, /--management-ca/],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'shop.x', /a CA that this operator does not trust/],
    [{ code: 'CERT_HAS_EXPIRED' }, 'shop.x', /expired/],
    [{ code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' }, 'shop.x', /client certificate/],
    [{ code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }, 'shop.x', /client certificate/],
    [{ code: 'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE' }, 'shop.x', /client certificate/],
    [{ code: 'constructor', message: 'odd' }, 'shop.x', /^odd$/],
    [{ name: 'TimeoutError' }, 'shop.x', /in time/],
    ['text', 'shop.x', /^text$/],
    [{}, 'shop.x', /^it failed$/],
  ])('%j of %s in words', (error, serverName, words) => {
    const plane = { ...PLANE, ...(serverName !== undefined && { serverName }) }
    expect(describeFailure(error, plane)).toMatch(words)
  })
})
