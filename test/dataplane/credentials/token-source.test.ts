// How often an authorization server is asked for a token, and which one requests are sent with.

import { describe, expect, it } from '@jest/globals'
import { CredentialError } from '../../../dataplane/credentials/credential.ts'
import { createToken, type UpstreamToken } from '../../../dataplane/credentials/token.ts'
import { TokenSource } from '../../../dataplane/credentials/token-source.ts'
import type { TokenStore } from '../../../dataplane/credentials/token-store.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'

const failure = (): CredentialError =>
  new CredentialError('credential_token', 'away', { problem: { cause: 'refused' } })

class Server {
  readonly clock = createManualClock()
  asked = 0
  expiresIn: number | undefined = 100
  isAway = false
  value: (count: number) => string = (count) => `t${count}`
  store: TokenStore | undefined
  readonly source = new TokenSource({
    request: () => {
      this.asked++
      if (this.isAway) return Promise.reject(failure())
      const times = { sinceMs: this.clock.now(), random: 0.5 }
      return Promise.resolve(createToken(this.value(this.asked), this.expiresIn, times))
    },
    store: {
      read: async () => this.store?.read(),
      write: (token) => this.store?.write(token),
      isFirst: async () => (await this.store?.isFirst()) ?? true,
    },
    now: () => this.clock.now(),
    random: () => 0.5,
    sleep: (ms) =>
      new Promise((resolve) => {
        this.clock.after(ms, () => {
          resolve(undefined)
        })
      }),
  })

  async obtained(): Promise<string> {
    return (await this.source.obtain()).value
  }

  /** As a request whose upstream does not accept the token: the one that it is sent with in the end. */
  async refused(): Promise<string> {
    const { value } = await this.source.obtain()
    if (!this.source.reject(value)) return value
    return this.obtained()
  }
}

describe('a token', () => {
  it('is requested once, however many wait for it, and then given without waiting', async () => {
    const server = new Server()
    const all = await Promise.all(Array.from({ length: 50 }, () => server.obtained()))
    expect(new Set(all)).toEqual(new Set(['t1']))
    expect(server.source.current()?.value).toBe('t1')
    expect(server.asked).toBe(1)
  })

  it('is refreshed in the background before it ends, while it is used', async () => {
    const server = new Server()
    await server.obtained()
    server.clock.advance(74_000)
    expect(await server.obtained()).toBe('t1')
    expect(server.asked).toBe(1)
    server.clock.advance(2000)
    expect(await server.obtained()).toBe('t1')
    await server.clock.run(0)
    expect(server.asked).toBe(2)
    expect(await server.obtained()).toBe('t2')
  })

  it('is used to its end while the server is away, whose failure is known before', async () => {
    const server = new Server()
    await server.obtained()
    server.isAway = true
    server.clock.advance(76_000)
    expect(await server.obtained()).toBe('t1')
    await server.clock.run(0)
    expect(server.source.failure?.error.problem?.cause).toBe('refused')
    server.clock.advance(15_000)
    await expect(server.obtained()).rejects.toThrow('away')
    server.isAway = false
    server.clock.advance(60_000)
    expect(await server.obtained()).toMatch(/^t\d$/)
    expect(server.source.failure).toBeUndefined()
  })

  it('that a server does not give is requested more and more rarely', async () => {
    const server = new Server()
    server.isAway = true
    for (let second = 0; second < 600; second++) {
      await server.obtained().catch(() => undefined)
      server.clock.advance(1000)
    }
    expect(server.asked).toBeLessThan(40)
  })
})

describe('a token that upstreams refuse', () => {
  it('is replaced once it is ten seconds old, for all whose requests were refused', async () => {
    const server = new Server()
    await server.obtained()
    server.clock.advance(11_000)
    expect(server.source.reject('t1')).toBe(true)
    expect(server.source.reject('t1')).toBe(true)
    expect(await Promise.all([server.obtained(), server.obtained()])).toEqual(['t2', 't2'])
    expect(server.source.reject('t1')).toBe(true)
    expect(server.asked).toBe(2)
  })

  it('is not replaced while it is young', async () => {
    const server = new Server()
    expect(await server.refused()).toBe('t1')
    expect(server.asked).toBe(1)
  })

  it('costs the server ever fewer requests, however many an upstream refuses', async () => {
    const server = new Server()
    server.expiresIn = 86_400
    for (let second = 0; second < 3600; second++) {
      for (let request = 0; request < 5; request++) await server.refused()
      server.clock.advance(1000)
    }
    expect(server.asked).toBeLessThan(20)
  })

  it('counts as good again once one is accepted', async () => {
    const server = new Server()
    server.expiresIn = 86_400
    await server.obtained()
    for (const waitMs of [11_000, 21_000, 41_000]) {
      server.clock.advance(waitMs)
      await server.refused()
    }
    expect(server.asked).toBe(4)
    const token = await server.source.obtain()
    server.source.authorizationOf(token).renewal?.accept()
    server.clock.advance(11_000)
    await server.refused()
    expect(server.asked).toBe(5)
  })

  it('is used on while the server gives no other, which is requested at a bounded rate', async () => {
    const server = new Server()
    server.expiresIn = 86_400
    await server.obtained()
    server.clock.advance(60_000)
    server.isAway = true
    for (let second = 0; second < 600; second++) {
      expect(await server.refused()).toBe('t1')
      server.clock.advance(1000)
    }
    expect(server.asked).toBeLessThan(40)
    expect(server.source.failure?.error.problem?.cause).toBe('refused')
    await settled()
    server.isAway = false
    server.clock.advance(60_000)
    await server.obtained()
    await settled()
    expect(await server.obtained()).toBe(`t${server.asked}`)
    expect(server.source.failure).toBeUndefined()
  })

  it('is not used on after its end', async () => {
    const server = new Server()
    await server.obtained()
    server.clock.advance(60_000)
    server.isAway = true
    expect(await server.refused()).toBe('t1')
    server.clock.advance(60_000)
    await expect(server.obtained()).rejects.toThrow('away')
  })

  it('does not count as good because others are served with it', async () => {
    const server = new Server()
    server.expiresIn = 86_400
    const first = await server.source.obtain()
    server.clock.advance(11_000)
    await server.refused()
    server.source.authorizationOf(first).renewal?.accept()
    server.clock.advance(11_000)
    expect(await server.refused()).toBe('t2')
    server.clock.advance(10_000)
    expect(await server.refused()).toBe('t3')
  })

  it('is used on where the server gives the same again', async () => {
    const server = new Server()
    server.value = () => 'same'
    await server.obtained()
    server.clock.advance(11_000)
    expect(await server.refused()).toBe('same')
    expect(await server.refused()).toBe('same')
    expect(server.asked).toBe(2)
  })
})

describe('a token that another process has', () => {
  const stored = (server: Server, more: Partial<UpstreamToken> = {}): UpstreamToken => ({
    ...createToken('theirs', 100, { sinceMs: server.clock.now(), random: 0.5 }),
    ...more,
  })
  const storeOf = (read: () => UpstreamToken | undefined, isFirst = true): TokenStore => ({
    read: () => Promise.resolve(read()),
    write: () => undefined,
    isFirst: () => Promise.resolve(isFirst),
  })

  it('is used, and the server is not called', async () => {
    const server = new Server()
    server.store = storeOf(() => stored(server))
    expect(await server.obtained()).toBe('theirs')
    expect(server.asked).toBe(0)
  })

  it('is waited for while that process asks for it', async () => {
    const server = new Server()
    const startMs = server.clock.now()
    server.store = storeOf(
      () => (server.clock.now() - startMs >= 300 ? stored(server) : undefined),
      false,
    )
    const waiting = server.obtained()
    await server.clock.run(1000)
    expect(await waiting).toBe('theirs')
    expect(server.asked).toBe(0)
  })

  it('is not waited for for ever', async () => {
    const server = new Server()
    server.store = storeOf(() => undefined, false)
    const waiting = server.obtained()
    await server.clock.run(10_000)
    expect(await waiting).toBe('t1')
  })

  it('does not count where it is the one that an upstream refused, or is to be refreshed', async () => {
    const server = new Server()
    server.store = storeOf(() => stored(server, { value: 't1', sinceMs: server.clock.now() + 1 }))
    server.value = (count) => `t${count + 1}`
    await server.obtained()
    server.clock.advance(11_000)
    expect(server.source.reject('t1')).toBe(true)
    expect(await server.obtained()).toBe('t2')
    const late = new Server()
    late.store = storeOf(() => stored(late, { refreshMs: late.clock.now() }))
    expect(await late.obtained()).toBe('t1')
  })
})

describe('the life of a token', () => {
  it.each<[string, number | undefined, number, number]>([
    ['as the server says', 3600, 2700, 3570],
    ['five minutes where it says nothing', undefined, 225, 270],
    ['at least ten seconds', 0, 7.5, 9],
    ['a day at most', 1e12, 64_800, 86_370],
    ['no number', NaN, 225, 270],
    ['endless', Infinity, 64_800, 86_370],
    ['in the past', -5, 7.5, 9],
  ])('is %s', (_, expiresIn, refresh, end) => {
    const token = createToken('x', expiresIn, { sinceMs: 0, random: 0.5 })
    expect([token.refreshMs / 1000, token.endMs / 1000]).toEqual([refresh, end])
  })
})
