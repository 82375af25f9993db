// Verifies a password by its hash: callers who failed too often wait for the attempt of a second, all wait in the
// hash queue, and identical attempts from one place at the same time share one result.

import type { RealmRecord, UserRecord } from '../../../language/realm/record.ts'
import { oncePer } from '../../../base/once.ts'
import { type LoginThrottle, type Failing, networkOf, placeOf } from './login-throttle.ts'
import { type HashCaller, HashQueue } from './hash-queue.ts'
import { DUMMY_HASH, matchesHash, type PasswordHash, readPasswordHash } from './password-hash.ts'
import type { RecentSuccesses, UserPlace } from './recent-successes.ts'

/** An attempt, and what is known of it without hashing. */
export interface Guess {
  readonly record: RealmRecord
  readonly password: string
  /** The user with that name. */
  readonly user: UserRecord | undefined
  /** The digest of realm, name, password and the hash in the record, with a key of this process. */
  readonly digest: string
  /** undefined: the address is not known. */
  readonly who: Failing | undefined
}

/** `not tried`: too many attempts have failed. `no room`: too many are waiting. */
export type Trial = 'fits' | 'does not fit' | 'not tried' | 'no room'

export interface PasswordTrials {
  run(guess: Guess): Promise<Trial>
  /** Whether it is throttled: not if the same password was right recently from the same place. */
  isLimited(guess: Guess): boolean
}

export interface PasswordTrialsOptions {
  readonly loginThrottle: LoginThrottle
  readonly successes: RecentSuccesses
}

export const createPasswordTrials = ({
  loginThrottle,
  successes,
}: PasswordTrialsOptions): PasswordTrials => {
  const queue = new HashQueue()
  const dummyOf = createDummies()
  const running = new Map<string, Promise<Trial>>()

  const isLimited = ({ who, digest }: Guess): boolean =>
    who !== undefined && loginThrottle.isDamped(who) && !successes.has(userPlaceOf(who), digest)

  const mayTry = async ({ who }: Guess): Promise<boolean> =>
    who === undefined || (await loginThrottle.mayTry(who))

  const tryOut = async (guess: Guess): Promise<Trial> => {
    const { record, password, user, who } = guess
    const wasLimited = isLimited(guess)
    if (wasLimited && !(await mayTry(guess))) return 'not tried'
    const known = hashOf(user)
    const task = async (): Promise<Trial> => {
      // Many simultaneous attempts may have failed while this one waited.
      if (!wasLimited && isLimited(guess) && !(await mayTry(guess))) return 'not tried'
      const isRight = await matchesHash(password, known ?? dummyOf(record))
      return isRight && known !== undefined ? 'fits' : 'does not fit'
    }
    return (await queue.run(task, callerOf(who))) ?? 'no room'
  }

  const callerOf = (who: Failing | undefined): HashCaller => {
    const address = who?.address ?? ''
    const isKnown = who !== undefined && successes.knows(userPlaceOf(who))
    return { network: networkOf(address), place: placeOf(address), isKnown }
  }

  return {
    isLimited,
    run: (guess) => {
      const key = `${guess.digest} ${placeOf(guess.who?.address ?? '')}`
      const before = running.get(key)
      if (before !== undefined) return before
      const trial = tryOut(guess).finally(() => running.delete(key))
      running.set(key, trial)
      return trial
    },
  }
}

/** What successes are remembered for. */
export const userPlaceOf = ({ realmUri, username, address }: Failing): UserPlace => ({
  user: JSON.stringify([realmUri, username]),
  place: placeOf(address),
})

const hashOf = (user: UserRecord | undefined): PasswordHash | undefined =>
  user?.password_hash === undefined ? undefined : readPasswordHash(user.password_hash)

/**
 * A dummy costs as much as the hashes of that realm, if they are alike, so that the time does not reveal which users
 * exist.
 */
const createDummies = (): ((record: RealmRecord) => PasswordHash) =>
  oncePer((record) => {
    const hashes = (record.users ?? []).map(({ password_hash: text }) => text)
    const text = hashes.find((each) => each !== undefined && readPasswordHash(each) !== undefined)
    const like = readPasswordHash(text ?? '') ?? DUMMY_HASH
    return { ...like, hash: Buffer.alloc(like.hash.length) }
  })
