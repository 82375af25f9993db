// The keeper on a fake API, its clock in our hand: what stands in which Secret after what has happened.

import { X509Certificate } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { CertificateManager } from '../../../operator/certificates/certificate-manager.ts'
import { SECRET_NAMES } from '../../../operator/certificates/certificate-names.ts'
import { DEFAULT_POLICY } from '../../../operator/certificates/policy.ts'
import { readBundle } from '../../../operator/certificates/read-certificate.ts'
import { OWNER_ANNOTATION } from '../../../operator/certificates/secret-store.ts'
import { ApiError } from '../../../operator/kubernetes/client/api.ts'
import {
  DATA_PLANE_SECRET,
  OPERATOR_SECRETS,
  REALM_KEYS_SECRET,
} from '../../../operator/resource/roles.ts'
import { createLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { createFakeSecrets, type FakeSecrets } from './fake-secrets.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'

const OWN = 'system'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const stopping: CertificateManager[] = []

afterEach(async () => {
  await Promise.all(stopping.splice(0).map((keeper) => keeper.stop()))
})

interface World {
  readonly secrets: FakeSecrets
  readonly clock: ManualClock
  readonly lines: string[]
  /** Each has one timer between two of its rounds. */
  readonly running: Set<CertificateManager>
}

const aWorld = (): World => ({
  secrets: createFakeSecrets(),
  clock: createManualClock(),
  lines: [],
  running: new Set(),
})

interface Options {
  readonly namespaces?: () => Iterable<string>
  readonly webhookNames?: readonly string[]
  readonly onChange?: () => void
  readonly owner?: string
  readonly awaitedNamespaces?: readonly string[]
}

const aKeeper = (world: World, options: Options = {}): CertificateManager => {
  const { secrets, clock, lines } = world
  const keeper = new CertificateManager({
    api: secrets.api,
    namespace: options.owner ?? OWN,
    dataPlaneNamespaces: options.namespaces ?? (() => ['shop']),
    awaitedNamespaces: options.awaitedNamespaces ?? [],
    clientName: 'operator.test',
    webhookNames: options.webhookNames ?? ['hook.system.svc'],
    clock,
    log: createLog({
      level: 'debug',
      name: 'test',
      destination: { write: (line) => lines.push(line) },
    }),
    onChange: options.onChange ?? (() => undefined),
  })
  stopping.push(keeper)
  world.running.add(keeper)
  return keeper
}

/** Until all have been at work: the end of a round asks the clock for the next. */
const settle = async ({ secrets, clock, running }: World): Promise<void> => {
  await eventually(
    async () => {
      const before = secrets.calls.length
      for (let i = 0; i < 5; i += 1) await settled()
      expect(clock.pending).toBe(running.size)
      expect(secrets.calls).toHaveLength(before)
    },
    // A round waits for nothing but keys that are made: a moment each.
    { everyMs: 1 },
  )
}

const pass = async (world: World, ms: number): Promise<void> => {
  world.clock.advance(ms)
  await settle(world)
}

const leading = async (world: World, options: Options = {}): Promise<CertificateManager> => {
  const keeper = aKeeper(world, options)
  keeper.lead()
  await settle(world)
  return keeper
}

const certificateOf = ({ secrets }: World, namespace: string, name: string): X509Certificate =>
  new X509Certificate(secrets.texts(namespace, name)?.['tls.crt'] ?? '')

const LEAVES = [
  [OWN, SECRET_NAMES.client],
  [OWN, SECRET_NAMES.webhook],
  ['shop', SECRET_NAMES.server],
] as const

const issuers = (world: World): readonly string[] =>
  LEAVES.map(([namespace, name]) => certificateOf(world, namespace, name).issuer)

const writes = ({ secrets }: World): number =>
  secrets.calls.filter((call) => !call.startsWith('get')).length

describe('at the beginning', () => {
  it('makes the CA and everything it signs', async () => {
    const world = aWorld()
    let changes = 0
    const keeper = await leading(world, { onChange: () => (changes += 1) })
    const ca = certificateOf(world, OWN, SECRET_NAMES.authority)
    expect(issuers(world)).toEqual([ca.subject, ca.subject, ca.subject])
    expect(
      LEAVES.map(([namespace, name]) => certificateOf(world, namespace, name).subjectAltName),
    ).toEqual(['DNS:operator.test', 'DNS:hook.system.svc', 'DNS:shop.gateway.svc.dev'])
    expect(changes).toBe(1)
    expect(keeper.caBundle()).toBe(ca.toString())
    expect(keeper.webhookCertificate()).toMatchObject({
      cert: world.secrets.texts(OWN, SECRET_NAMES.webhook)?.['tls.crt'],
    })
    expect(await keeper.credentialsFor('shop')).toEqual({
      tls: {
        ca: ca.toString(),
        cert: world.secrets.texts(OWN, SECRET_NAMES.client)?.['tls.crt'],
        key: world.secrets.texts(OWN, SECRET_NAMES.client)?.['tls.key'],
        servername: 'shop.gateway.svc.dev',
      },
    })
  })

  it('keeps the key of the CA to itself', async () => {
    const world = aWorld()
    await leading(world)
    const key = world.secrets.texts(OWN, SECRET_NAMES.authority)?.['tls.key'] ?? ''
    expect(key).toContain('PRIVATE KEY')
    for (const [namespace, name] of LEAVES) {
      expect(Object.values(world.secrets.texts(namespace, name) ?? {})).not.toContain(key)
      expect(Object.keys(world.secrets.texts(namespace, name) ?? {}).sort()).toEqual([
        'ca.crt',
        'tls.crt',
        'tls.key',
      ])
    }
  })

  it('never logs a key', async () => {
    const world = aWorld()
    await leading(world)
    const bodies = LEAVES.map(
      ([namespace, name]) => world.secrets.texts(namespace, name)?.['tls.key']?.split('\n')[1],
    )
    expect(world.lines.join('')).toContain('a certificate was issued')
    for (const body of bodies) expect(world.lines.join('')).not.toContain(body)
    expect(world.lines.join('')).not.toContain('PRIVATE')
  })

  it('writes nothing more while all is well, and gives the same objects', async () => {
    const world = aWorld()
    let changes = 0
    const keeper = await leading(world, { onChange: () => (changes += 1) })
    const before = writes(world)
    const [credentials, webhook] = [
      await keeper.credentialsFor('shop'),
      keeper.webhookCertificate(),
    ]
    for (let hour = 0; hour < 48; hour += 1) await pass(world, HOUR_MS)
    expect(writes(world)).toBe(before)
    expect(changes).toBe(1)
    expect(await keeper.credentialsFor('shop')).toBe(credentials)
    expect(keeper.webhookCertificate()).toBe(webhook)
  })

  it('needs no webhook', async () => {
    const world = aWorld()
    const keeper = await leading(world, { webhookNames: [] })
    expect(world.secrets.texts(OWN, SECRET_NAMES.webhook)).toBeUndefined()
    expect(keeper.webhookCertificate()).toBeUndefined()
  })
})

describe('who does not lead', () => {
  it('writes nothing, and says that there is nothing yet', async () => {
    const world = aWorld()
    const keeper = aKeeper(world)
    keeper.start()
    await settle(world)
    await keeper.ensureNamespace('shop')
    expect(writes(world)).toBe(0)
    await expect(keeper.credentialsFor('shop')).rejects.toThrow('no client certificate yet')
  })

  it('reads what the leader has made', async () => {
    const world = aWorld()
    const leader = await leading(world)
    const standby = aKeeper(world)
    standby.start()
    expect(await standby.credentialsFor('shop')).toEqual(await leader.credentialsFor('shop'))
    expect(standby.webhookCertificate()).toEqual(leader.webhookCertificate())
    expect(standby.caBundle()).toBe(leader.caBundle())
    const asked = world.secrets.calls.filter((call) => call.includes(SECRET_NAMES.authority))
    expect(asked).toHaveLength(2)
  })

  it('has what the leader makes seconds later, as it answers webhooks, too', async () => {
    const world = aWorld()
    const standby = aKeeper(world)
    standby.start()
    await settle(world)
    const leader = await leading(world)
    expect(standby.webhookCertificate()).toBeUndefined()
    await pass(world, 2_000)
    expect(standby.webhookCertificate()).toEqual(leader.webhookCertificate())
    const calls = world.secrets.calls.length
    await pass(world, 10_000)
    expect(world.secrets.calls).toHaveLength(calls)
  })

  it('goes on with what it has read when that is damaged', async () => {
    const world = aWorld()
    const leader = await leading(world)
    await leader.stop()
    world.running.delete(leader)
    const standby = aKeeper(world)
    standby.start()
    const before = await standby.credentialsFor('shop')
    world.secrets.put(OWN, SECRET_NAMES.client, { 'tls.crt': 'x' })
    await pass(world, 2 * MINUTE_MS)
    expect(await standby.credentialsFor('shop')).toBe(before)
  })

  it('stops writing in the middle of it', async () => {
    const world = aWorld()
    const keeper = aKeeper(world)
    world.secrets.onCall = (call) => {
      if (call === `get secrets ${OWN}/${SECRET_NAMES.client}`) keeper.follow()
    }
    keeper.lead()
    await settle(world)
    expect(writes(world)).toBe(1)
    expect(keeper.failures.size).toBe(0)
    world.secrets.onCall = () => undefined
    keeper.lead()
    await settle(world)
    expect(writes(world)).toBe(4)
  })
})

describe('two that write at once', () => {
  it('never make two CAs', async () => {
    const world = aWorld()
    const [one, other] = [aKeeper(world), aKeeper(world)]
    one.lead()
    other.lead()
    await settle(world)
    await pass(world, 2 * MINUTE_MS)
    const ca = certificateOf(world, OWN, SECRET_NAMES.authority)
    expect(new Set(issuers(world))).toEqual(new Set([ca.subject]))
    expect(readBundle(one.caBundle())).toHaveLength(1)
    expect(await one.credentialsFor('shop')).toEqual(await other.credentialsFor('shop'))
  })

  it('give up after some tries, and try again later', async () => {
    const world = aWorld()
    world.secrets.onCall = (call) => {
      if (call.startsWith('create')) throw new ApiError('it is there', { status: 409 })
    }
    const keeper = aKeeper(world)
    keeper.lead()
    await settle(world)
    expect(writes(world)).toBe(5)
    expect([...keeper.failures]).toEqual([[OWN, 'it is there']])
    world.secrets.onCall = () => undefined
    await pass(world, MINUTE_MS)
    expect(keeper.failures.size).toBe(0)
    expect(keeper.caBundle()).toBeDefined()
  })
})

describe('what is due', () => {
  it('leaves: after two thirds of their life, each by itself', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    const before = await keeper.credentialsFor('shop')
    const serials = () => LEAVES.map(([at, name]) => certificateOf(world, at, name).serialNumber)
    const first = serials()
    await pass(world, 20 * DAY_MS - HOUR_MS)
    expect(serials()).toEqual(first)
    await pass(world, 2 * HOUR_MS)
    const second = serials()
    for (const [i, serial] of second.entries()) expect(serial).not.toBe(first[i])
    expect((await keeper.credentialsFor('shop')).tls.cert).not.toBe(before.tls.cert)
    expect((await keeper.credentialsFor('shop')).tls.ca).toBe(before.tls.ca)
  })

  it('the CA: trusted before it signs, the old one until no program shows what it signed', async () => {
    const world = aWorld()
    await leading(world)
    const old = certificateOf(world, OWN, SECRET_NAMES.authority)
    const bundle = () =>
      readBundle(world.secrets.texts('shop', SECRET_NAMES.server)?.['ca.crt']).map(
        ({ x509 }) => x509.subject,
      )
    for (let day = 0; day < 243; day += 10) await pass(world, 10 * DAY_MS)
    // Prepared: both are trusted, the old one signs.
    expect(bundle()).toHaveLength(2)
    expect(bundle()[0]).toBe(old.subject)
    expect(new Set(issuers(world))).toEqual(new Set([old.subject]))
    await pass(world, HOUR_MS / 2)
    expect(certificateOf(world, OWN, SECRET_NAMES.authority).subject).toBe(old.subject)
    await pass(world, HOUR_MS)
    const current = certificateOf(world, OWN, SECRET_NAMES.authority)
    expect(current.subject).not.toBe(old.subject)
    expect(new Set(issuers(world))).toEqual(new Set([current.subject]))
    expect([...bundle()].sort()).toEqual([old.subject, current.subject].sort())
    await pass(world, HOUR_MS / 2)
    expect(bundle()).toHaveLength(2)
    await pass(world, HOUR_MS)
    expect(bundle()).toEqual([current.subject])
    expect(Object.keys(world.secrets.texts(OWN, SECRET_NAMES.authority) ?? {})).not.toContain(
      'next.key',
    )
  })

  it('a namespace that cannot be reached holds the CA back, but not to its end', async () => {
    const world = aWorld()
    const keeper = await leading(world, { namespaces: () => ['shop', 'closed'] })
    const old = certificateOf(world, OWN, SECRET_NAMES.authority)
    const current = () => certificateOf(world, OWN, SECRET_NAMES.authority).subject
    world.secrets.onCall = (call) => {
      if (call.includes('closed/')) throw new ApiError('no', { status: 403 })
    }
    await pass(world, 250 * DAY_MS)
    await pass(world, 10 * DAY_MS)
    expect(current()).toBe(old.subject)
    expect(keeper.failures.get('closed')).toContain('allow it with: kubectl create rolebinding')
    await pass(world, 80 * DAY_MS)
    expect(current()).not.toBe(old.subject)
  })
})

describe('when what is kept ends', () => {
  it('is reported by Secret, of all namespaces the first', async () => {
    const world = aWorld()
    const keeper = await leading(world, { namespaces: () => ['shop', 'billing'] })
    const endOf = (name: string, namespace = OWN): number =>
      certificateOf(world, namespace, name).validToDate.getTime()
    expect(Object.fromEntries(keeper.endsMs)).toEqual({
      [SECRET_NAMES.authority]: endOf(SECRET_NAMES.authority),
      [SECRET_NAMES.client]: endOf(SECRET_NAMES.client),
      [SECRET_NAMES.webhook]: endOf(SECRET_NAMES.webhook),
      [SECRET_NAMES.server]: Math.min(
        endOf(SECRET_NAMES.server, 'shop'),
        endOf(SECRET_NAMES.server, 'billing'),
      ),
    })
  })

  it('a standby reports what it holds alone', async () => {
    const world = aWorld()
    const keeper = await leading(world, { namespaces: () => ['shop'] })
    keeper.follow()
    expect([...keeper.endsMs.keys()]).toEqual([SECRET_NAMES.client, SECRET_NAMES.webhook])
  })
})

describe('what was damaged or deleted by hand', () => {
  it.each<[string, (texts: Readonly<Record<string, string>>) => Record<string, string>]>([
    ['certificate', (texts) => ({ ...texts, 'tls.crt': 'x' })],
    ['key', (texts) => ({ ...texts, 'tls.key': 'x' })],
    ['bundle', (texts) => ({ ...texts, 'ca.crt': 'x' })],
    ['all', () => ({})],
  ])('%s of a leaf: made again', async (_, damage) => {
    for (const [namespace, name] of LEAVES) {
      const world = aWorld()
      const keeper = await leading(world)
      const ca = world.secrets.texts(OWN, SECRET_NAMES.authority)
      world.secrets.put(namespace, name, damage(world.secrets.texts(namespace, name) ?? {}))
      await pass(world, 11 * MINUTE_MS)
      expect(world.secrets.texts(namespace, name)?.['ca.crt']).toBe(keeper.caBundle())
      expect(issuers(world)).toHaveLength(3)
      expect(world.secrets.texts(OWN, SECRET_NAMES.authority)).toEqual(ca)
    }
  })

  it('a leaf that is gone is made again; other keys of a Secret stay', async () => {
    const world = aWorld()
    await leading(world)
    world.secrets.put('shop', SECRET_NAMES.server, { note: 'ours', constructor: 'x' })
    world.secrets.remove(OWN, SECRET_NAMES.client)
    await pass(world, 11 * MINUTE_MS)
    expect(issuers(world)).toHaveLength(3)
    expect(world.secrets.texts('shop', SECRET_NAMES.server)).toMatchObject({
      note: 'ours',
      constructor: 'x',
    })
  })

  it('a CA whose key is gone: a new one, while the old is trusted and its leaves stay a while', async () => {
    const world = aWorld()
    await leading(world)
    const texts = world.secrets.texts(OWN, SECRET_NAMES.authority) ?? {}
    const before = issuers(world)
    world.secrets.put(OWN, SECRET_NAMES.authority, { ...texts, 'tls.key': '' })
    await pass(world, 2 * MINUTE_MS)
    const current = certificateOf(world, OWN, SECRET_NAMES.authority).subject
    expect(before).not.toContain(current)
    expect(issuers(world)).toEqual(before)
    const trusted = readBundle(world.secrets.texts('shop', SECRET_NAMES.server)?.['ca.crt'])
    expect(trusted).toHaveLength(2)
    await pass(world, 2 * HOUR_MS)
    expect(new Set(issuers(world))).toEqual(new Set([current]))
    await pass(world, 2 * HOUR_MS)
    expect(readBundle(world.secrets.texts('shop', SECRET_NAMES.server)?.['ca.crt'])).toHaveLength(1)
  })

  it('a CA that was deleted is trusted no longer: everything is issued again, at once', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    const before = issuers(world)
    world.secrets.remove(OWN, SECRET_NAMES.authority)
    await pass(world, 2 * MINUTE_MS)
    const current = certificateOf(world, OWN, SECRET_NAMES.authority).subject
    expect(before).not.toContain(current)
    expect(new Set(issuers(world))).toEqual(new Set([current]))
    expect(readBundle(keeper.caBundle())).toHaveLength(1)
  })

  it('a next CA takes the place of a damaged one', async () => {
    const world = aWorld()
    await leading(world)
    await pass(world, 250 * DAY_MS)
    const texts = world.secrets.texts(OWN, SECRET_NAMES.authority) ?? {}
    world.secrets.put(OWN, SECRET_NAMES.authority, { ...texts, 'tls.crt': 'x' })
    await pass(world, 2 * MINUTE_MS)
    const after = world.secrets.texts(OWN, SECRET_NAMES.authority) ?? {}
    expect(after['tls.crt']).toBe(texts['next.crt'])
    expect(after['tls.key']).toBe(texts['next.key'])
  })

  it('a CA of somebody else is not trusted', async () => {
    const [world, other] = [aWorld(), aWorld()]
    await leading(world)
    await leading(other)
    const texts = world.secrets.texts(OWN, SECRET_NAMES.authority) ?? {}
    const leaf = other.secrets.texts(OWN, SECRET_NAMES.client)?.['tls.crt'] ?? ''
    world.secrets.put(OWN, SECRET_NAMES.authority, {
      ...texts,
      'ca.crt': `${texts['ca.crt'] ?? ''}${leaf}`,
    })
    await pass(world, 2 * MINUTE_MS)
    expect(world.secrets.texts(OWN, SECRET_NAMES.authority)?.['ca.crt']).toBe(texts['ca.crt'])
  })
})

describe('namespaces', () => {
  it('are renewed at once when requested, and requested no more than once', async () => {
    const world = aWorld()
    const keeper = await leading(world, { namespaces: () => ['shop', 'late'].slice(0, 1) })
    await keeper.ensureNamespace('late')
    expect(certificateOf(world, 'late', SECRET_NAMES.server).subjectAltName).toBe(
      'DNS:late.gateway.svc.dev',
    )
    const before = world.secrets.calls.length
    await keeper.ensureNamespace('late')
    expect(world.secrets.calls).toHaveLength(before)
  })

  it.each<[string, ApiError, string | undefined]>([
    ['not allowed', new ApiError('no', { status: 403 }), 'may not write Secret closed/'],
    ['not there', new ApiError('namespace not found', { status: 404 }), undefined],
    [
      'going',
      new ApiError('because it is being terminated', { status: 403, reason: 'Forbidden' }),
      undefined,
    ],
    ['broken', new ApiError('etcd has left', { status: 500 }), 'etcd has left'],
  ])('%s: the others have theirs', async (_, error, failure) => {
    const world = aWorld()
    world.secrets.onCall = (call) => {
      if (call.startsWith('create') && call.includes('closed/')) throw error
    }
    const keeper = await leading(world, { namespaces: () => ['closed', 'shop'] })
    expect(issuers(world)).toHaveLength(3)
    expect(keeper.failures.get('closed') ?? 'none').toContain(failure ?? 'none')
    const before = world.secrets.calls.length
    await keeper.ensureNamespace('closed')
    expect(world.secrets.calls).toHaveLength(before)
    world.secrets.onCall = () => undefined
    await pass(world, 2 * MINUTE_MS)
    expect(world.secrets.texts('closed', SECRET_NAMES.server)).toBeDefined()
    expect(keeper.failures.size).toBe(0)
    expect(world.lines.filter((line) => line.includes('have no certificate'))).toHaveLength(
      failure === undefined ? 0 : 1,
    )
  })

  it('of another operator are left alone', async () => {
    const world = aWorld()
    await leading(world)
    const theirs = world.secrets.texts('shop', SECRET_NAMES.server)
    world.secrets.annotate('shop', SECRET_NAMES.server, { [OWNER_ANNOTATION]: 'elsewhere' })
    const keeper = await leading(world)
    expect(world.secrets.texts('shop', SECRET_NAMES.server)).toEqual(theirs)
    expect(keeper.failures.get('shop')).toContain('the operator of namespace elsewhere')
  })

  it('that are gone are forgotten', async () => {
    const world = aWorld()
    let namespaces = ['shop', 'closed']
    world.secrets.onCall = (call) => {
      if (call.includes('closed/')) throw new ApiError('no', { status: 403 })
    }
    const keeper = await leading(world, { namespaces: () => namespaces })
    expect(keeper.failures.size).toBe(1)
    namespaces = ['shop']
    await pass(world, 2 * MINUTE_MS)
    expect(keeper.failures.size).toBe(0)
  })
})

describe('a namespace that was deleted and made again', () => {
  it('has its certificate again with its first gateway', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    world.secrets.remove('shop', SECRET_NAMES.server)
    world.clock.advance(20_000)
    await keeper.ensureNamespace('shop')
    expect(world.secrets.texts('shop', SECRET_NAMES.server)).toBeDefined()
  })

  it.each([
    ['where no gateway starts without it, within two minutes', ['shop'], true],
    ['elsewhere, not before it is its turn', [], false],
  ])('has its certificate again: %s', async (_, awaitedNamespaces, isThere) => {
    const world = aWorld()
    await leading(world, { awaitedNamespaces })
    world.secrets.remove('shop', SECRET_NAMES.server)
    await pass(world, 2 * MINUTE_MS)
    expect(world.secrets.texts('shop', SECRET_NAMES.server) !== undefined).toBe(isThere)
    await pass(world, 11 * MINUTE_MS)
    expect(world.secrets.texts('shop', SECRET_NAMES.server)).toBeDefined()
  })

  it('has its certificate again with the first pod that is to have one', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    expect(await keeper.ensureNamespaceCertificate('late')).toBeUndefined()
    world.secrets.remove('late', SECRET_NAMES.server)
    world.clock.advance(20_000)
    expect(await keeper.ensureNamespaceCertificate('late')).toBeUndefined()
    expect(certificateOf(world, 'late', SECRET_NAMES.server).subjectAltName).toBe(
      'DNS:late.gateway.svc.dev',
    )
  })
})

describe('seeds', () => {
  it('are made by who does not lead, once, and change none that is there', async () => {
    const world = aWorld()
    await leading(world)
    const standby = aKeeper(world)
    const theirs = world.secrets.texts('shop', SECRET_NAMES.server)
    await Promise.all(
      ['shop', 'late', 'late'].map((each) => standby.ensureNamespaceCertificate(each)),
    )
    expect(world.secrets.texts('shop', SECRET_NAMES.server)).toEqual(theirs)
    expect(world.secrets.calls.filter((call) => call.startsWith('create secrets late/'))).toEqual([
      `create secrets late/${SECRET_NAMES.server}`,
    ])
  })

  it('are not tried again with each pod', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    world.secrets.onCall = (call) => {
      if (call.includes('closed/')) throw new ApiError('no', { status: 403 })
    }
    expect(await keeper.ensureNamespaceCertificate('closed')).toContain(
      'may not write Secret closed/',
    )
    const before = world.secrets.calls.length
    expect(await keeper.ensureNamespaceCertificate('closed')).toContain(
      'may not write Secret closed/',
    )
    expect(world.secrets.calls).toHaveLength(before)
  })

  it('of many namespaces at once are few at a time', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    const held = Promise.withResolvers<undefined>()
    world.secrets.onCall = () => held.promise
    const before = world.secrets.calls.length
    const all = Array.from({ length: 100 }, (_, i) => keeper.ensureNamespaceCertificate(`n${i}`))
    expect(world.secrets.calls.length - before).toBeLessThanOrEqual(32)
    held.resolve(undefined)
    const failures = await Promise.all(all)
    expect(failures.filter((each) => each !== undefined)).toHaveLength(68)
    expect(await keeper.ensureNamespaceCertificate('n99')).toBeUndefined()
  })
})

describe('an API that does not answer', () => {
  it('is called again with growing pauses, and what was known serves', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    const before = await keeper.credentialsFor('shop')
    world.secrets.onCall = () => {
      throw new ApiError('no connection', { status: 0 })
    }
    await pass(world, 2 * MINUTE_MS)
    const asked = world.secrets.calls.length
    await pass(world, 100)
    expect(world.secrets.calls).toHaveLength(asked)
    await pass(world, 1000)
    expect(world.secrets.calls.length).toBeGreaterThan(asked)
    expect(await keeper.credentialsFor('shop')).toBe(before)
    expect([...keeper.failures]).toEqual([[OWN, 'no connection']])
  })

  it('a listener that throws is logged, and stops nothing', async () => {
    const world = aWorld()
    await leading(world, {
      onChange: () => {
        throw new Error('listener')
      },
    })
    expect(issuers(world)).toHaveLength(3)
    expect(world.lines.join('')).toContain('listener')
  })

  it('is not called after the stop', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    await keeper.stop()
    const before = world.secrets.calls.length
    world.clock.advance(DAY_MS)
    await keeper.ensureNamespace('late')
    expect(world.secrets.calls).toHaveLength(before)
    expect(world.clock.pending).toBe(0)
  })
})

it('Secrets are called as the roles have them', () => {
  const ofCertificates = OPERATOR_SECRETS.filter((name) => name !== REALM_KEYS_SECRET)
  expect(Object.values(SECRET_NAMES)).toEqual([...ofCertificates, DATA_PLANE_SECRET])
})

it('the defaults leave every leaf whole while its CA is renewed', () => {
  const { authorityLifeMs, leafLifeMs, renewAfter, overlapMs } = DEFAULT_POLICY
  expect(authorityLifeMs * (1 - renewAfter)).toBeGreaterThan(leafLifeMs + overlapMs)
})
