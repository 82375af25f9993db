// A name and a password in, whether they belong to a user of the realm out: for Basic, and for whoever presents
// passwords at the token endpoint. Right ones are remembered for a minute, by a digest that only this process
// can make; hashes are few at once, and whoever fails too often hears so.

import { hash } from 'node:crypto'
import type { RealmRecord, UserRecord } from '../../spec/realm-record.ts'
import { oncePer } from '../once-per.ts'
import type { SharedState } from '../shared/shared-state.ts'
import { createDamping, placeOf, WINDOW_SECONDS } from './damping.ts'
import { createHashQueue } from './hash-queue.ts'
import { DUMMY_HASH, fitsHash, type PasswordHash, readPasswordHash } from './password-hash.ts'
import { createUserLookup } from './realm-users.ts'

export interface PasswordAttempt {
  readonly record: RealmRecord
  readonly username: string
  readonly password: string
  /** Of the client: what failures are counted by. */
  readonly address: () => string
}

export type PasswordVerdict =
  /** @property until Unix time in milliseconds: until then it need not be checked again */
  | { readonly kind: 'right'; readonly user: UserRecord; readonly until: number }
  | { readonly kind: 'wrong'; readonly reason: 'unknown_user' | 'wrong_password' }
  /** Wrong, and too often: 429. */
  | { readonly kind: 'damped'; readonly retryAfterSeconds: number }
  /** Not checked: 503. */
  | { readonly kind: 'overloaded'; readonly retryAfterSeconds: number }

export interface Passwords {
  /** At once where it was right within the last minute. Takes as long for a user that is not there. */
  check(attempt: PasswordAttempt): PasswordVerdict | Promise<PasswordVerdict>
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
const OVERLOADED: PasswordVerdict = { kind: 'overloaded', retryAfterSeconds: 1 }
const DAMPED: PasswordVerdict = { kind: 'damped', retryAfterSeconds: WINDOW_SECONDS }

/**
 * One for all that check passwords in a process: it is what bounds them.
 * @example await passwords.check({ record, username: 'alice', password, address: () => caller.address })
 */
export const createPasswords = ({ shared, now, random }: PasswordsOptions): Passwords => {
  const secret = random(32).toString('hex')
  const damping = createDamping({ shared, now })
  const queue = createHashQueue()
  const findUser = createUserLookup()
  const dummyOf = createDummies()
  const remembered = new Map<string, number>()
  const running = new Map<string, Promise<boolean>>()

  const remember = (key: string): number => {
    const until = now() + REMEMBERED_MS
    remembered.delete(key)
    remembered.set(key, until)
    const [oldest] = remembered.keys()
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
    return until
  }

  const hashOf = (user: UserRecord | undefined): PasswordHash | undefined =>
    user?.password_hash === undefined ? undefined : readPasswordHash(user.password_hash)

  /** Those who ask the same thing at the same time wait for one answer. */
  const fits = (key: string, attempt: PasswordAttempt, user: UserRecord | undefined) => {
    const before = running.get(key)
    if (before !== undefined) return before
    const { record, username, password } = attempt
    const known = hashOf(user)
    const address = attempt.address()
    const isPatient = damping.isDamped({ realmUri: record.uri, username, address })
    const task = (): Promise<boolean> => fitsHash(password, known ?? dummyOf(record))
    const fitting = queue
      .run(task, placeOf(address), isPatient)
      ?.then((isFitting) => isFitting && known !== undefined)
      .finally(() => running.delete(key))
    if (fitting !== undefined) running.set(key, fitting)
    return fitting
  }

  const checkSlowly = async (
    key: string,
    attempt: PasswordAttempt,
    user: UserRecord | undefined,
  ): Promise<PasswordVerdict> => {
    const isFitting = await fits(key, attempt, user)
    if (isFitting === undefined) return OVERLOADED
    if (isFitting && user !== undefined) {
      return { kind: 'right', user, until: remember(key) }
    }
    const { record, username } = attempt
    const who = { realmUri: record.uri, username, address: attempt.address() }
    if (await damping.failed(who)) return DAMPED
    return { kind: 'wrong', reason: user === undefined ? 'unknown_user' : 'wrong_password' }
  }

  return {
    check: (attempt) => {
      const { record, username, password } = attempt
      const user = findUser(record, username)
      // The hash is part of it: a new password in the record ends what was remembered of the old one.
      const parts = [record.uri, username, password, user?.password_hash ?? '']
      // Digests never leave the process, so a secret before the text is enough: 0.8 µs, an HMAC takes 2.4.
      const key = hash('sha256', secret + JSON.stringify(parts), 'base64url')
      const until = remembered.get(key) ?? 0
      if (user !== undefined && until > now()) return { kind: 'right', user, until }
      return checkSlowly(key, attempt, user)
    },
  }
}

/** A dummy costs what the hashes of that realm cost, as far as they are alike: time does not tell who is there. */
const createDummies = (): ((record: RealmRecord) => PasswordHash) =>
  oncePer((record) => {
    const hashes = (record.users ?? []).map(({ password_hash: text }) => text)
    const text = hashes.find((each) => each !== undefined && readPasswordHash(each) !== undefined)
    const like = readPasswordHash(text ?? '') ?? DUMMY_HASH
    return { ...like, hash: Buffer.alloc(like.hash.length) }
  })
