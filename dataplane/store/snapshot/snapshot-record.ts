// Encodes and decodes an entry of the snapshot: a line of JSON about it, then its canonical JSON as it is loaded. The
// file's name carries the checksum of the bytes, so that a damaged file is recognised.

import { parseJson } from '../../../base/parse-json.ts'
import { hash } from 'node:crypto'
import { canonicalJson } from '../../../language/wire/digest.ts'
import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { expand } from '../packed/compact.ts'
import type { LoadedDocument, LoadedRealm } from '../loaded-content.ts'

const FORMAT = 1

/** A document as the snapshot stores it, without what compiling it again gives back. */
export type StoredDocument = Omit<LoadedDocument, 'rank' | 'claims' | 'forwards'>

/** A realm as the snapshot stores it: the record is validated again when it is restored. */
export type StoredRealm = Omit<LoadedRealm, 'record'> & { readonly record: unknown }

export type StoredEntry =
  | { readonly kind: 'spec'; readonly document: StoredDocument }
  | { readonly kind: 'realm'; readonly realm: StoredRealm }

export interface EntryFile {
  readonly name: string
  readonly bytes: Buffer
}

const NAME = /^(spec|realm)-[0-9a-f]{32}-([0-9a-f]{32})\.json$/

/** Ids and uris are hashed, so that a file name has no character that a client chose. */
export const fileOf = (entry: StoredEntry): EntryFile => {
  const bytes = Buffer.concat([
    Buffer.from(`${JSON.stringify({ format: FORMAT, entry: headOf(entry) })}\n`),
    bodyOf(entry),
  ])
  const key = entry.kind === 'spec' ? entry.document.id : entry.realm.uri
  return {
    name: `${entry.kind}-${sha256(key).slice(0, 32)}-${sha256(bytes).slice(0, 32)}.json`,
    bytes,
  }
}

export const isEntryFileName = (name: string): boolean => NAME.test(name)

/** undefined: the bytes do not match the name, or this version did not write them. */
export const readEntryFile = (name: string, bytes: Buffer): StoredEntry | undefined => {
  const [, kind, checksum] = NAME.exec(name) ?? []
  if (checksum === undefined || !sha256(bytes).startsWith(checksum)) return undefined
  const end = bytes.indexOf('\n')
  const head = parse(bytes.subarray(0, end))
  if (!isMap(head) || head['format'] !== FORMAT || !isMap(head['entry'])) return undefined
  const body = bytes.subarray(end + 1)
  return kind === 'spec' ? toDocument(head['entry'], body) : toRealm(head['entry'], body)
}

export const sha256 = (data: string | Uint8Array): string => hash('sha256', data)

const headOf = (entry: StoredEntry): object => {
  if (entry.kind === 'realm') {
    const { uri, managedBy, critical } = entry.realm
    return { uri, digest: digestOf(entry.realm), managedBy, critical }
  }
  const { id, since, managedBy, ts, warnings, variables, confinedTo, credentials, critical } =
    entry.document
  const { resource } = entry.document
  const digest = digestOf(entry.document)
  return {
    id,
    digest,
    since,
    managedBy,
    resource,
    ts,
    warnings,
    variables,
    confinedTo,
    credentials,
    critical,
  }
}

/** A digest that no operator sends, so that it puts the entry again. */
const digestOf = ({
  digest,
  isPartial = false,
}: Pick<LoadedDocument, 'digest' | 'isPartial'>): string => (isPartial ? 'partial' : digest)

const bodyOf = (entry: StoredEntry): Buffer =>
  entry.kind === 'spec'
    ? expand(entry.document.source)
    : Buffer.from(canonicalJson(entry.realm.record as Value))

/** The fields need no check: by the checksum the bytes are those that `fileOf` made of a loaded entry. */
const toDocument = (entry: ValueMap, source: Buffer): StoredEntry => ({
  kind: 'spec',
  document: {
    ...(entry as unknown as Omit<StoredDocument, 'source'>),
    source: { plain: source },
  },
})

const toRealm = (entry: ValueMap, body: Buffer): StoredEntry => ({
  kind: 'realm',
  realm: { ...(entry as unknown as Omit<StoredRealm, 'record'>), record: parse(body) },
})

/** undefined: no JSON. */
export const parse = (text: Buffer | string): unknown => {
  try {
    return parseJson(text.toString())
  } catch {
    return undefined
  }
}
