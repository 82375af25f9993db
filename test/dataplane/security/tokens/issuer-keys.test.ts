import { describe, expect, it } from '@jest/globals'
import { generateKeyPairSync } from 'node:crypto'
import {
  createIssuerKeys,
  type IssuerKeys,
} from '../../../../dataplane/security/tokens/issuer-keys.ts'
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts'

const URI = 'https://issuer.test/jwks'
const KEYS = [generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })]

interface Home {
  readonly keys: IssuerKeys
  readonly clock: ManualClock
  /** What issuers say. */
  answer: () => Promise<Response>
  readonly asked: string[]
}

const open = (): Home => {
  const home: Home = {
    keys: createIssuerKeys({
      now: () => home.clock.now(),
      fetch: (uri) => {
        home.asked.push(uri)
        return home.answer()
      },
    }),
    clock: createManualClock(),
    answer: () => Promise.resolve(Response.json({ keys: KEYS })),
    asked: [],
  }
  return home
}

describe('keys at hand', () => {
  it('delay no request once the issuer has failed to answer', async () => {
    const home = open()
    const set = await home.keys.at(URI).find()
    home.clock.advance(600_000)
    home.answer = () => Promise.reject(new Error('reset'))
    expect(await home.keys.at(URI).find()).toBe(set)
    home.clock.advance(5000)
    // Never: a caller that waited for it would not end.
    home.answer = () => new Promise<Response>(() => undefined)
    expect(await home.keys.at(URI).find()).toBe(set)
    expect(home.asked).toHaveLength(3)
  })

  it('are those of 500 issuers, requested most lately', async () => {
    const home = open()
    for (let n = 0; n < 500; n++) await home.keys.at(`${URI}/${n}`).find()
    await home.keys.at(`${URI}/0`).find()
    await home.keys.at(`${URI}/500`).find()
    expect(home.asked).toHaveLength(501)
    await home.keys.at(`${URI}/0`).find()
    expect(home.asked).toHaveLength(501)
    await home.keys.at(`${URI}/1`).find()
    expect(home.asked).toHaveLength(502)
  })
})
