// A password is tried here: whoever failed too often waits for the attempt of a second, all wait for their turn at the
// hash queue, and those who ask the same thing at the same time, from one place, share one answer.

import type { RealmRecord, UserRecord } from '../../../language/realm/record.ts'
import { oncePer } from '../../../base/once.ts'
import { type Damping, type Failing, placeOf } from './damping.ts'
import { createHashQueue } from './hash-queue.ts'
import { DUMMY_HASH, fitsHash, type PasswordHash, readPasswordHash } from './password-hash.ts'
import type { RecentSuccesses } from './recent-successes.ts'

/** An attempt and what is known of it without a hash. */
export interface Guess {
  readonly record: RealmRecord
  readonly password: string
  /** Whoever it would be. */
  readonly user: UserRecord | undefined
  /** Of realm, name, password and the hash in the record, with a key of this process. */
  readonly digest: string
  /** undefined: nobody knows from where. */
  readonly who: Failing | undefined
}

/** `not tried`: too many have failed. `no room`: too many wait. */
export type Trial = 'fits' | 'does not fit' | 'not tried' | 'no room'

export interface PasswordTrials {
  run(guess: Guess): Promise<Trial>
  /** Whether it is one of too many: not if it was right lately, and there. */
  isLimited(guess: Guess): boolean
}

export interface PasswordTrialsOptions {
  readonly damping: Damping
  readonly successes: RecentSuccesses
}

export const createPasswordTrials = ({
  damping,
  successes,
}: PasswordTrialsOptions): PasswordTrials => {
  const queue = createHashQueue()
  const dummyOf = createDummies()
  const running = new Map<string, Promise<Trial>>()

  const isLimited = ({ who, digest }: Guess): boolean =>
    who !== undefined && damping.isDamped(who) && !successes.has(placeKey(who), digest)

  const mayTry = async ({ who }: Guess): Promise<boolean> =>
    who === undefined || (await damping.mayTry(who))

  const tryOut = async (guess: Guess): Promise<Trial> => {
    const { record, password, user, who } = guess
    const wasLimited = isLimited(guess)
    if (wasLimited && !(await mayTry(guess))) return 'not tried'
    const known = hashOf(user)
    const task = async (): Promise<Trial> => {
      // Many that came at once have failed while this one waited.
      if (!wasLimited && isLimited(guess) && !(await mayTry(guess))) return 'not tried'
      const isFitting = await fitsHash(password, known ?? dummyOf(record))
      return isFitting && known !== undefined ? 'fits' : 'does not fit'
    }
    return (await queue.run(task, fromOf(who))) ?? 'no room'
  }

  return {
    isLimited,
    run: (guess) => {
      const key = `${guess.digest} ${fromOf(guess.who)}`
      const before = running.get(key)
      if (before !== undefined) return before
      const trial = tryOut(guess).finally(() => running.delete(key))
      running.set(key, trial)
      return trial
    },
  }
}

/** What successes are remembered by. */
export const placeKey = ({ realmUri, username, address }: Failing): string =>
  JSON.stringify([realmUri, username, placeOf(address)])

const fromOf = (who: Failing | undefined): string => placeOf(who?.address ?? '')

const hashOf = (user: UserRecord | undefined): PasswordHash | undefined =>
  user?.password_hash === undefined ? undefined : readPasswordHash(user.password_hash)

/** A dummy costs what the hashes of that realm cost, as far as they are alike: time does not tell who is there. */
const createDummies = (): ((record: RealmRecord) => PasswordHash) =>
  oncePer((record) => {
    const hashes = (record.users ?? []).map(({ password_hash: text }) => text)
    const text = hashes.find((each) => each !== undefined && readPasswordHash(each) !== undefined)
    const like = readPasswordHash(text ?? '') ?? DUMMY_HASH
    return { ...like, hash: Buffer.alloc(like.hash.length) }
  })
