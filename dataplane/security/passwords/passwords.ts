// Verifies passwords for Basic and for the token endpoint: whether a name and a password belong to a user of the
// realm. Right ones are cached for a minute, by a digest that only this process can compute; few hashes run at once,
// and after too many failures one attempt per second is verified.

import { hash } from 'node:crypto'
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { RealmRecord, UserRecord } from '../../../language/realm/record.ts'
import type { SharedState } from '../../shared/shared-state.ts'
import { createLoginThrottle, RETRY_SECONDS } from './login-throttle.ts'
import { createPasswordTrials, type Guess, userPlaceOf } from './password-trials.ts'
import { createRecentSuccesses } from './recent-successes.ts'
import { createUserLookup } from './realm-users.ts'

export interface PasswordAttempt {
  readonly record: RealmRecord
  readonly username: string
  readonly password: string
  /**
   * The address of the client, by which failures are counted. undefined if it is not known (a trusted proxy that
   * names no client): a client is then not throttled for the guesses of others.
   */
  readonly address: () => string | undefined
}

export type PasswordResult =
  /** @property until Unix time in milliseconds: until then it need not be checked again */
  | { readonly kind: 'right'; readonly user: UserRecord; readonly until: number }
  | { readonly kind: 'wrong'; readonly reason: 'unknown_user' | 'wrong_password' }
  /** Wrong too often: 429. The result is the same whether this one was wrong, too, or was not verified. */
  | { readonly kind: 'damped'; readonly isUser: boolean; readonly retryAfterSeconds: number }
  /** Not verified: 503. */
  | { readonly kind: 'overloaded'; readonly isUser: boolean; readonly retryAfterSeconds: number }

export interface Passwords {
  /** Synchronous if it was right within the last minute. Takes as long for a user that does not exist. */
  check(attempt: PasswordAttempt): PasswordResult | Promise<PasswordResult>
}

export interface PasswordsOptions {
  readonly shared: Pick<SharedState, 'increment'>
  /** Unix time in milliseconds. */
  readonly now: () => number
  /** As `randomBytes` of node:crypto. */
  readonly random: (size: number) => Buffer
}

const REMEMBERED_MS = 60_000
const MAX_REMEMBERED = 10_000

/**
 * Create one for all password checks of a process, as it bounds them.
 * @example await passwords.check({ record, username: 'alice', password, address: () => caller.address })
 */
export const createPasswords = ({ shared, now, random }: PasswordsOptions): Passwords => {
  const secret = random(32).toString('hex')
  const loginThrottle = createLoginThrottle({ shared, now })
  const successes = createRecentSuccesses(now)
  const trials = createPasswordTrials({ loginThrottle, successes })
  const findUser = createUserLookup()
  const remembered = createRemembered(now)

  const checkSlowly = async (guess: Guess): Promise<PasswordResult> => {
    const { user, digest, who } = guess
    const trial = await trials.run(guess)
    const isUser = user !== undefined
    const damped = { kind: 'damped', isUser, retryAfterSeconds: RETRY_SECONDS } as const
    if (trial === 'no room') return { kind: 'overloaded', isUser, retryAfterSeconds: 1 }
    if (trial === 'not tried') return damped
    if (trial === 'fits' && user !== undefined) {
      if (who !== undefined) successes.add(userPlaceOf(who), digest)
      return { kind: 'right', user, until: remembered.add(digest, who?.address) }
    }
    if (who !== undefined && (await loginThrottle.failed(who))) return damped
    return { kind: 'wrong', reason: isUser ? 'wrong_password' : 'unknown_user' }
  }

  /** Returns undefined if a guesser from that place would learn from the time that a guess is right. */
  const checkAtOnce = (guess: Guess): PasswordResult | undefined => {
    const { user, digest, who } = guess
    const until = user === undefined ? undefined : remembered.untilOf(digest)
    if (user === undefined || until === undefined) return undefined
    if (loginThrottle.isAnybodyDamped() && trials.isLimited(guess)) return undefined
    if (who !== undefined && remembered.isNewAddress(digest, who.address))
      successes.add(userPlaceOf(who), digest)
    return { kind: 'right', user, until }
  }

  return {
    check: (attempt) => {
      const { record, username, password } = attempt
      const user = findUser(record, username)
      // The hash is part of it, so that a new password in the record invalidates the cached old one.
      const parts = [record.uri, username, password, user?.password_hash ?? '']
      // Digests never leave the process, so prefixing a secret is enough: 0.8 µs, an HMAC takes 2.4.
      const digest = hash('sha256', secret + JSON.stringify(parts), 'base64url')
      const address = attempt.address()
      const who = address === undefined ? undefined : { realmUri: record.uri, username, address }
      const guess: Guess = { record, password, user, digest, who }
      return checkAtOnce(guess) ?? checkSlowly(guess)
    },
  }
}

interface Remembered {
  /** @returns until when it is cached, Unix time in milliseconds */
  add(digest: string, address: string | undefined): number
  untilOf(digest: string): number | undefined
  /** Whether it was used from another place last time. */
  isNewAddress(digest: string, address: string): boolean
}

/** Caches what was right within the last minute, from any place. */
const createRemembered = (now: () => number): Remembered => {
  const known = new BoundedMap<string, { readonly until: number; address: string | undefined }>(
    MAX_REMEMBERED,
  )
  return {
    add: (digest, address) => {
      const until = now() + REMEMBERED_MS
      known.set(digest, { until, address })
      return until
    },
    untilOf: (digest) => {
      const until = known.get(digest)?.until
      return until !== undefined && until > now() ? until : undefined
    },
    isNewAddress: (digest, address) => {
      const entry = known.get(digest)
      if (entry === undefined || entry.address === address) return false
      entry.address = address
      return true
    },
  }
}
