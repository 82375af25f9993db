// What of a token other processes get to see, and who can read it.

import { describe, expect, it } from '@jest/globals'
import { createToken } from '../../../dataplane/credentials/token.ts'
import { createTokenStore } from '../../../dataplane/credentials/token-store.ts'
import { MemoryState } from '../../../dataplane/shared/memory-state.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const SECRET = 'the secret of the client'

const room = () => {
  const clock = createManualClock()
  const journaled: object[] = []
  const journal = {
    append: (entry: object) => {
      journaled.push(entry)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
  const shared = new MemoryState({ now: () => clock.now(), journal })
  const written: string[] = []
  const watched = {
    read: (key: string) => shared.read(key),
    increment: (key: string, seconds: number) => shared.increment(key, seconds),
    cache: (key: string, value: string, seconds: number) => {
      written.push(key, value)
      return shared.cache(key, value, seconds)
    },
  }
  const open = (secret = SECRET, definition = 'a realm and a credential') =>
    createTokenStore({ shared: watched, secret, definition, now: () => clock.now() })
  const token = createToken('the-token-itself', 100, { sinceMs: clock.now(), random: 0.5 })
  return { clock, shared, watched, written, journaled, open, token }
}

describe('a stored token', () => {
  it('is read by others of the same credential alone, and is stored encrypted', async () => {
    const { open, token, written, journaled, shared } = room()
    await open().isFirst()
    open().write(token)
    expect(await open().read()).toEqual(token)
    expect(journaled).toEqual([])
    expect(await open('another secret').read()).toBeUndefined()
    expect(await open(SECRET, 'another realm').read()).toBeUndefined()
    expect(written.join(' ')).not.toContain('token-itself')
    expect(written.join(' ')).not.toContain(SECRET)
    await shared.close()
  })

  it('ends with the token', async () => {
    const { open, token, clock, shared } = room()
    open().write(token)
    clock.advance(91_000)
    expect(await open().read()).toBeUndefined()
    await shared.close()
  })

  it('that somebody has changed is none', async () => {
    const { open, token, written, shared } = room()
    open().write(token)
    const [key = '', value = ''] = written
    for (const forged of [
      `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`,
      value.slice(0, 20),
      '',
      'null',
    ])
      expect([await shared.cache(key, forged, 60), await open().read()]).toEqual([true, undefined])
    await shared.close()
  })

  it('is none while the shared state is away, and one process alone asks otherwise', async () => {
    const { open, shared } = room()
    expect([await open().isFirst(), await open().isFirst()]).toEqual([true, false])
    const away = () => Promise.reject(new Error('away'))
    const store = createTokenStore({
      shared: { read: away, cache: away, increment: away },
      secret: SECRET,
      definition: '',
      now: Date.now,
    })
    expect([await store.read(), await store.isFirst()]).toEqual([undefined, true])
    await shared.close()
  })
})
