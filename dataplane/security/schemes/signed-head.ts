// Reads what the head of a request says of its signature: the signatures themselves, and the fields that are signed beside
// the body. It needs no byte of the body, verifies nothing, and takes no field whose form would leave two ways to read it.

import {
  partsOf,
  type FieldForm,
  type SignatureForm,
  type SignedField,
} from '../../../language/realm/signatures.ts'
import { dashed } from '../../../language/unsent-headers.ts'

export interface RequestParts {
  /** In the form of `IncomingMessage.rawHeaders`. */
  readonly rawHeaders: readonly string[]
  /** As it came, without the question mark. */
  readonly query: string
}

export interface SignedHead {
  /** At least one, each as long as the digest. Any of them may be right. */
  readonly signatures: readonly Buffer[]
  readonly fields: Readonly<Record<string, string>>
  /** Unix time; undefined: the form has no timestamp. */
  readonly seconds: number | undefined
}

/** Longer than sixteen signatures. */
const MAX_LENGTH = 4096
/** A sender who changes secrets sends two. */
const MAX_SIGNATURES = 16

/** Whether there is a signature of this form, right or wrong. */
export const isSigned = ({ signature, in: place }: SignatureForm, parts: RequestParts): boolean =>
  valuesAt(place, signature, parts).length > 0

/**
 * @param name of the signature, which some senders say too
 * @returns `malformed` also where something stands twice: another reader could take the other one
 */
export const readSignedHead = (
  form: SignatureForm,
  name: string,
  parts: RequestParts,
): SignedHead | 'absent' | 'malformed' => {
  const values = valuesAt(form.in, form.signature, parts)
  const [text] = values
  if (text === undefined) return 'absent'
  if (values.length > 1 || text.length > MAX_LENGTH) return 'malformed'
  const entries = form.separator === undefined ? [text] : text.split(form.separator)
  const signatures = entries.flatMap((entry) => signatureIn(entry.trim(), form))
  if (signatures.length === 0 || signatures.length > MAX_SIGNATURES) return 'malformed'
  const fields = readFields(form, name, { parts, entries })
  if (fields === undefined) return 'malformed'
  const seconds = secondsOf(form.fields['timestamp'], fields['timestamp'] ?? '')
  return Number.isNaN(seconds) ? 'malformed' : { signatures, fields, seconds }
}

/** undefined: the form has none. NaN: there is no such day or hour. */
const secondsOf = (timestamp: SignedField | undefined, text: string): number | undefined => {
  if (timestamp === undefined) return undefined
  return timestamp.form === 'iso' ? Date.parse(text) / 1000 : Number(text)
}

/** Servers read `_` as `-`: an upstream could take the one for the other. A header so spelt counts as a second one. */
const valuesAt = (
  place: SignatureForm['in'],
  name: string,
  { rawHeaders, query }: RequestParts,
): readonly string[] => {
  if (place === 'query') return new URLSearchParams(query).getAll(name)
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const each = (rawHeaders[at] ?? '').toLowerCase()
    const value = rawHeaders[at + 1] ?? ''
    if (each === name) values.push(value)
    else if (dashed(each) === name) values.push(value, value)
  }
  return values
}

const DIGEST_BYTES = { sha256: 32, sha512: 64 } as const

const PATTERNS = {
  hex: /^[0-9a-f]+$/i,
  base64: /^[A-Za-z0-9+/]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
} as const

const signatureIn = (
  entry: string,
  { prefix, encoding, algorithm }: SignatureForm,
): readonly Buffer[] => {
  if (!entry.startsWith(prefix)) return []
  const text = entry.slice(prefix.length)
  if (!PATTERNS[encoding].test(text)) return []
  const bytes = Buffer.from(text, encoding)
  return bytes.length === DIGEST_BYTES[algorithm] ? [bytes] : []
}

interface FieldSources {
  readonly parts: RequestParts
  readonly entries: readonly string[]
}

/** undefined: one is missing, stands twice, or has another form. */
const readFields = (
  form: SignatureForm,
  name: string,
  sources: FieldSources,
): Readonly<Record<string, string>> | undefined => {
  const read = Object.entries(form.fields).map(
    ([field, signed]) => [field, readField(form, signed, sources)] as const,
  )
  const isRead = read.every(
    ([field, value]) =>
      value !== undefined &&
      IS_FORM[form.fields[field]?.form ?? 'text'](value, name) &&
      !value.includes(separatorAfter(form, field)),
  )
  return isRead ? (Object.fromEntries(read) as Record<string, string>) : undefined
}

const readField = (
  { in: place }: SignatureForm,
  { name, isEntry }: SignedField,
  { parts, entries }: FieldSources,
): string | undefined => {
  const values =
    isEntry === true
      ? entries.flatMap((each) => {
          const entry = each.trim()
          return entry.startsWith(name) ? [entry.slice(name.length)] : []
        })
      : valuesAt(place, name, parts)
  return values.length === 1 ? values[0] : undefined
}

/** Digits of a number that is exact, and of a time before the year 5138. */
const IS_FORM = {
  seconds: (value) => /^[0-9]{1,11}$/.test(value),
  iso: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(value),
  number: (value) => /^[0-9]{1,20}$/.test(value),
  text: (value) => /^[\x21-\x7e]{1,256}$/.test(value),
  name: (value, name) => value === name,
} as const satisfies Record<FieldForm, (value: string, name: string) => boolean>

/** The first character behind a field in the text that is signed. Presets without one have numbers there. */
const separatorAfter = ({ signs }: SignatureForm, field: string): string => {
  const parts = partsOf(signs)
  const at = parts.findIndex((part) => 'field' in part && part.field === field)
  const next = parts[at + 1]
  return next !== undefined && 'text' in next ? (next.text[0] ?? NEVER) : NEVER
}

/** In no field. */
const NEVER = '\n'
