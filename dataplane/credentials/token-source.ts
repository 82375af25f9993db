// Keeps one token of an authorization server: gets it once for all who wait, again before it ends, and once more after an
// upstream has refused it. However often it is asked, the server is asked at a bounded rate.

import { backOffMs, type BackOff } from '../../base/back-off.ts'
import { oncePer } from '../../base/once.ts'
import { singleFlight } from '../../base/single-flight.ts'
import { isWithin } from '../security/is-within.ts'
import type { CredentialError, UpstreamAuthorization } from './credential.ts'
import { bearerHeader } from './fixed-credential.ts'
import type { UpstreamToken } from './token.ts'
import type { TokenStore } from './token-store.ts'

export interface TokenSourceOptions {
  /** Rejects with a CredentialError. */
  readonly request: () => Promise<UpstreamToken>
  /** Shared with other processes and replicas; undefined: the token is of this process alone. */
  readonly store: TokenStore | undefined
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** 0 ≤ random < 1 */
  readonly random: () => number
  readonly sleep: (ms: number) => Promise<unknown>
}

export interface TokenFailure {
  readonly error: CredentialError
  /** When the first of the failures in a row was. */
  readonly firstAt: number
  readonly lastAt: number
}

/** How long it is not asked again after failures. */
const RETRIES: BackOff = { firstMs: 1000, capMs: 30_000 }
/** A token that is younger is not replaced because an upstream refuses it; doubled each time, as it seems not to help. */
const REJECTED_MS = 10_000
const REJECTED_MOST_MS = 300_000
/** While another process gets one. */
const STEP_MS = 100
const STEPS = 20

export class TokenSource {
  readonly #options: TokenSourceOptions
  #token: UpstreamToken | undefined
  /** The last one that an upstream has refused. While it is `#token` too, another one is needed. */
  #rejected: UpstreamToken | undefined
  /** Refusals in a row. */
  #rejections = 0
  #failure: (TokenFailure & { readonly count: number; readonly waitMs: number }) | undefined

  constructor(options: TokenSourceOptions) {
    this.#options = options
  }

  /**
   * One that may be used now. If it ends soon, another one is asked for in the background. One that an upstream has refused is
   * used on only while the server gives no other.
   */
  current(): UpstreamToken | undefined {
    const token = this.spare()
    if (token === undefined) return undefined
    if (this.#isRejected && this.#failure === undefined) return undefined
    if (this.#isRejected || this.#options.now() >= token.refreshMs)
      this.#renew().catch(() => undefined)
    return token
  }

  /** One that has not ended, also where an upstream has refused it: it may refuse one caller, and take it from the others. */
  spare(): UpstreamToken | undefined {
    const token = this.#token
    return token !== undefined && this.#options.now() < token.endMs ? token : undefined
  }

  get #isRejected(): boolean {
    return this.#token !== undefined && this.#token === this.#rejected
  }

  /** Rejects with a CredentialError, also that of a moment ago. */
  async obtain(): Promise<UpstreamToken> {
    return this.current() ?? this.#renew()
  }

  /**
   * An upstream does not accept it.
   * @returns whether there may be another one now
   */
  reject(value: string): boolean {
    const token = this.#token
    if (token?.value !== value) return true
    if (!this.#isRejected && !this.#mayReplace(token)) return false
    // Without a failure who asks next waits for another one; with one it is asked for in the background.
    return this.#failure === undefined
  }

  #mayReplace(token: UpstreamToken): boolean {
    const waitMs = Math.min(REJECTED_MS * 2 ** this.#rejections, REJECTED_MOST_MS)
    const now = this.#options.now()
    if (isWithin(waitMs, { now, since: token.sinceMs })) return false
    this.#rejected = token
    this.#rejections++
    return true
  }

  /** What a request is sent with. */
  readonly authorizationOf = oncePer((token: UpstreamToken): UpstreamAuthorization => ({
    header: bearerHeader({ token: token.value }),
    renewal: {
      reject: () => this.reject(token.value),
      accept: () => {
        this.#onAccepted(token)
      },
    },
  }))

  /** That of the one that was refused says only that it was refused for something else. */
  #onAccepted({ value, sinceMs }: UpstreamToken): void {
    const rejected = this.#rejected
    if (rejected === undefined || (value !== rejected.value && sinceMs > rejected.sinceMs))
      this.#rejections = 0
  }

  /** Since the last success. */
  get failure(): TokenFailure | undefined {
    return this.#failure
  }

  readonly #renew = singleFlight(async (): Promise<UpstreamToken> => {
    const stored = await this.#readStored()
    if (stored !== undefined) return this.#adopt(stored)
    const failure = this.#failure
    const now = this.#options.now()
    if (failure !== undefined && isWithin(failure.waitMs, { now, since: failure.lastAt }))
      throw failure.error
    const others = await this.#waitForOthers()
    return others === undefined ? this.#request() : this.#adopt(others)
  })

  async #request(): Promise<UpstreamToken> {
    const { request, store } = this.#options
    try {
      const token = await request()
      this.#adopt(token)
      store?.write(token)
      return token
    } catch (error) {
      // Whatever else `request` rejects with is a bug, and stands for no failure of the server.
      this.#onFailure(error as CredentialError)
      const spare = this.spare()
      if (spare !== undefined) return spare
      throw error
    }
  }

  /** Another process may be asking for one just now: that one will do. */
  async #waitForOthers(): Promise<UpstreamToken | undefined> {
    const { store, sleep } = this.#options
    if (store === undefined || (await store.isFirst())) return undefined
    for (let step = 0; step < STEPS; step++) {
      await sleep(STEP_MS)
      const stored = await this.#readStored()
      if (stored !== undefined) return stored
    }
    return undefined
  }

  /** One that is worth having: newer, not to be refreshed itself, and not the one that was refused. */
  async #readStored(): Promise<UpstreamToken | undefined> {
    const { store, now } = this.#options
    const stored = await store?.read()
    if (stored === undefined || (this.#isRejected && stored.value === this.#token?.value))
      return undefined
    const isNewer =
      this.#token === undefined || this.#isRejected || stored.sinceMs > this.#token.sinceMs
    return isNewer && now() < stored.refreshMs ? stored : undefined
  }

  #adopt(token: UpstreamToken): UpstreamToken {
    // The server may give the same one again, and says that it is good: another object, so that it is not the rejected one.
    this.#token = token
    this.#failure = undefined
    return token
  }

  #onFailure(error: CredentialError): void {
    const { now, random } = this.#options
    const lastAt = now()
    const { count, firstAt } = this.#failure ?? { count: 0, firstAt: lastAt }
    const waitMs = backOffMs(count + 1, RETRIES, random())
    this.#failure = { error, firstAt, lastAt, count: count + 1, waitMs }
  }
}
