// Computes digests of documents and of all loaded entries: lower-case hex of SHA-256 over JSON values. A secret value
// never enters: the Secret's uid and resource version stand for it.

import { hash } from 'node:crypto'
import { isList, isMap, type Value, type ValueMap } from '../expression/value.ts'

/** The state of a Secret whose keys became `variables` of a document. */
export interface SecretVersion {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

/** One entry that an owner has loaded in a data plane. */
export interface LoadedEntry {
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
export const canonicalJson = (value: Value): string => write(value, new Map())

/** SHA-256 of the canonical JSON of a value: 64 lower-case hex digits. */
export const digestOf = (value: Value): string => sha256(canonicalJson(value))

/**
 * Identifies one state of a document. Without Secrets it is `digestOf(spec)`; with them a sorted
 * `name⇥uid⇥resourceVersion` line for each follows the document.
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
 * The digest of a document that may reach, of all that is in the cluster, only Services of that namespace, or may not use
 * those credentials of its realm: a gateway that has the document without a restriction has another one.
 */
export const restrictedDigest = (
  digest: string,
  {
    confinedTo,
    withheld,
  }: { readonly confinedTo: string | undefined; readonly withheld: readonly string[] },
): string => {
  if (confinedTo === undefined && withheld.length === 0) return digest
  const names = withheld.length === 0 ? '' : `!${namesDigest(withheld)}`
  return `${digest}@${confinedTo ?? ''}${names}`
}

const namesDigest = (names: readonly string[]): string => digestOf(names).slice(0, 16)

/** Every selection of so many names is tried; one document rarely has more than two. */
const MAX_TRIED = 8

/**
 * Which of the credentials that a document names a digest of `restrictedDigest` withholds: all of them where it withholds
 * some and does not tell which.
 * @param credentials in the order in which they were withheld
 * @example withheldBy(restrictedDigest('ab12', { confinedTo: undefined, withheld: ['b'] }), ['a', 'b']) // ['b']
 */
export const withheldBy = (digest: string, credentials: readonly string[]): readonly string[] => {
  const names = digest.split('!', 2)[1]
  if (names === undefined) return []
  if (credentials.length > MAX_TRIED) return credentials
  for (let selection = 1; selection < 1 << credentials.length; selection++) {
    const withheld = credentials.filter((_, i) => (selection & (1 << i)) !== 0)
    if (namesDigest(withheld) === names) return withheld
  }
  return credentials
}

/** The digest without what `restrictedDigest` has added. */
export const plainDigest = (digest: string): string => digest.split('@', 1)[0] ?? ''

/**
 * Whether two digests are of one text, wherever it may lead: the policy of a namespace may change between two reads.
 * @example isSameText('ab12', 'ab12@shop') // true
 */
export const isSameText = (left: string, right: string): boolean =>
  plainDigest(left) === plainDigest(right)

/** Identifies a set of loaded entries, whatever their order: SHA-256 over the sorted `kind⇥key⇥digest` lines. */
export const rootDigest = (entries: readonly LoadedEntry[]): string => {
  const lines = entries.map(({ kind, key, digest }) => [kind, key, digest].join('\t'))
  return sha256(lines.sort().join('\n'))
}

const NOT_JSON = 'Only JSON values have a canonical form'

/**
 * Pieces are added up, and a key that a document repeats is quoted once: measured, half of the time that
 * it takes to list pairs, map and join them.
 */
const write = (value: Value, quotedKeys: Map<string, string>): string => {
  if (typeof value !== 'object' || value === null) return scalarJson(value)
  if (isList(value)) return `[${value.map((item) => write(item, quotedKeys)).join(',')}]`
  if (!isMap(value)) throw new TypeError(NOT_JSON)
  let members = ''
  for (const key of sortedKeys(value)) {
    const member = write(value[key] as Value, quotedKeys)
    members += `${members === '' ? '' : ','}${quote(key, quotedKeys)}:${member}`
  }
  return `{${members}}`
}

const quote = (key: string, quotedKeys: Map<string, string>): string => {
  const known = quotedKeys.get(key)
  if (known !== undefined) return known
  const quoted = JSON.stringify(key)
  quotedKeys.set(key, quoted)
  return quoted
}

const scalarJson = (value: string | number | boolean | null): string => {
  const isScalar =
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  if (!isScalar) throw new TypeError(NOT_JSON)
  return JSON.stringify(value)
}

/** Sorts by UTF-16 code units. Most maps are short, and one that was canonical before is in order already. */
const sortedKeys = (map: ValueMap): readonly string[] => {
  const keys = Object.keys(map)
  for (let index = 1; index < keys.length; index++)
    if ((keys[index - 1] ?? '') > (keys[index] ?? '')) return keys.sort()
  return keys
}

const sha256 = (text: string): string => hash('sha256', text, 'hex')
