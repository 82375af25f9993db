// Digests of documents and of all that is held: JSON values in, lower-case hex of SHA-256 out. A secret
// value never enters: the Secret's uid and resource version stand for it.

import { hash } from 'node:crypto'
import { isList, isMap, type Value } from './expression/value.ts'

/** The state of a Secret whose keys became `variables` of a document. */
export interface SecretVersion {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

/** One entry that a manager holds in a data plane. */
export interface HeldEntry {
  readonly kind: 'realm' | 'spec'
  /** Realm uri, or document id. */
  readonly key: string
  readonly digest: string
}

/**
 * The canonical JSON of a value (RFC 8785): keys sorted by UTF-16 code units, numbers as ECMAScript
 * writes them, no blanks. A lone surrogate, which RFC 8785 leaves out, is written as `\udXXX`.
 * @throws TypeError for what is no JSON: bytes, NaN, undefined (`measure` finds them first)
 * @example canonicalJson({ b: 1.0, a: [true] }) // '{"a":[true],"b":1}'
 */
export const canonicalJson = (value: Value): string => {
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (isMap(value)) {
    const members = Object.entries(value).sort(byKey)
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
  }
  const isScalar =
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  if (!isScalar) throw new TypeError('Only JSON values have a canonical form')
  return JSON.stringify(value)
}

/** SHA-256 of the canonical JSON of a value: 64 lower-case hex digits. */
export const digestOf = (value: Value): string => sha256(canonicalJson(value))

/**
 * What tells one state of a document from another. Without Secrets it is `digestOf(spec)`; with them a
 * sorted `name⇥uid⇥resourceVersion` line for each follows the document.
 */
export const documentDigest = ({
  spec,
  secretVersions = [],
}: {
  readonly spec: Value
  readonly secretVersions?: readonly SecretVersion[]
}): string => {
  const secrets = secretVersions.map(({ name, uid, resourceVersion }) =>
    [name, uid, resourceVersion].join('\t'),
  )
  return sha256([canonicalJson(spec), ...secrets.sort()].join('\n'))
}

/**
 * What tells one set of held entries from another, whatever their order: SHA-256 over the sorted
 * `kind⇥key⇥digest` lines.
 */
export const rootDigest = (entries: readonly HeldEntry[]): string => {
  const lines = entries.map(({ kind, key, digest }) => [kind, key, digest].join('\t'))
  return sha256(lines.sort().join('\n'))
}

const byKey = ([a]: readonly [string, Value], [b]: readonly [string, Value]): number =>
  a < b ? -1 : 1

const sha256 = (text: string): string => hash('sha256', text, 'hex')
