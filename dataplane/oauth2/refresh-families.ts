// Manages families of successive refresh tokens (RFC 9700 §4.14.2): one token of a family is valid at a time, in all
// processes and replicas. Reuse of one that was exchanged ends its whole family.

import { familyKey } from '../security/tokens/revocation-keys.ts'
import type { SharedState } from '../shared/shared-state.ts'
import {
  digestOf,
  hasDigest,
  readRefreshToken,
  writeRefreshToken,
  type RefreshToken,
} from './refresh-token.ts'
import { readFamily, writeFamily, type FamilyRecord } from './family-record.ts'

const REFRESH_SECONDS = 2_592_000

/** What was granted to whom, and to which client. */
export interface Grant {
  readonly realmUri: string
  readonly clientId: string
  readonly username: string
  /** The user's hash when the grant was made. */
  readonly passwordHash: string
  readonly groups: readonly string[]
}

export interface CurrentToken {
  readonly token: RefreshToken
  readonly record: FamilyRecord
  /** Its text in the shared state. */
  readonly stored: string
}

export type Found =
  | ({ readonly kind: 'current' | 'used' } & CurrentToken)
  /** `unknown`: not one of ours, or too old. */
  | { readonly kind: 'unknown' | 'other_client' | 'revoked' }

/** All reject with a SharedStateError while the state cannot be reached. */
export interface RefreshFamilies {
  newFamily(): string
  /** Creates the first token; undefined if the grant is larger than may be stored (about 140 groups). */
  start(family: string, grant: Grant): Promise<string | undefined>
  find(text: string, owner: Pick<Grant, 'realmUri' | 'clientId'>): Promise<Found>
  /** Creates the next token; undefined for every caller but the first. */
  follow(current: CurrentToken): Promise<string | undefined>
  /** Revokes all of its refresh and access tokens. */
  revoke(family: string): Promise<void>
}

export interface RefreshFamiliesOptions {
  readonly shared: SharedState
  /** Unix time, milliseconds. */
  readonly now: () => number
  readonly randomBytes: (size: number) => Buffer
}

export const createRefreshFamilies = (options: RefreshFamiliesOptions): RefreshFamilies => {
  const { shared, randomBytes } = options
  const random = (bytes: number): string => randomBytes(bytes).toString('base64url')
  const put = async (
    token: RefreshToken,
    previous: string | undefined,
    draft: Omit<FamilyRecord, 'current'>,
  ): Promise<string | undefined> => {
    const text = writeRefreshToken(token)
    const next = writeFamily({ ...draft, current: digestOf(text) })
    if (next === undefined) return undefined
    const isPut = await shared.replace(stateKey(token.family), previous, next, REFRESH_SECONDS)
    return isPut ? text : undefined
  }
  return {
    newFamily: () => random(16),
    start: (family, grant) => {
      const token = { family, generation: 0, proof: random(16), secret: random(32) }
      return put(token, undefined, {
        owner: ownerDigest(grant),
        username: grant.username,
        password: digestOf(grant.passwordHash),
        groups: grant.groups.map(groupDigest),
        proof: digestOf(token.proof),
        generation: 0,
      })
    },
    find: (text, owner) => find(shared, text, owner),
    follow: ({ token, record, stored }) => {
      const generation = record.generation + 1
      return put({ ...token, generation, secret: random(32) }, stored, { ...record, generation })
    },
    revoke: (family) => revoke(options, family),
  }
}

/** Long enough to recognise a group, short enough for many. */
export const groupDigest = (group: string): string => digestOf(group).slice(0, 12)

const find = async (
  shared: SharedState,
  text: string,
  owner: Pick<Grant, 'realmUri' | 'clientId'>,
): Promise<Found> => {
  const token = readRefreshToken(text)
  if (token === undefined) return { kind: 'unknown' }
  const stored = await shared.read(stateKey(token.family))
  if (stored === undefined) return { kind: 'unknown' }
  const record = readFamily(stored)
  if (record === undefined || shared.isRevoked(familyKey(token.family))) return { kind: 'revoked' }
  if (!hasDigest(token.proof, record.proof)) return { kind: 'unknown' }
  if (ownerDigest(owner) !== record.owner) return { kind: 'other_client' }
  if (hasDigest(text, record.current)) return { kind: 'current', token, record, stored }
  return token.generation < record.generation
    ? { kind: 'used', token, record, stored }
    : { kind: 'unknown' }
}

const TRIES = 5
/** Replaces the record of a family that has ended, for replicas that have not received the revocation yet. */
const ENDED = 'ended'

const revoke = async ({ shared, now }: RefreshFamiliesOptions, family: string): Promise<void> => {
  const key = stateKey(family)
  for (let tries = 0; tries < TRIES; tries += 1) {
    const stored = await shared.read(key)
    if (stored === undefined || stored === ENDED) break
    if (await shared.replace(key, stored, ENDED, REFRESH_SECONDS)) break
  }
  await shared.revoke(familyKey(family), Math.ceil(now() / 1000) + REFRESH_SECONDS + 60)
}

const stateKey = (family: string): string => `refresh:${family}`

const ownerDigest = ({ realmUri, clientId }: Pick<Grant, 'realmUri' | 'clientId'>): string =>
  digestOf(JSON.stringify([realmUri, clientId]))
