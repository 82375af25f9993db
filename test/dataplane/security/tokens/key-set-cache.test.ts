import { describe, expect, it } from '@jest/globals'
import { generateKeyPairSync } from 'node:crypto'
import {
  KeySetCache,
  type KeySetLifetimes,
} from '../../../../dataplane/security/tokens/key-set-cache.ts'
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts'

const JWK = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
const published = (kid: string) => Response.json({ keys: [{ ...JWK, kid }] })

interface Fixture {
  readonly cache: KeySetCache
  /** An earlier one in its place sets it back. */
  clock: ManualClock
  asked: number
  answer: () => Promise<Response>
}

const open = (lifetimes: Partial<KeySetLifetimes> = {}): Fixture => {
  const fixture: Fixture = {
    cache: new KeySetCache({
      freshMs: 300_000,
      usableMs: 1_000_000,
      afterFailureMs: 5000,
      ...lifetimes,
      now: () => fixture.clock.now(),
      download: () => {
        fixture.asked += 1
        return fixture.answer()
      },
    }),
    clock: createManualClock(),
    asked: 0,
    answer: () => Promise.resolve(published(`k${fixture.asked}`)),
  }
  return fixture
}

const kidOf = (response: Awaited<ReturnType<KeySetCache['refresh']>>) =>
  response.keySet?.jwks.keys[0]?.kid

const away = () => Promise.reject(new Error('away'))

describe('refresh', () => {
  it('downloads at once, for all who ask, but at most every ten seconds', async () => {
    const { cache, clock } = open()
    const responses = await Promise.all([cache.refresh(), cache.refresh()])
    clock.advance(9999)
    responses.push(await cache.refresh())
    clock.advance(1)
    responses.push(...(await Promise.all([cache.refresh(), cache.refresh()])))
    expect(responses.map(kidOf)).toEqual(['k1', 'k1', 'k1', 'k2', 'k2'])
  })

  it.each([
    ['gave no response', away],
    ['gave another status', () => Promise.resolve(new Response('', { status: 503 }))],
  ])('repeats what it has of a publisher that %s, as long as it is let be', async (_, response) => {
    const fixture = open()
    fixture.answer = response
    const [first] = await Promise.allSettled([fixture.cache.refresh()])
    fixture.answer = () => Promise.resolve(published('k'))
    fixture.clock.advance(4999)
    const [second] = await Promise.allSettled([fixture.cache.refresh()])
    expect([second, fixture.asked]).toEqual([first, 1])
    fixture.clock.advance(1)
    expect(kidOf(await fixture.cache.refresh())).toBe('k')
  })

  it('asks a publisher that throws at once again', async () => {
    const fixture = open({ afterFailureMs: 0 })
    fixture.answer = () => {
      throw new Error('no such address')
    }
    await expect(fixture.cache.refresh()).rejects.toThrow('no such address')
    fixture.answer = () => Promise.resolve(published('k'))
    expect(kidOf(await fixture.cache.refresh())).toBe('k')
  })

  it.each<[string, () => Response, number]>([
    ['500', () => new Response('x', { status: 500 }), 500],
    ['a page', () => new Response('<html>'), 200],
    ['a list', () => Response.json([]), 200],
    ['keys that are no list', () => Response.json({ keys: {} }), 200],
    ['more than 200 keys', () => Response.json({ keys: Array(201).fill(JWK) }), 200],
    ['null', () => Response.json(null), 200],
  ])('gives no key set where the publisher answers %s', async (_, make, status) => {
    const fixture = open()
    fixture.answer = () => Promise.resolve(make())
    expect(await fixture.cache.refresh()).toEqual({ status })
    expect(fixture.cache.cached()).toBeUndefined()
  })

  it('ignores what is no public key', async () => {
    const fixture = open()
    const secret = { kty: 'oct', kid: 'k', k: 'c2VjcmV0' }
    fixture.answer = () =>
      Promise.resolve(Response.json({ keys: ['x', null, {}, { kty: 7 }, secret, JWK] }))
    expect((await fixture.cache.refresh()).keySet?.jwks).toEqual({ keys: [JWK] })
  })
})

describe('the keys at hand', () => {
  it('are fresh for their time', async () => {
    const { cache, clock } = open()
    expect(cache.cached()).toBeUndefined()
    const keySet = await cache.find()
    clock.advance(299_999)
    expect(cache.cached()).toBe(keySet)
    expect(await cache.find()).toBe(keySet)
    clock.advance(1)
    expect(cache.cached()).toBeUndefined()
    expect(await cache.find()).not.toBe(keySet)
  })

  it('are used while the publisher is away, for their time', async () => {
    const fixture = open()
    const keySet = await fixture.cache.find()
    fixture.answer = away
    fixture.clock.advance(999_999)
    expect(await fixture.cache.find()).toBe(keySet)
    fixture.clock.advance(1)
    expect(await fixture.cache.find()).toBeUndefined()
  })

  it('are downloaded again when the clock was set back', async () => {
    const fixture = open()
    fixture.clock.advance(3_600_000)
    await fixture.cache.refresh()
    fixture.clock = createManualClock()
    expect(fixture.cache.cached()).toBeUndefined()
    expect(kidOf(await fixture.cache.refresh())).toBe('k2')
  })

  it('are newer than those that lack a key, or there are none', async () => {
    const fixture = open()
    const first = await fixture.cache.find()
    if (first === undefined) throw new Error('no keys')
    expect(await fixture.cache.findNewer(first)).toBeUndefined()
    fixture.clock.advance(10_000)
    const second = await fixture.cache.findNewer(first)
    expect(second?.jwks.keys[0]?.kid).toBe('k2')
    expect(await fixture.cache.findNewer(first)).toBe(second)
    fixture.answer = away
    fixture.clock.advance(10_000)
    expect(second && (await fixture.cache.findNewer(second))).toBeUndefined()
    expect(fixture.asked).toBe(3)
  })
})
