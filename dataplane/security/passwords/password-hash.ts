// Verifies a password against the PHC string of a realm user (scrypt, RFC 7914). The cost of a hash is bounded, so
// that a realm record cannot exhaust the machine's memory.

import { scrypt, timingSafeEqual } from 'node:crypto'
import { childPointer } from '../../../base/json-pointer.ts'
import type { Problem } from '../../../language/problem.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'

export interface PasswordHash {
  readonly log2N: number
  readonly blockSize: number
  readonly parallelism: number
  readonly salt: Buffer
  readonly hash: Buffer
}

/** 128 · N · r bytes (RFC 7914 §2). */
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
/** N · r · p: eight times that of `svc hash-password`, about 400 ms. */
const MAX_WORK = 2 ** 20
/** A shorter hash is easily matched by chance. */
const MIN_HASH_BYTES = 16
const MAX_HASH_BYTES = 64

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** undefined for a text of another form, or one that would cost too much. */
export const readPasswordHash = (text: string): PasswordHash | undefined => {
  const [, ln, r, p, salt = '', hash = ''] = PHC.exec(text) ?? []
  const read: PasswordHash = {
    log2N: Number(ln),
    blockSize: Number(r),
    parallelism: Number(p),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
  return isAffordable(read) ? read : undefined
}

const isAffordable = ({ log2N, blockSize, parallelism, hash }: PasswordHash): boolean => {
  const perThread = 2 ** log2N * blockSize
  return (
    log2N >= 1 &&
    blockSize >= 1 &&
    parallelism >= 1 &&
    // RFC 7914 §6: N < 2^(128 · r / 8).
    log2N < 16 * blockSize &&
    128 * perThread <= MAX_MEMORY_BYTES &&
    perThread * parallelism <= MAX_WORK &&
    hash.length >= MIN_HASH_BYTES &&
    hash.length <= MAX_HASH_BYTES
  )
}

/** Used if there is no hash to compare with: it costs as much, and matches no password. */
export const DUMMY_HASH: PasswordHash = {
  log2N: 14,
  blockSize: 8,
  parallelism: 1,
  salt: Buffer.alloc(16),
  hash: Buffer.alloc(32),
}

/** Runs off the event loop: about 50 ms of one of libuv's few threads. */
export const matchesHash = (password: string, expected: PasswordHash): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const { log2N, blockSize: r, parallelism: p, salt, hash } = expected
    const maxmem = MAX_MEMORY_BYTES * 2
    scrypt(password, salt, hash.length, { N: 2 ** log2N, r, p, maxmem }, (error, made) => {
      if (error === null) resolve(timingSafeEqual(made, hash))
      else reject(error)
    })
  })

/** Lists the password hashes that no password could match, when a record is loaded. */
export const validatePasswordHashes = ({ users = [] }: RealmRecord): readonly Problem[] =>
  users.flatMap(({ password_hash: text }, index) =>
    text === undefined || readPasswordHash(text) !== undefined
      ? []
      : [
          {
            code: 'invalid_value',
            path: childPointer(childPointer('/users', index), 'password_hash'),
            message:
              'this hash costs more than 64 MiB or 2^20 blocks, or has fewer than 16 or more than 64 bytes',
          },
        ],
  )
