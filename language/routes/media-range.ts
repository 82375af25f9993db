// Reads the media ranges of documents (`image/png`, `text/*`, `application/*+json`, `*/*`) and decides which Content-Type
// values each of them takes (behaviour §2).

import { mediaKind, mediaTypeOf } from './media-kind.ts'

/** RFC 6838 §4.2. */
const NAME = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+\\-]{0,126}'
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"'
const PARAMETER = `[ \\t]*;[ \\t]*(?![Qq]=)${TOKEN}=(?:${TOKEN}|${QUOTED})`

/** What a document may write: a type, or a range of them, perhaps with parameters. `q` is none of a type. */
export const MEDIA_RANGE = `^(?:\\*/\\*|[Aa]pplication/\\*\\+json|${NAME}/(?:\\*|${NAME}))(?:${PARAMETER})*$`

const RANGE = new RegExp(MEDIA_RANGE)

const MAX_RANGE_CHARACTERS = 255

/**
 * A range of a document in lower case, its parameters in order; undefined: it is none.
 * @example readMediaRange('Text/CSV;Header=present') // 'text/csv; header=present'
 */
export const readMediaRange = (text: string): string | undefined => {
  if (text.length > MAX_RANGE_CHARACTERS || !RANGE.test(text)) return undefined
  return mediaTypeOf(text) + parametersOf(text)
}

const PARAMETERS = new RegExp(`;[ \\t]*(${TOKEN})=(${QUOTED}|${TOKEN})`, 'g')

/** Writes equal values in one spelling; only the names and a charset are the same in any case (RFC 9110 §8.3.1). */
const parametersOf = (contentType: string): string =>
  [...contentType.matchAll(PARAMETERS)]
    .map(([, written = '', value = '']) => {
      const name = written.toLowerCase()
      const plain = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
      return `; ${name}=${name === 'charset' ? plain.toLowerCase() : plain}`
    })
    .sort()
    .join('')

/** JSON, MessagePack and forms are UTF-8 in any case, so that naming it says nothing. */
export const withoutUsualCharset = (range: string): string =>
  mediaKind(range) === 'other' ? range : range.replace('; charset=utf-8', '')

/** One type, and parameters without a comma outside quotes: two lines of Content-Type are joined by one. */
const ONE_TYPE = new RegExp(`^${NAME}/${NAME}[ \\t]*(?:;(?:[^",]|${QUOTED})*)?$`)

/** The type of a Content-Type value without parameters, in lower case; undefined: it names none, or several. */
export const sentType = (contentType: string): string | undefined => {
  // Most requests with a body name it so: the expression costs a hundredth of serving one.
  if (contentType === 'application/json') return contentType
  return ONE_TYPE.test(contentType) ? mediaTypeOf(contentType) : undefined
}

/**
 * Whether a range takes a Content-Type value: one without parameters takes any of them, one with parameters only those.
 * @param type that of the value, without parameters
 */
export const takesType = (range: string, type: string, contentType: string): boolean => {
  const semicolon = range.indexOf(';')
  if (semicolon >= 0)
    return (
      takesType(range.slice(0, semicolon), type, contentType) &&
      withoutUsualCharset(type + parametersOf(contentType)) === type + range.slice(semicolon)
    )
  if (range === type || range === '*/*') return true
  if (range === 'application/*+json')
    return type.startsWith('application/') && type.endsWith('+json')
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1))
}

/** Whether expressions may read bodies of all types that a range takes. */
export const isReadable = (range: string): boolean =>
  mediaKind(range) !== 'other' || range.startsWith('text/')

/** Whether it stands for several types. */
export const isWildcard = (range: string): boolean => mediaTypeOf(range).includes('*')

/** What a page of another site can send to a server without asking it before (WHATWG Fetch, CORS-safelisted). */
const WITHOUT_PREFLIGHT: ReadonlySet<string> = new Set([
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
])

export const isSentWithoutPreflight = (type: string): boolean => WITHOUT_PREFLIGHT.has(type)
