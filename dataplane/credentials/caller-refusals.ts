// Counts the callers whose tokens an authorization server has refused to exchange for the same reason, to tell a wrong
// setting of the credential from what is wrong with one of them. It refuses nothing itself.

import { hash } from 'node:crypto'
import { BoundedMap } from '../../base/bounded-map.ts'
import { isWithin } from '../security/is-within.ts'
import type { CredentialError } from './credential.ts'
import type { TokenFailure } from './token-source.ts'

/**
 * What one caller could bring about alone, with as many tokens as it likes, must neither look like a wrong setting nor hide
 * one: so many are refused, and fewer are given a token.
 */
const CONCLUSIVE_CALLERS = 3
/** One more than must be known, so that a caller that comes and goes never takes the place of one that is needed. */
const KNOWN_CALLERS = CONCLUSIVE_CALLERS + 1
/** What no request has met again for so long is not reported any more: without a caller nothing can be tried. */
export const FORGOTTEN_MS = 600_000
/** At once. Servers have some ten errors of OAuth 2.0, and a few statuses. */
const MAX_REASONS = 8

/** Digest of a caller → the time of its last result. */
type Callers = BoundedMap<string, number>

interface Refusals {
  readonly error: CredentialError
  readonly callers: Callers
  /** Since when enough callers are known; undefined: they are not. */
  sinceMs: number | undefined
}

/** A caller counts with its last result alone: among those who were refused for one reason, or who were given a token. */
export class CallerRefusals {
  /** The refusals of each reason. */
  readonly #refusals = new Map<string, Refusals>()
  readonly #granted: Callers = new BoundedMap(KNOWN_CALLERS)

  /** Refusals that are no affair of single callers; of several reasons the one that has lasted longest. */
  failureAt(now: number): TokenFailure | undefined {
    dropForgotten(this.#granted, now)
    let found: TokenFailure | undefined
    for (const refusals of this.#refusals.values()) {
      update(refusals, now)
      const { error, callers, sinceMs: firstAt } = refusals
      if (firstAt === undefined || firstAt >= (found?.firstAt ?? Infinity)) continue
      const granted = [...this.#granted.values()].filter((atMs) => atMs >= firstAt)
      if (granted.length < CONCLUSIVE_CALLERS)
        found = { error, firstAt, lastAt: Math.max(...callers.values()) }
    }
    return found
  }

  /** @param caller undefined: it is not known, and can't be told from the one before */
  onRefused(caller: string | undefined, error: CredentialError, now: number): void {
    if (caller === undefined || error.problem === undefined) return
    const { cause, found = '' } = error.problem
    const reason = `${cause} ${found}`
    const digest = digestOf(caller)
    this.#granted.delete(digest)
    this.#forget(digest, now, reason)
    const refusals = this.#refusals.get(reason) ?? noRefusals(error)
    refusals.callers.set(digest, now)
    update(refusals, now)
    this.#refusals.set(reason, refusals)
    if (this.#refusals.size > MAX_REASONS) this.#dropOne()
  }

  onGranted(caller: string | undefined, now: number): void {
    // Those without a name count as one.
    const digest = caller === undefined ? '' : digestOf(caller)
    this.#forget(digest, now)
    this.#granted.set(digest, now)
  }

  /** Takes a caller out of all reasons but one. */
  #forget(digest: string, now: number, except?: string): void {
    for (const [reason, refusals] of this.#refusals) {
      if (reason !== except) refusals.callers.delete(digest)
      update(refusals, now)
      if (refusals.callers.size === 0) this.#refusals.delete(reason)
    }
  }

  /** The one with the fewest callers, so that reasons of single callers never displace a telling one. */
  #dropOne(): void {
    const sizes = Array.from(
      this.#refusals,
      ([reason, { callers }]) => [reason, callers.size] as const,
    )
    const [fewest] = sizes.toSorted(([, left], [, right]) => left - right)
    if (fewest !== undefined) this.#refusals.delete(fewest[0])
  }
}

const noRefusals = (error: CredentialError): Refusals => ({
  error,
  callers: new BoundedMap(KNOWN_CALLERS),
  sinceMs: undefined,
})

const update = (refusals: Refusals, now: number): void => {
  const { callers, sinceMs = now } = refusals
  dropForgotten(callers, now)
  refusals.sinceMs = callers.size < CONCLUSIVE_CALLERS ? undefined : sinceMs
}

const dropForgotten = (callers: Callers, now: number): void => {
  for (const [digest, since] of callers)
    if (!isWithin(FORGOTTEN_MS, { now, since })) callers.delete(digest)
}

/** Names may be long, and every credential counts for itself. */
const digestOf = (caller: string): string => hash('sha256', caller, 'base64url')
