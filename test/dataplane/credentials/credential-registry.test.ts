// Which credential a request gets, where to, and for how long what is known of it is kept.

import { describe, expect, it } from '@jest/globals'
import {
  createCredentialRegistry,
  type CredentialUse,
} from '../../../dataplane/credentials/credential-registry.ts'
import type { AuthorizationResult } from '../../../dataplane/credentials/credential.ts'
import { watchCredentials } from '../../../dataplane/credentials/watch-credentials.ts'
import { MemoryState } from '../../../dataplane/shared/memory-state.ts'
import type { CredentialRecord, RealmRecord } from '../../../language/realm/record.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'

const ORIGIN = 'https://billing.example'
const CLIENT = { token_endpoint: 'https://idp.example/token', client_id: 'gw', client_secret: 's' }

const open = (
  credentials: Readonly<Record<string, CredentialRecord>>,
  { afterMs = 0, extraCa = [] }: { afterMs?: number; extraCa?: readonly string[] } = {},
) => {
  const clock = createManualClock({ startMs: Date.now() + afterMs })
  const room = {
    clock,
    forms: [] as string[],
    isAway: false,
    realm: { uri: 'com.acme', credentials } as RealmRecord,
    shared: new MemoryState({ now: () => clock.now() }),
  }
  const registry = createCredentialRegistry({
    realm: (uri) => (uri === room.realm.uri ? room.realm : undefined),
    fetch: (_url, { body }) => {
      room.forms.push(String(body))
      if (room.isAway)
        return Promise.reject(Object.assign(new Error('away'), { code: 'unreachable' }))
      return Promise.resolve(
        Response.json({
          access_token: `t${room.forms.length}`,
          token_type: 'bearer',
          expires_in: 100,
        }),
      )
    },
    shared: room.shared,
    extraCa,
    now: () => clock.now(),
    random: () => 0.5,
  })
  const ask = (more: Partial<CredentialUse> = {}): Promise<AuthorizationResult> =>
    new Promise((resolve) => {
      const use = {
        realmUri: 'com.acme',
        name: 'billing',
        origin: ORIGIN,
        rawHeaders: [],
        scheme: undefined,
        caller: undefined,
      }
      registry.authorize({ ...use, ...more }, resolve)
    })
  const said = async (more: Partial<CredentialUse> = {}): Promise<string | undefined> => {
    const result = await ask(more)
    return result.ok ? result.authorization.header : result.error.code
  }
  return Object.assign(room, { registry, ask, said })
}

describe('a credential', () => {
  it.each<[string, Partial<CredentialUse>, string]>([
    ['is sent to its origin', {}, 'Bearer x'],
    ['is not sent over http', { origin: 'http://billing.example' }, 'credential_origin'],
    ['is not sent to another port', { origin: 'https://billing.example:444' }, 'credential_origin'],
    [
      'is not sent to a name below it',
      { origin: 'https://a.billing.example' },
      'credential_origin',
    ],
    [
      'is not sent to a name that ends like it',
      { origin: 'https://evilbilling.example' },
      'credential_origin',
    ],
    [
      'is not sent to the name with a dot',
      { origin: 'https://billing.example.' },
      'credential_origin',
    ],
    ['is none of another name', { name: 'bank' }, 'credential_missing'],
    ['is none of another realm', { realmUri: 'com.other' }, 'credential_missing'],
    ['is no member of every object', { name: 'constructor' }, 'credential_missing'],
  ])('%s', async (_, use, expected) => {
    const { said } = open({
      billing: { origins: ['https://BILLING.example:443/'], bearer: { token: 'x' } },
    })
    expect(await said(use)).toBe(expected)
  })

  it('keeps its token over a change of the rest of the realm, and not over one of its own', async () => {
    const room = open({ billing: { origins: [ORIGIN], client_credentials: CLIENT } })
    expect(await room.said()).toBe('Bearer t1')
    room.realm = structuredClone({ ...room.realm, description: 'other' })
    expect(await room.said()).toBe('Bearer t1')
    const rotated = { ...CLIENT, client_secret: 'rotated' }
    room.realm = {
      ...room.realm,
      credentials: { billing: { origins: [ORIGIN], client_credentials: rotated } },
    }
    expect(await room.said()).toBe('Bearer t2')
    room.realm = { uri: 'com.acme' }
    expect(await room.said()).toBe('credential_missing')
  })

  it('is exchanged once for each caller, with bounds for all', async () => {
    const room = open({ billing: { origins: [ORIGIN], token_exchange: CLIENT } })
    const of = (token: string): Partial<CredentialUse> => ({
      rawHeaders: ['authorization', `Bearer ${token}`],
      scheme: 'oauth2',
    })
    expect([
      await room.said(of('alice')),
      await room.said(of('alice')),
      await room.said(of('bob')),
    ]).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2'])
    expect(await room.said({ rawHeaders: [], scheme: undefined })).toBe('credential_subject')
    room.isAway = true
    for (let caller = 0; caller < 100; caller++)
      expect(await room.said(of(`caller-${caller}`))).toBe('credential_token')
    // One that has just failed is not asked again for each caller.
    expect(room.forms).toHaveLength(3)
  })
})

describe('a certificate', () => {
  const ca = createCertificateAuthority('CA')
  const pair = ca.issue('gateway')
  const DAY_MS = 86_400_000
  const recordOf = (more: object = {}) => ({
    billing: {
      origins: [ORIGIN],
      certificate: { certificate: pair.cert, private_key: pair.key, ca: ca.cert, ...more },
    },
  })

  const UNUSABLE = 'credential_certificate'
  interface Expected {
    readonly code?: string
    readonly cause?: string
  }

  it.each<[string, object, number, Expected]>([
    ['good', {}, 0, {}],
    ['that ends soon', {}, DAY_MS * 0.9, { cause: 'certificate_ends' }],
    ['that has ended', {}, DAY_MS * 2, { code: UNUSABLE, cause: 'certificate_expired' }],
    ['that is to come', {}, -DAY_MS * 2, { code: UNUSABLE, cause: 'certificate_early' }],
    [
      'with the key of another',
      { private_key: ca.issue('x').key },
      0,
      { code: UNUSABLE, cause: 'certificate_invalid' },
    ],
    [
      'that is none',
      { certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      0,
      { code: UNUSABLE, cause: 'certificate_invalid' },
    ],
  ])('%s', async (_, more, afterMs, { code, cause }) => {
    const room = open(recordOf(more), { afterMs })
    expect(await room.said()).toBe(code)
    const found = Array.from(room.registry.inspect(room.realm), (each) => each?.cause)
    expect(found).toEqual([cause])
  })

  it('is looked at without its context, which is made for a request', async () => {
    let reads = 0
    const extraCa = new Proxy([ca.cert], {
      get: (target, key) => {
        reads++
        return Reflect.get(target, key) as unknown
      },
    })
    const room = open(recordOf({ ca: undefined }), { extraCa })
    expect([...room.registry.inspect(room.realm)]).toEqual([undefined])
    expect(reads).toBe(0)
    expect((await room.ask()).ok).toBe(true)
    expect(reads).toBeGreaterThan(0)
  })
})

describe('what fails', () => {
  it('is reported before a request comes, when it has lasted, and ends by itself', async () => {
    const room = open({
      billing: { origins: [ORIGIN], client_credentials: CLIENT },
      fixed: { origins: [ORIGIN], bearer: { token: 'x' } },
    })
    room.isAway = true
    const reports: string[] = []
    let look = (): void => undefined
    watchCredentials({
      credentials: room.registry,
      realms: () => [room.realm],
      report: (failing) =>
        reports.push(
          failing.map((each) => `${each.realmUri} ${each.credential} ${each.cause}`).join(),
        ),
      now: () => room.clock.now(),
      every: (_ms, callback) => (look = callback),
    })
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 10) {
        look()
        await room.clock.run(10_000)
        for (let turn = 0; turn < 5; turn++) await settled()
      }
    }
    await pass(20)
    expect(reports).toEqual([])
    await pass(60)
    expect(reports).toEqual(['com.acme billing refused'])
    room.isAway = false
    await pass(120)
    expect(reports).toEqual(['com.acme billing refused', ''])
    expect(await room.said()).toMatch(/^Bearer t/)
  })

  it('is looked for one by one, once at a time, and requests are served in between', async () => {
    const realm: RealmRecord = { uri: 'com.acme', credentials: {} }
    let looked = 0
    let look = (): void => undefined
    const reports: number[] = []
    watchCredentials({
      credentials: {
        *inspect() {
          for (let at = 0; at < 5; at++) {
            looked++
            yield { credential: `c${at}`, cause: 'certificate_expired' }
          }
        },
      },
      realms: () => [realm, realm],
      report: (failing) => reports.push(failing.length),
      now: () => 0,
      every: (_ms, callback) => (look = callback),
    })
    look()
    look()
    expect(looked).toBe(1)
    await eventually(() => {
      expect(reports).toEqual([10])
    })
    expect(looked).toBe(10)
  })
})
