// Reads the signatures of a realm record: where signature, time and id stand in a request, which text is signed, and with
// which bytes. Presets are forms like any other. It verifies nothing, and no message shows a secret.

import { childPointer } from '../../base/json-pointer.ts'
import type { Problem } from '../problem.ts'
import type { RealmRecord, SignatureRecord } from './record.ts'

/** What a text beside the signature must look like. `name` is the signature's own name. */
export type FieldForm = 'seconds' | 'iso' | 'number' | 'text' | 'name'

export interface SignedField {
  /** A header in lower case, a query parameter, or what begins the entry. */
  readonly name: string
  readonly form: FieldForm
  /** It is an entry in the header of the signature: `t=1700000000`. */
  readonly isEntry?: true
}

/** How one kind of sender signs. */
export interface SignatureForm {
  readonly in: 'headers' | 'query'
  /** The header, in lower case, or the query parameter with the signature. */
  readonly signature: string
  /** Between several signatures, and entries, in one header; absent: there is one. */
  readonly separator?: string
  /** Before each signature. Others are of versions that are not looked at. */
  readonly prefix: string
  readonly algorithm: 'sha256' | 'sha512'
  readonly encoding: 'hex' | 'base64' | 'base64url'
  /** The text that is signed, with fields in braces; `{body}` ends it. */
  readonly signs: string
  /** What is signed beside the body. Without `timestamp` nothing can be remembered; without `id` the signature stands for it. */
  readonly fields: Readonly<Record<string, SignedField>>
  /** `whsec`: bytes in base64 behind `whsec_`, else text. */
  readonly secret: 'text' | 'whsec'
}

type PresetName = NonNullable<SignatureRecord['preset']>

export const PRESETS: Readonly<Record<PresetName, SignatureForm>> = {
  // https://www.standardwebhooks.com, version 1.0
  standard: {
    in: 'headers',
    signature: 'webhook-signature',
    separator: ' ',
    prefix: 'v1,',
    algorithm: 'sha256',
    encoding: 'base64',
    signs: '{id}.{timestamp}.{body}',
    fields: {
      id: { name: 'webhook-id', form: 'text' },
      timestamp: { name: 'webhook-timestamp', form: 'seconds' },
    },
    secret: 'whsec',
  },
  github: {
    in: 'headers',
    signature: 'x-hub-signature-256',
    prefix: 'sha256=',
    algorithm: 'sha256',
    encoding: 'hex',
    signs: '{body}',
    fields: {},
    secret: 'text',
  },
  stripe: {
    in: 'headers',
    signature: 'stripe-signature',
    separator: ',',
    prefix: 'v1=',
    algorithm: 'sha256',
    encoding: 'hex',
    signs: '{timestamp}.{body}',
    fields: { timestamp: { name: 't=', form: 'seconds', isEntry: true } },
    secret: 'text',
  },
  // What the HTTP bridge of Crossbar.io takes. Nothing separates the numbers, so the signature stands for the id, not they.
  crossbar: {
    in: 'query',
    signature: 'signature',
    prefix: '',
    algorithm: 'sha256',
    encoding: 'base64url',
    signs: '{key}{timestamp}{seq}{nonce}{body}',
    fields: {
      key: { name: 'key', form: 'name' },
      timestamp: { name: 'timestamp', form: 'iso' },
      seq: { name: 'seq', form: 'number' },
      nonce: { name: 'nonce', form: 'number' },
    },
    secret: 'text',
  },
}

const DEFAULT_MAX_AGE_SECONDS = 300

export const maxAgeSecondsOf = ({ max_age_secs: seconds }: SignatureRecord): number =>
  seconds ?? DEFAULT_MAX_AGE_SECONDS

/** The form of a valid signature. @example signatureFormOf({ secrets: ['s'] }) // PRESETS.standard */
export const signatureFormOf = (record: SignatureRecord): SignatureForm => {
  const { preset = 'standard', header, signs = '', timestamp, id } = record
  if (header === undefined) return PRESETS[preset]
  return {
    in: 'headers',
    signature: header.toLowerCase(),
    prefix: record.prefix ?? '',
    algorithm: record.algorithm ?? 'sha256',
    encoding: record.encoding ?? 'hex',
    signs,
    fields: {
      ...(timestamp !== undefined && {
        timestamp: { name: timestamp.toLowerCase(), form: 'seconds' },
      }),
      ...(id !== undefined && { id: { name: id.toLowerCase(), form: 'text' } }),
    },
    secret: 'text',
  }
}

/** A text that stands in `signs` itself, or the name of a field. */
export type SignedPart = { readonly text: string } | { readonly field: string }

/** @example partsOf('{id}.{body}') // [{ field: 'id' }, { text: '.' }, { field: 'body' }] */
export const partsOf = (signs: string): readonly SignedPart[] =>
  signs
    .split(/(\{[a-z]+\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{[a-z]+\}$/.test(part) ? { field: part.slice(1, -1) } : { text: part }))

const WHSEC = 'whsec_'

/**
 * The key that a secret stands for: the bytes behind `whsec_` where the sender writes it so.
 * @example secretBytes('whsec_c2VjcmV0', 'whsec') // the bytes of 'secret'
 */
export const secretBytes = (secret: string, kind: SignatureForm['secret']): Uint8Array =>
  kind === 'whsec' && isBase64(secret)
    ? Buffer.from(secret.slice(WHSEC.length), 'base64')
    : Buffer.from(secret)

/** What a document is validated by that names a signature. */
export interface SignatureFacts {
  /** Its requests have a time, so that one is taken once. */
  readonly hasTimestamp: boolean
}

/** Facts by name. */
export const signatureFactsOf = ({
  signatures = {},
}: RealmRecord): Readonly<Record<string, SignatureFacts>> =>
  // All are own members, also one that is called __proto__.
  Object.fromEntries(
    Object.entries(signatures).map(([name, record]): readonly [string, SignatureFacts] => [
      name,
      { hasTimestamp: signatureFormOf(record).fields['timestamp'] !== undefined },
    ]),
  )

/** What is wrong with signatures that have the shape that the schema asks for. */
export const signatureProblems = ({ signatures = {} }: RealmRecord): readonly Problem[] =>
  Object.entries(signatures).flatMap(([name, record]) => {
    const pointer = childPointer('/signatures', name)
    return [...formProblems(record, pointer), ...secretProblems(record, pointer)]
  })

/** What a preset says already. */
const OWN = ['header', 'prefix', 'algorithm', 'encoding', 'signs', 'timestamp', 'id'] as const

const formProblems = (record: SignatureRecord, pointer: string): readonly Problem[] => {
  const own = OWN.filter((member) => record[member] !== undefined)
  const { preset, header, signs } = record
  if (own.length === 0) return ageProblems(record, pointer)
  if (preset !== undefined)
    return own.map((member) =>
      invalid(
        childPointer(pointer, member),
        `the preset ${preset} says it already: leave it out, or leave preset out and say all`,
      ),
    )
  const missing = (['header', 'signs'] as const).filter((member) => record[member] === undefined)
  if (header === undefined || signs === undefined)
    return missing.map((member) => ({
      code: 'missing_required_value',
      path: childPointer(pointer, member),
      message: 'a signature without a preset needs header and signs',
    }))
  return [
    ...headerProblems(record, pointer),
    ...textProblems(signs, record, childPointer(pointer, 'signs')),
    ...ageProblems(record, pointer),
  ]
}

const ageProblems = (record: SignatureRecord, pointer: string): readonly Problem[] =>
  record.max_age_secs === undefined || signatureFormOf(record).fields['timestamp'] !== undefined
    ? []
    : [
        invalid(
          childPointer(pointer, 'max_age_secs'),
          'requests with this signature have no timestamp, so their age is not known: leave it out',
        ),
      ]

/** They may carry other credentials, or several values at once. */
const NO_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie'])

const headerProblems = (record: SignatureRecord, pointer: string): readonly Problem[] => {
  const seen = new Set<string>()
  return (['header', 'timestamp', 'id'] as const).flatMap((member) => {
    const name = record[member]?.toLowerCase()
    if (name === undefined) return []
    const path = childPointer(pointer, member)
    if (NO_HEADERS.has(name)) return [invalid(path, `${name} is a header for other credentials`)]
    if (seen.has(name)) return [invalid(path, 'signature, timestamp and id need a header of each')]
    seen.add(name)
    return []
  })
}

/** Without a separator that cannot stand in a field, what is signed could be read in two ways: a part of one as of the next. */
const textProblems = (
  signs: string,
  { timestamp, id }: SignatureRecord,
  path: string,
): readonly Problem[] => {
  const parts = partsOf(signs)
  const fields = parts.flatMap((part) => ('field' in part ? [part.field] : []))
  const needed = [
    ...(timestamp === undefined ? [] : ['timestamp']),
    ...(id === undefined ? [] : ['id']),
    'body',
  ]
  if ([...fields].sort().join() !== [...needed].sort().join())
    return [
      invalid(
        path,
        `expected ${needed.map((field) => `{${field}}`).join(' and ')}, each once: what a request says beside its body is signed too`,
      ),
    ]
  const last = parts.at(-1)
  if (last === undefined || !('field' in last) || last.field !== 'body')
    return [invalid(path, 'expected {body} at the end')]
  const isUnseparated = parts.some((part, at) => {
    const next = parts[at + 1]
    return 'field' in part && next !== undefined && !isSeparator(next)
  })
  return isUnseparated
    ? [
        invalid(
          path,
          'expected a separator between fields, such as a dot, that is no digit: else a part of one could be taken as one of the next',
        ),
      ]
    : []
}

const isSeparator = (part: SignedPart): boolean => 'text' in part && /^[^0-9]/.test(part.text)

const secretProblems = (record: SignatureRecord, pointer: string): readonly Problem[] =>
  record.secrets.flatMap((secret, index) =>
    signatureFormOf(record).secret !== 'whsec' || !secret.startsWith(WHSEC) || isBase64(secret)
      ? []
      : [
          invalid(
            `${pointer}/secrets/${index}`,
            'expected base64 behind whsec_, as the sender shows it',
          ),
        ],
  )

const isBase64 = (secret: string): boolean =>
  /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(secret) &&
  secret !== WHSEC

const invalid = (path: string, message: string): Problem => ({
  code: 'invalid_value',
  path,
  message,
})
