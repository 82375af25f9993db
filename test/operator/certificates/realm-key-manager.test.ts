// The keeper of realms' keys on a fake API, its clock in our hand; and the source that hands them on.

import { describe, expect, it } from '@jest/globals'
import { withRealmKeys } from '../../../operator/certificates/keyed-source.ts'
import { RealmKeyManager } from '../../../operator/certificates/realm-key-manager.ts'
import { OWNER_ANNOTATION } from '../../../operator/certificates/secret-store.ts'
import { ApiError } from '../../../operator/kubernetes/client/api.ts'
import { EMPTY_CACHE, type ResourceSource } from '../../../operator/resource/resource-source.ts'
import { REALM_KEYS_SECRET } from '../../../operator/resource/roles.ts'
import { createLog } from '../../../telemetry/log.ts'
import { createFakeSecrets, type FakeSecrets } from './fake-secrets.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'

const OWN = 'system'
const PLACE = `${OWN}/${REALM_KEYS_SECRET}`
const ringText = (...bytes: readonly number[]): string =>
  JSON.stringify({
    keys: bytes.map((byte) => ({
      kid: `k${byte}`,
      k: Buffer.alloc(32, byte).toString('base64url'),
    })),
  })

interface World {
  readonly secrets: FakeSecrets
  readonly clock: ManualClock
  readonly lines: string[]
}

const aWorld = (): World => ({
  secrets: createFakeSecrets(),
  clock: createManualClock(),
  lines: [],
})

const aKeeper = ({ secrets, clock, lines }: World): RealmKeyManager =>
  new RealmKeyManager({
    api: secrets.api,
    namespace: OWN,
    serviceAccount: 'op',
    clock,
    log: createLog({
      level: 'debug',
      name: 'test',
      destination: { write: (line) => lines.push(line) },
    }),
  })

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await settled()
}

const pass = async ({ clock }: World, ms: number): Promise<void> => {
  clock.advance(ms)
  await settle()
}

const started = async (world: World): Promise<RealmKeyManager> => {
  const keeper = aKeeper(world)
  keeper.start(() => undefined)
  await settle()
  return keeper
}

const leading = async (world: World): Promise<RealmKeyManager> => {
  const keeper = await started(world)
  keeper.lead()
  await settle()
  return keeper
}

const writesOf = ({ secrets }: World): readonly string[] =>
  secrets.calls.filter((call) => !call.startsWith('get'))

const forbidding =
  (verb: string): FakeSecrets['onCall'] =>
  (call) => {
    if (call.startsWith(verb)) throw new ApiError('no', { status: 403, reason: 'Forbidden' })
  }

describe('the keys of realms', () => {
  it('are made once, by the leader, and read by everybody else', async () => {
    const world = aWorld()
    const follower = await started(world)
    expect([follower.isKnown, follower.ring, follower.failure]).toEqual([
      true,
      undefined,
      undefined,
    ])
    expect(writesOf(world)).toEqual([])
    const leader = await leading(world)
    expect(writesOf(world)).toEqual([`create secrets ${PLACE}`])
    expect(leader.ring?.keys).toHaveLength(1)
    await pass(world, 6_000)
    expect(follower.ring).toEqual(leader.ring)
    follower.lead()
    await pass(world, 70_000)
    expect(writesOf(world)).toHaveLength(1)
    const [secret] = leader.ring?.keys ?? []
    expect(world.lines.join('')).not.toContain(secret?.k)
    expect(world.lines.join('')).toContain(REALM_KEYS_SECRET)
  })

  it('of two that make them at once, those of the first count for both', async () => {
    const world = aWorld()
    const [one, two] = [await started(world), await started(world)]
    one.lead()
    two.lead()
    await settle()
    expect(one.ring).toBeDefined()
    expect(two.ring).toEqual(one.ring)
    expect(world.secrets.texts(OWN, REALM_KEYS_SECRET)?.['keys.json']).toBe(
      `${JSON.stringify(one.ring)}\n`,
    )
  })

  it('are not made by one that led a moment ago', async () => {
    const world = aWorld()
    const keeper = await started(world)
    world.secrets.onCall = () => {
      keeper.follow()
    }
    keeper.lead()
    await settle()
    expect(writesOf(world)).toEqual([])
  })

  it('are followed, in the order in which they stand there', async () => {
    const world = aWorld()
    world.secrets.put(OWN, REALM_KEYS_SECRET, { 'keys.json': ringText(1), note: 'mine' })
    const keeper = await leading(world)
    const [before, revision] = [keeper.ring, keeper.revision]
    await pass(world, 70_000)
    expect([keeper.ring, keeper.revision]).toEqual([before, revision])
    expect(keeper.ring).toBe(before)
    world.secrets.put(OWN, REALM_KEYS_SECRET, { 'keys.json': ringText(2, 1), note: 'mine' })
    await pass(world, 70_000)
    expect(keeper.ring?.keys.map(({ kid }) => kid)).toEqual(['k2', 'k1'])
    expect(keeper.revision).toBe(revision + 1)
    expect(writesOf(world)).toEqual([])
  })

  it('are recreated by the leader if they were deleted; a follower keeps what it has', async () => {
    const world = aWorld()
    world.secrets.put(OWN, REALM_KEYS_SECRET, { 'keys.json': ringText(1) })
    const [follower, leader] = [await started(world), await started(world)]
    world.secrets.remove(OWN, REALM_KEYS_SECRET)
    await pass(world, 70_000)
    expect(follower.ring?.keys.map(({ kid }) => kid)).toEqual(['k1'])
    leader.lead()
    await settle()
    expect(leader.ring?.keys.map(({ kid }) => kid)).not.toEqual(['k1'])
    await pass(world, 70_000)
    expect(follower.ring).toEqual(leader.ring)
  })

  it.each([
    ['no JSON', '{'],
    ['no keys', '{"keys":[]}'],
    ['a short key', '{"keys":[{"kid":"a","k":"c2VjcmV0"}]}'],
    ['17 keys', ringText(...Array.from({ length: 17 }, (_, i) => i))],
  ])('that are broken (%s) are left, reported, and never shown', async (_name, text) => {
    const world = aWorld()
    world.secrets.put(OWN, REALM_KEYS_SECRET, { 'keys.json': text })
    const keeper = await leading(world)
    expect([keeper.isKnown, keeper.ring]).toEqual([true, undefined])
    expect(keeper.failure).toContain(`keys.json of Secret ${PLACE} is broken`)
    expect(keeper.failure).not.toContain('c2VjcmV0')
    expect(writesOf(world)).toEqual([])
    world.secrets.put(OWN, REALM_KEYS_SECRET, { 'keys.json': ringText(1) })
    await pass(world, 6_000)
    expect([keeper.ring?.keys.length, keeper.failure]).toEqual([1, undefined])
    world.secrets.put(OWN, REALM_KEYS_SECRET, { 'keys.json': text })
    await pass(world, 70_000)
    expect(keeper.ring?.keys).toHaveLength(1)
    expect(keeper.failure).toBeDefined()
  })

  it('stay out of a Secret of another operator', async () => {
    const world = aWorld()
    world.secrets.put(OWN, REALM_KEYS_SECRET, { 'keys.json': ringText(1) })
    world.secrets.annotate(OWN, REALM_KEYS_SECRET, { [OWNER_ANNOTATION]: 'elsewhere' })
    const keeper = await leading(world)
    expect([keeper.isKnown, keeper.ring]).toEqual([true, undefined])
    expect(keeper.failure).toContain('belongs to the operator of namespace elsewhere')
  })

  it.each([
    ['get', 'may not get', '--verb=get,update --resource-name=svc-gateway-realm-keys'],
    ['create', 'may not create', 'svc-gateway-secret-creator --namespace=system --verb=create'],
  ])('that it may not %s hold up nothing, and the note tells the cure', async (verb, ...words) => {
    const world = aWorld()
    world.secrets.onCall = forbidding(verb)
    const keeper = await leading(world)
    expect([keeper.isKnown, keeper.ring]).toEqual([true, undefined])
    for (const each of words) expect(keeper.failure).toContain(each)
    await pass(world, 6_000)
    expect(
      world.lines.filter((line) => line.includes('could not be read or created')),
    ).toHaveLength(1)
    world.secrets.onCall = () => undefined
    await pass(world, 6_000)
    expect([keeper.ring?.keys.length, keeper.failure]).toEqual([1, undefined])
  })

  it('that can not be requested are not known; what was read before stays', async () => {
    const world = aWorld()
    world.secrets.onCall = () => {
      throw new ApiError('no connection', { status: 0 })
    }
    const keeper = await leading(world)
    expect([keeper.isKnown, keeper.ring]).toEqual([false, undefined])
    expect(keeper.failure).toContain('no connection')
    world.secrets.onCall = () => undefined
    await pass(world, 60_000)
    expect(keeper.isKnown).toBe(true)
    const { ring } = keeper
    expect(ring).toBeDefined()
    world.secrets.onCall = forbidding('get')
    await pass(world, 70_000)
    expect(keeper.ring).toBe(ring)
    expect(keeper.failure).toContain('keys that were read before stay in use')
  })

  it('are requested no more after the stop', async () => {
    const world = aWorld()
    const keeper = await leading(world)
    keeper.stop()
    const asked = world.secrets.calls.length
    await pass(world, 200_000)
    expect(world.secrets.calls).toHaveLength(asked)
  })
})

describe('a source with the keys of realms', () => {
  const aSource = (): { readonly source: ResourceSource; version: number; isSynced: boolean } => {
    let made = EMPTY_CACHE
    const rig = {
      version: 0,
      isSynced: false,
      source: {
        start: () => Promise.resolve(),
        synced: () => rig.isSynced,
        current: () => {
          if (made.version !== rig.version) made = { ...EMPTY_CACHE, version: rig.version }
          return made
        },
        confirm: () => Promise.resolve(true),
        stop: () => Promise.resolve(),
      },
    }
    return rig
  }

  it('is synced with both, and its cache another one with a change of either', async () => {
    const world = aWorld()
    const rig = aSource()
    const keeper = aKeeper(world)
    const source = withRealmKeys(rig.source, keeper)
    let changes = 0
    await source.start(() => (changes += 1))
    rig.isSynced = true
    expect(source.synced()).toBe(false)
    await settle()
    expect([source.synced(), changes, source.current().realmKeys]).toEqual([true, 1, undefined])
    const first = source.current()
    expect(source.current()).toBe(first)
    keeper.lead()
    await settle()
    const second = source.current()
    expect(second.version).toBeGreaterThan(first.version)
    expect(second.realmKeys).toBe(keeper.ring)
    rig.version = 1
    expect(source.current().version).toBeGreaterThan(second.version)
    expect(source.current().realmKeys).toBe(keeper.ring)
    rig.isSynced = false
    expect(source.synced()).toBe(false)
    await source.stop()
  })

  it('tells what is wrong', async () => {
    const world = aWorld()
    world.secrets.onCall = forbidding('get')
    const source = withRealmKeys(aSource().source, aKeeper(world))
    await source.start(() => undefined)
    await settle()
    expect(source.current().notes).toMatchObject([{ severity: 'error' }])
    await source.stop()
  })
})
