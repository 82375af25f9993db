import { describe, expect, it } from '@jest/globals'
import { createTokenCache } from '../../../../dataplane/security/tokens/token-cache.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const START_MS = 1_000_000

const setUp = (maxEntries?: number) => {
  const home = { clock: createManualClock({ startMs: START_MS }) }
  const cache = createTokenCache<string>(() => home.clock.now(), maxEntries)
  return Object.assign(home, { cache })
}

const entry = (value: string) => ({ value, until: START_MS + 1000, revocationKeys: [] })
const A = { uri: 'a' }

describe('createTokenCache', () => {
  it('finds a token until its time', () => {
    const home = setUp()
    home.cache.keep(A, 'token', entry('x'))
    home.clock.advance(999)
    expect(home.cache.find(A, 'token')?.value).toBe('x')
    home.clock.advance(1)
    expect(home.cache.find(A, 'token')).toBeUndefined()
    home.clock = createManualClock({ startMs: START_MS })
    expect(home.cache.find(A, 'token')).toBeUndefined()
  })

  it('finds it in its realm, and in that record of it', () => {
    const { cache } = setUp()
    const b = { uri: 'b' }
    cache.keep(A, 'token', entry('of a'))
    cache.keep(b, 'token', entry('of b'))
    expect(cache.find(A, 'token')?.value).toBe('of a')
    expect(cache.find(b, 'token')?.value).toBe('of b')
    expect(cache.find(A, 'other')).toBeUndefined()
    const renewed = { uri: 'a' }
    expect(cache.find(renewed, 'token')).toBeUndefined()
    cache.keep(renewed, 'token', entry('new'))
    expect(cache.find(renewed, 'token')?.value).toBe('new')
  })

  it('forgets what was not used for longest', () => {
    const { cache } = setUp(3)
    for (const token of ['1', '2', '3']) cache.keep(A, token, entry(token))
    expect(cache.find(A, '1')).toBeDefined()
    cache.keep(A, '4', entry('4'))
    const known = ['1', '2', '3', '4'].filter((token) => cache.find(A, token) !== undefined)
    expect(known).toEqual(['1', '3', '4'])
  })
})
