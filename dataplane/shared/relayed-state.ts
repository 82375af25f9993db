// Implements the shared state of a worker: it calls its primary, which has the state for all workers, and keeps a
// copy of the revocations, which the primary sends before it confirms a revocation to anyone.

import type { GivenBack, LeasedState, LimitTake, RateBuckets } from './rate-buckets.ts'
import { Revocations } from './revocations.ts'
import { SharedStateError, type SharedHealth, type SharedState } from './shared-state.ts'
import type { TokenHome } from './token-leases.ts'
import { messageOf } from '../../base/thrown.ts'

/** One operation of SharedState as a message; structured-cloneable. */
export type SharedCall =
  | { readonly kind: 'takeOnce'; readonly key: string; readonly ttlSeconds: number }
  | { readonly kind: 'read'; readonly key: string }
  | {
      readonly kind: 'replace'
      readonly key: string
      readonly expected: string | undefined
      readonly next: string
      readonly ttlSeconds: number
    }
  | {
      readonly kind: 'cache'
      readonly key: string
      readonly value: string
      readonly ttlSeconds: number
    }
  | { readonly kind: 'increment'; readonly key: string; readonly windowSeconds: number }
  | { readonly kind: 'revoke'; readonly key: string; readonly untilUnixSeconds: number }
  | {
      readonly kind: 'lease'
      readonly takes: readonly LimitTake[]
      readonly ahead: readonly number[]
    }
  | { readonly kind: 'giveBack'; readonly entries: readonly GivenBack[] }

type SharedValue = boolean | number | string | readonly LeasedState[] | undefined

export type SharedReply =
  | { readonly ok: true; readonly value: SharedValue }
  | { readonly ok: false; readonly message: string }

export type RevokedEntry = readonly [key: string, untilUnixSeconds: number]

/** What the primary has for its workers. */
export interface PrimaryState {
  readonly shared: SharedState
  readonly limiter: RateBuckets
}

/** Runs in the primary. Never rejects: a failure is a reply too. */
export const answerCall = async (state: PrimaryState, call: SharedCall): Promise<SharedReply> => {
  try {
    return { ok: true, value: await perform(state, call) }
  } catch (error) {
    return { ok: false, message: messageOf(error) }
  }
}

const perform = (
  { shared: state, limiter }: PrimaryState,
  call: SharedCall,
): Promise<SharedValue> | SharedValue => {
  switch (call.kind) {
    case 'takeOnce':
      return state.takeOnce(call.key, call.ttlSeconds)
    case 'read':
      return state.read(call.key)
    case 'replace':
      return state.replace(call.key, call.expected, call.next, call.ttlSeconds)
    case 'cache':
      return state.cache(call.key, call.value, call.ttlSeconds)
    case 'increment':
      return state.increment(call.key, call.windowSeconds)
    case 'revoke':
      return state.revoke(call.key, call.untilUnixSeconds).then(() => undefined)
    case 'lease':
      return limiter.lease(call.takes, call.ahead)
    case 'giveBack':
      limiter.giveBack(call.entries)
      return undefined
  }
}

const SWEEP_EVERY_MS = 60_000

/**
 * @param ask sends a call to the primary; rejects when there is no reply
 * @param now Unix time, milliseconds
 */
export class RelayedState implements SharedState, TokenHome {
  readonly health: SharedHealth = 'ok'
  readonly #ask: (call: SharedCall) => Promise<SharedReply>
  readonly #revocations: Revocations
  readonly #timer: NodeJS.Timeout

  constructor(ask: (call: SharedCall) => Promise<SharedReply>, now: () => number) {
    this.#ask = ask
    this.#revocations = new Revocations(() => now() / 1000)
    this.#timer = setInterval(() => {
      this.#revocations.sweep()
    }, SWEEP_EVERY_MS)
    this.#timer.unref()
  }

  async takeOnce(key: string, ttlSeconds: number): Promise<boolean> {
    return (await this.#value({ kind: 'takeOnce', key, ttlSeconds })) === true
  }

  async read(key: string): Promise<string | undefined> {
    const value = await this.#value({ kind: 'read', key })
    return typeof value === 'string' ? value : undefined
  }

  async replace(
    key: string,
    expected: string | undefined,
    next: string,
    ttlSeconds: number,
  ): Promise<boolean> {
    return (await this.#value({ kind: 'replace', key, expected, next, ttlSeconds })) === true
  }

  async cache(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    return (await this.#value({ kind: 'cache', key, value, ttlSeconds })) === true
  }

  async increment(key: string, windowSeconds: number): Promise<number> {
    return Number(await this.#value({ kind: 'increment', key, windowSeconds }))
  }

  async revoke(key: string, untilUnixSeconds: number): Promise<void> {
    this.addRevoked([[key, untilUnixSeconds]])
    await this.#value({ kind: 'revoke', key, untilUnixSeconds })
  }

  async lease(
    takes: readonly LimitTake[],
    ahead: readonly number[],
  ): Promise<readonly LeasedState[]> {
    const states = await this.#value({ kind: 'lease', takes, ahead })
    return Array.isArray(states) ? (states as readonly LeasedState[]) : []
  }

  giveBack(entries: readonly GivenBack[]): void {
    this.#value({ kind: 'giveBack', entries }).catch(() => undefined)
  }

  isRevoked(key: string): boolean {
    return this.#revocations.has(key)
  }

  /** Adds revocations that the primary reports. */
  addRevoked(entries: readonly RevokedEntry[]): void {
    for (const [key, until] of entries) this.#revocations.add(key, until)
  }

  onHealth(): void {
    // A worker without its primary ends.
  }

  close(): Promise<void> {
    clearInterval(this.#timer)
    return Promise.resolve()
  }

  async #value(call: SharedCall): Promise<SharedValue> {
    let reply: SharedReply
    try {
      reply = await this.#ask(call)
    } catch (cause) {
      throw new SharedStateError('unavailable', 'The primary process does not answer', { cause })
    }
    if (!reply.ok) throw new SharedStateError('unavailable', reply.message)
    return reply.value
  }
}
