// Encodes and decodes what all processes share of a family of refresh tokens: its owner, what it grants, and which
// token is the current one. It contains digests only, from which no token can be made.

export interface FamilyRecord {
  /** Digest of realm and client. */
  readonly owner: string
  readonly username: string
  /** Digest of the user's password hash: another password ends the family (RFC 9700 §4.14.2). */
  readonly password: string
  /** Digests, 12 characters each. */
  readonly groups: readonly string[]
  /** Digest of the part that the tokens of the family share. */
  readonly proof: string
  readonly generation: number
  /** Digest of the current token. */
  readonly current: string
}

/** Values of the shared state have at most 2 KiB. */
const MAX_BYTES = 2048
const GROUP_DIGEST_LENGTH = 12

/** Undefined if it would be too large. */
export const writeFamily = (record: FamilyRecord): string | undefined => {
  const { owner, username, password, groups, proof, generation, current } = record
  const fields = [owner, username, password, groups.join(''), proof, generation, current]
  const text = JSON.stringify(fields)
  return Buffer.byteLength(text) <= MAX_BYTES ? text : undefined
}

/** Undefined for a family that has ended. */
export const readFamily = (text: string): FamilyRecord | undefined => {
  if (!text.startsWith('[')) return undefined
  const fields = JSON.parse(text) as FieldValues
  const [owner, username, password, groups, proof, generation, current] = fields
  return { owner, username, password, groups: cut(groups), proof, generation, current }
}

type FieldValues = readonly [string, string, string, string, string, number, string]

const cut = (joined: string): readonly string[] =>
  Array.from({ length: joined.length / GROUP_DIGEST_LENGTH }, (_, index) =>
    joined.slice(index * GROUP_DIGEST_LENGTH, (index + 1) * GROUP_DIGEST_LENGTH),
  )
