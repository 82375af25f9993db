// Encodes and parses refresh tokens: opaque to clients, random except for their prefix, which secret scanners find,
// and their place in a family. Only digests of them are stored.

import { hash, timingSafeEqual } from 'node:crypto'

export interface RefreshToken {
  /** 128 bits. Access tokens name it too, so it proves nothing. */
  readonly family: string
  /** 0 for the first of a family. */
  readonly generation: number
  /** 128 bits that all tokens of a family share: proves that a token is of the family at all. */
  readonly proof: string
  /** 256 bits of this token alone. */
  readonly secret: string
}

const SHAPE = /^svcrt_([\w-]{22})\.(0|[1-9]\d{0,8})\.([\w-]{22})([\w-]{43})$/

/** @example writeRefreshToken(token) // 'svcrt_3q2-7w….0.Yk1…' */
export const writeRefreshToken = ({ family, generation, proof, secret }: RefreshToken): string =>
  `svcrt_${family}.${generation}.${proof}${secret}`

/** Undefined for anything but a refresh token of this gateway. */
export const readRefreshToken = (text: string): RefreshToken | undefined => {
  const [, family, generation, proof, secret] = SHAPE.exec(text) ?? []
  if (family === undefined || proof === undefined || secret === undefined) return undefined
  return { family, generation: Number(generation), proof, secret }
}

/** SHA-256, base64url. */
export const digestOf = (text: string): string => hash('sha256', text, 'base64url')

/** Whether the digest is that of the text, in the same time whatever it is. */
export const hasDigest = (text: string, digest: string): boolean => {
  const own = Buffer.from(digestOf(text))
  const other = Buffer.from(digest)
  return own.length === other.length && timingSafeEqual(own, other)
}
