// What the status of a Realm says of identity providers that gateways can't discover.

import { describe, expect, it } from '@jest/globals'
import type {
  FailingCredential,
  FailingProvider,
  ProviderCause,
} from '../../../../language/wire/wire.ts'
import type { DataPlaneReport } from '../../../../operator/data-plane.ts'
import { Reconciler } from '../../../../operator/reconcile/reconciler.ts'
import {
  type ResourceStatus,
  StatusRegistry,
} from '../../../../operator/reconcile/status/status-registry.ts'
import type { Condition } from '../../../../operator/resource/condition.ts'
import { cacheOf, resourceOf } from '../../../support/resources.ts'

const KEY = 'Realm/default/shop'
const cache = cacheOf([resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })])

type Report = Partial<DataPlaneReport>

const failing = (...failingProviders: readonly FailingProvider[]): Report => ({
  realms: new Map([['com.shop', { digest: 'd', sessions: [], failingProviders }]]),
})
const WORKING: Report = { realms: new Map([['com.shop', { digest: 'd', sessions: [] }]]) }

const reportOf = (name: string, more: Report): DataPlaneReport => ({
  dataPlane: { name, url: `http://${name}`, labels: {} },
  phase: 'synced',
  message: '',
  ready: true,
  documents: new Map(),
  realms: new Map(),
  realmsGiven: new Set(['com.shop']),
  rejected: { documents: new Map(), realms: new Map() },
  ...more,
})

class Operator {
  readonly #results = new Reconciler({ className: 'svc' }).reconcile(cache).results
  readonly #book = new StatusRegistry()
  #nowMs = 0

  take(...reports: readonly Report[]): ResourceStatus | undefined {
    this.#nowMs += 60_000
    const named = reports.map((each, at) => reportOf(`g${at}`, each))
    return this.#book.update(this.#results, named, this.#nowMs).get(KEY)
  }
}

const find = (status: ResourceStatus | undefined, type: string): Condition | undefined =>
  status?.conditions.find((each) => each.type === type)

const DNS: FailingProvider = { provider: 'corp', cause: 'dns' }

describe('a Realm whose provider gateways can not discover', () => {
  it('is Degraded until it works again, and stays Ready', () => {
    const operator = new Operator()
    expect(find(operator.take(WORKING, WORKING), 'Degraded')).toBeUndefined()
    const failed = operator.take(WORKING, failing(DNS))
    expect(find(failed, 'Degraded')).toMatchObject({
      status: 'True',
      reason: 'ProviderUnavailable',
      message:
        "g1: no login is possible with provider 'corp', as the name of its issuer is not found: correct issuer",
    })
    const { message } = find(failed, 'Degraded') ?? {}
    expect(find(failed, 'Ready')).toMatchObject({ status: 'True', reason: 'Degraded', message })
    const again = operator.take(WORKING, WORKING)
    expect(find(again, 'Degraded')).toBeUndefined()
    expect(find(again, 'Ready')).toMatchObject({ status: 'True', reason: 'Ready' })
  })

  it('advises the issuer of a tenant where the provider names that of many', () => {
    const found = 'https://idp.example/{tenantid}/v2.0'
    const issuer = { provider: 'corp', cause: 'issuer', found } as const
    expect(find(new Operator().take(failing(issuer)), 'Degraded')?.message).toBe(
      `g0: no login is possible with provider 'corp', as its metadata names another issuer (${found}): ` +
        'that one is of many tenants: write the issuer of yours',
    )
  })

  it('has the issuer that the provider names, and what to do', () => {
    const issuer = { provider: 'corp', cause: 'issuer', found: 'https://idp.example/' } as const
    expect(find(new Operator().take(failing(issuer)), 'Degraded')?.message).toBe(
      "g0: no login is possible with provider 'corp', as its metadata names another issuer (https://idp.example/): " +
        'write issuer exactly as its metadata does, with or without a slash at the end',
    )
  })

  it('changes its words with the cause', () => {
    const operator = new Operator()
    const causes = ['dns', 'refused', 'tls'] satisfies readonly ProviderCause[]
    const messages = causes.map(
      (cause) => find(operator.take(failing({ ...DNS, cause })), 'Degraded')?.message,
    )
    expect(new Set(messages).size).toBe(3)
  })

  it('names three providers and one gateway at most, within the bound of a message', () => {
    const many = Array.from({ length: 8 }, (_, at) => ({
      provider: `p${at}${'x'.repeat(300)}`,
      cause: 'status' as const,
    }))
    const message = find(new Operator().take(failing(...many), failing(DNS)), 'Degraded')?.message
    expect(message).toMatch(/^g0 and others: no login is possible with provider 'p0x/)
    expect(Buffer.byteLength(message ?? '')).toBeLessThanOrEqual(1024)
  })

  it.each<[string, Report]>([
    ['is not ready', { ...failing(DNS), ready: false }],
    ['was not given it', { ...failing(DNS), realmsGiven: new Set() }],
    [
      'is a sidecar of another namespace',
      { ...failing(DNS), dataPlane: { name: 'z', url: 'http://z', labels: {}, namespace: 'b' } },
    ],
  ])('is not Degraded by what a gateway says that %s', (_, report) => {
    expect(find(new Operator().take(WORKING, report), 'Degraded')).toBeUndefined()
  })
})

describe('a Realm with a credential that is of no use', () => {
  const failingCredential = (...failingCredentials: readonly FailingCredential[]): Report => ({
    realms: new Map([['com.shop', { digest: 'd', sessions: [], failingCredentials }]]),
  })

  it.each<[FailingCredential, RegExp]>([
    [
      { credential: 'billing', cause: 'invalid_client' },
      /^g0: credential 'billing': its token endpoint does not accept the client: compare clientId/,
    ],
    [
      { credential: 'billing', cause: 'oauth_error', found: 'invalid_scope' },
      /refuses \(invalid_scope\)/,
    ],
    [
      { credential: 'billing', cause: 'certificate_ends', found: '2030-01-01T00:00:00Z' },
      /expires soon, requests are still sent with it \(2030-01-01T00:00:00Z\)/,
    ],
  ])('is Degraded: %j', (credential, words) => {
    const operator = new Operator()
    const failed = operator.take(failingCredential(credential), WORKING)
    expect(find(failed, 'Degraded')).toMatchObject({
      status: 'True',
      reason: 'CredentialUnavailable',
      message: expect.stringMatching(words),
    })
    expect(find(operator.take(WORKING, WORKING), 'Degraded')).toBeUndefined()
  })
})
