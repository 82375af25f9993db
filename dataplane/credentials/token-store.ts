// Shares a token with the other processes of a gateway and its replicas, encrypted with a key that follows from the
// client's secret: who reads Redis learns no token.

import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import type { SharedState } from '../shared/shared-state.ts'
import { isUsableAt, type UpstreamToken } from './token.ts'

/** Neither rejects: without it each process gets a token of its own. */
export interface TokenStore {
  /** One that is valid. */
  read(): Promise<UpstreamToken | undefined>
  /** In the background. */
  write(token: UpstreamToken): void
  /** True for one process in a few seconds, and where nothing can be said. */
  isFirst(): Promise<boolean>
}

export interface TokenStoreOptions {
  readonly shared: Pick<SharedState, 'read' | 'cache' | 'increment'>
  /** All that the token depends on, but for the secret. */
  readonly definition: string
  readonly secret: string
  /** Unix time, milliseconds. */
  readonly now: () => number
}

const KIND = 'upstream-token'
const SALT = 'svc-gateway upstream token'
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const ID_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16
const FIRST_SECONDS = 5
/** The bound of what is cached. */
const MAX_STORED_LENGTH = 16 * 1024

export const createTokenStore = ({
  shared,
  definition,
  secret,
  now,
}: TokenStoreOptions): TokenStore => {
  // The info of HKDF has at most 1024 bytes.
  const info = hash('sha256', definition, 'buffer')
  const derived = Buffer.from(hkdfSync('sha256', secret, SALT, info, KEY_BYTES + ID_BYTES))
  const key = derived.subarray(0, KEY_BYTES)
  const id = derived.subarray(KEY_BYTES).toString('base64url')
  const name = `${KIND}:${id}`
  return {
    read: async () => {
      try {
        const sealed = await shared.read(name)
        const token = sealed === undefined ? undefined : open(sealed, key, id)
        return token !== undefined && isUsableAt(token, now()) ? token : undefined
      } catch {
        return undefined
      }
    },
    write: (token) => {
      const sealed = seal(token, key, id)
      const ttlSeconds = (token.endMs - now()) / 1000
      if (sealed.length > MAX_STORED_LENGTH || ttlSeconds <= 0) return
      shared.cache(name, sealed, ttlSeconds).catch(() => undefined)
    },
    isFirst: async () => {
      try {
        return (await shared.increment(`${KIND}-lock:${id}`, FIRST_SECONDS)) === 1
      } catch {
        return true
      }
    },
  }
}

const seal = (token: UpstreamToken, key: Buffer, id: string): string => {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(id))
  const text = cipher.update(JSON.stringify(token), 'utf8')
  return Buffer.concat([iv, text, cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** @throws for what was not sealed with this key */
const open = (sealed: string, key: Buffer, id: string): UpstreamToken => {
  const bytes = Buffer.from(sealed, 'base64url')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(id))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = Buffer.concat([
    decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)),
    decipher.final(),
  ])
  // Sealed by a gateway with the same secret.
  return JSON.parse(text.toString()) as UpstreamToken
}
