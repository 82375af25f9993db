import { describe, expect, it } from '@jest/globals'
import type { ProviderMetadata } from '../../../../dataplane/oidc/provider/provider-metadata.ts'
import { createProviderRegistry } from '../../../../dataplane/oidc/provider/provider-registry.ts'
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts'
import { settled } from '../../../support/settled.ts'
import { providerRecord } from '../room.ts'

const record = providerRecord('https://idp.example')
const HOUR_MS = 3_600_000

const metadata = (jwks_uri = 'https://idp.example/jwks'): ProviderMetadata => ({
  issuer: record.issuer,
  token_endpoint: 'https://idp.example/token',
  jwks_uri,
})

interface Fixture {
  readonly find: (more?: Partial<typeof record>) => Promise<unknown>
  readonly doubt: () => void
  readonly failure: () => unknown
  readonly hasFailures: () => boolean
  /** An earlier one in its place sets it back. */
  clock: ManualClock
  /** How often discovery was asked. */
  readonly asked: () => number
  discover: () => Promise<ProviderMetadata>
}

const open = (): Fixture => {
  let asked = 0
  const fixture: Fixture = {
    clock: createManualClock(),
    asked: () => asked,
    discover: () => Promise.resolve(metadata()),
    find: (more) => registry.find({ ...record, ...more }),
    doubt: () => {
      registry.invalidate(record)
    },
    failure: () => registry.failureOf(record),
    hasFailures: () => registry.hasFailures,
  }
  const registry = createProviderRegistry({
    discover: () => {
      asked += 1
      return fixture.discover()
    },
    downloadKeySet: () => Promise.resolve(Response.json({ keys: [] })),
    now: () => fixture.clock.now(),
    random: () => 0.5,
  })
  return fixture
}

const setBack = (fixture: Fixture, ms: number): void => {
  fixture.clock = createManualClock({ startMs: fixture.clock.now() - ms })
}

describe('the registry of providers', () => {
  it('asks once for all who wait, and not again within the hour', async () => {
    const fixture = open()
    await Promise.all([fixture.find(), fixture.find(), fixture.find()])
    fixture.clock.advance(HOUR_MS - 1)
    await fixture.find()

    expect(fixture.asked()).toBe(1)
  })

  it('serves what it has after an hour, and asks behind it', async () => {
    const fixture = open()
    const first = await fixture.find()
    fixture.clock.advance(HOUR_MS)
    const second = await fixture.find()
    await settled()

    expect(second).toBe(first)
    expect(fixture.asked()).toBe(2)
  })

  it('goes on with what it has for a day while the provider is away', async () => {
    const fixture = open()
    const first = await fixture.find()
    fixture.discover = () => Promise.reject(new Error('away'))
    fixture.clock.advance(23 * HOUR_MS)
    const later = await fixture.find()
    await settled()
    fixture.clock.advance(HOUR_MS)

    expect(later).toBe(first)
    await expect(fixture.find()).rejects.toThrow('away')
  })

  it('remembers a failure for less than five seconds, then asks again', async () => {
    const fixture = open()
    fixture.discover = () => Promise.reject(new Error('away'))
    await expect(fixture.find()).rejects.toThrow('away')
    fixture.discover = () => Promise.resolve(metadata())
    fixture.clock.advance(4999)
    await expect(fixture.find()).rejects.toThrow('away')
    fixture.clock.advance(1)

    await expect(fixture.find()).resolves.toMatchObject({ metadata: metadata() })
    expect(fixture.asked()).toBe(2)
  })

  it('does not wait for a clock that was set back', async () => {
    const fixture = open()
    fixture.discover = () => Promise.reject(new Error('away'))
    await expect(fixture.find()).rejects.toThrow('away')
    setBack(fixture, HOUR_MS / 4)
    fixture.discover = () => Promise.resolve(metadata())

    expect(await fixture.find()).toMatchObject({ metadata: metadata() })
    setBack(fixture, HOUR_MS / 4)
    await fixture.find()
    await settled()
    expect(fixture.asked()).toBe(3)
  })

  it('asks again behind the requests when the provider does not do what it says', async () => {
    const fixture = open()
    fixture.doubt()
    await fixture.find()
    fixture.doubt()
    expect(fixture.asked()).toBe(1)
    fixture.clock.advance(10_000)
    fixture.discover = () => Promise.resolve(metadata('https://idp.example/moved'))
    fixture.doubt()
    fixture.doubt()
    expect(await fixture.find()).toMatchObject({ metadata: metadata() })
    await settled()
    expect(await fixture.find()).toMatchObject({ metadata: metadata('https://idp.example/moved') })
    fixture.doubt()
    expect(fixture.asked()).toBe(2)
  })

  it('keeps what it has while it is in doubt and the provider away', async () => {
    const fixture = open()
    await fixture.find()
    fixture.clock.advance(10_000)
    fixture.discover = () => Promise.reject(new Error('away'))
    for (let each = 0; each < 3; each++) fixture.doubt()
    await settled()
    fixture.doubt()
    expect(await fixture.find()).toMatchObject({ metadata: metadata() })
    expect(fixture.asked()).toBe(2)
    fixture.clock.advance(5000)
    fixture.doubt()
    expect(fixture.asked()).toBe(3)
  })

  it('takes a changed entry for another provider', async () => {
    const fixture = open()
    await fixture.find()
    await fixture.find({ client_secret: 'another' })
    await fixture.find()

    expect(fixture.asked()).toBe(2)
  })

  it('forgets the one that was not looked up for longest', async () => {
    const fixture = open()
    for (let each = 0; each < 1000; each++) await fixture.find({ client_id: `c${each}` })
    await fixture.find({ client_id: 'c0' })
    await fixture.find({ client_id: 'one-more' })
    await fixture.find({ client_id: 'c0' })
    expect(fixture.asked()).toBe(1001)

    await fixture.find({ client_id: 'c1' })
    expect(fixture.asked()).toBe(1002)
  })
})

describe('a provider that fails', () => {
  const failing = async (): Promise<Fixture> => {
    const fixture = open()
    fixture.discover = () => Promise.reject(new Error('away'))
    await fixture.find().catch(() => undefined)
    return fixture
  }

  it('is reported once that has lasted for half a minute', async () => {
    const fixture = await failing()
    fixture.clock.advance(29_999)
    expect([fixture.failure(), fixture.hasFailures()]).toEqual([undefined, true])
    fixture.clock.advance(1)
    expect(fixture.failure()).toEqual({ cause: 'metadata' })
  })

  it('is tried again by itself, less and less often, until it works', async () => {
    const fixture = await failing()
    const waits: number[] = []
    for (let lastMs = fixture.clock.now(); waits.length < 5;) {
      const before = fixture.asked()
      fixture.clock.advance(1000)
      fixture.failure()
      await settled()
      if (fixture.asked() === before) continue
      waits.push(fixture.clock.now() - lastMs)
      lastMs = fixture.clock.now()
    }
    expect(waits).toEqual([45_000, 90_000, 180_000, 225_000, 225_000])

    fixture.discover = () => Promise.resolve(metadata())
    fixture.clock.advance(225_000)
    fixture.failure()
    await settled()
    expect([fixture.failure(), fixture.hasFailures()]).toEqual([undefined, false])
  })

  it('is no more reported after a login that works', async () => {
    const fixture = await failing()
    fixture.clock.advance(40_000)
    fixture.discover = () => Promise.resolve(metadata())
    await fixture.find()
    expect(fixture.failure()).toBeUndefined()
  })

  it('is reported too where what was found before is still used', async () => {
    const fixture = open()
    await fixture.find()
    fixture.discover = () => Promise.reject(new Error('away'))
    fixture.clock.advance(HOUR_MS)
    await fixture.find()
    await settled()
    fixture.clock.advance(30_000)
    expect(fixture.failure()).toEqual({ cause: 'metadata' })
  })

  it('is unknown where no login was tried', () => {
    const fixture = open()
    expect([fixture.failure(), fixture.hasFailures(), fixture.asked()]).toEqual([
      undefined,
      false,
      0,
    ])
  })
})
