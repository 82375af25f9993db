// Negotiates content (RFC 9110 §12): Accept against `provides`, Content-Type against `accepts`, Accept-Language
// against `languages`. It reads headers of any length in one pass.

import type { Method } from '../document.ts'
import { charsetOf, mediaKind, mediaTypeOf } from './media-kind.ts'
import { isSentWithoutPreflight, sentType, takesType } from './media-range.ts'

/** A media type or, in `accepts`, a range of them: lower case, its parameters in order. */
export type ContentType = string

interface Range {
  readonly name: string
  readonly q: number
}

/** Further ranges are ignored: no real client sends so many. */
const MAX_RANGES = 64

/**
 * Picks the content type of the response: the best by q, among equals the first of `offers`; undefined: none is
 * acceptable. JSON is first in `offers` (see `orderOffers`).
 */
export const pickContentType = (
  accept: string | undefined,
  offers: readonly ContentType[],
): ContentType | undefined => {
  const first = offers[0]
  if (accept === undefined || accept === '*/*' || accept === '' || accept === first) return first
  const ranges = parseRanges(accept)
  let best: ContentType | undefined
  let bestQ = 0
  for (const offer of offers) {
    const q = qualityOf(offer, ranges)
    if (q > bestQ) {
      best = offer
      bestQ = q
    }
  }
  return best
}

/**
 * Rates server-sent events against what an operation `offers` otherwise: `preferred` with a higher q than every
 * offer, `accepted` with any q, or without an Accept.
 * @example rateEventStream('text/event-stream, application/json;q=0.9', offers) // 'preferred'
 */
export const rateEventStream = (
  accept: string | undefined,
  offers: readonly ContentType[],
): 'preferred' | 'accepted' | 'refused' => {
  if (accept === undefined || accept === '*/*' || accept === '') return 'accepted'
  const ranges = parseRanges(accept)
  const q = qualityOf(EVENT_STREAM, ranges)
  if (q === 0) return 'refused'
  return offers.every((offer) => qualityOf(offer, ranges) < q) ? 'preferred' : 'accepted'
}

export const EVENT_STREAM = 'text/event-stream'

const REFUSAL_TYPES: readonly ContentType[] = ['application/json', 'application/msgpack']

/**
 * The type of the gateway's own error records: one that the client accepts, whatever an operation provides; otherwise
 * JSON.
 */
export const refusalType = (accept: string | undefined): ContentType =>
  pickContentType(accept, REFUSAL_TYPES) ?? 'application/json'

/** Problem details (RFC 9457 §3). */
export const PROBLEM_JSON = 'application/problem+json'

/** Whether the client names problem details, and rates them no lower than the type that errors have otherwise. */
export const prefersProblem = (accept: string | undefined, otherwise: string): boolean => {
  if (accept === undefined || accept.length < PROBLEM_JSON.length) return false
  const ranges = parseRanges(accept)
  if (!ranges.some(({ name }) => name === PROBLEM_JSON)) return false
  const q = qualityOf(PROBLEM_JSON, ranges)
  return q > 0 && q >= qualityOf(otherwise, ranges)
}

/** JSON before msgpack, one of each, then what the document sets as the type itself, as written. */
export const orderOffers = (provides: readonly ContentType[]): readonly ContentType[] => {
  const json = provides.find((type) => mediaTypeOf(type) === 'application/json')
  const msgpack = provides.find((type) => mediaTypeOf(type) === 'application/msgpack')
  const others = provides.filter((type) => !isWrittenType(type))
  return [json, msgpack, ...others].filter((type) => type !== undefined)
}

/** True for the types that values are written in; responses of other types are what the document makes of them. */
export const isWrittenType = (type: ContentType): boolean =>
  REFUSAL_TYPES.includes(mediaTypeOf(type))

/** The type that values and error records are written in, where the client was offered `offered`. */
export const writtenType = (
  offered: ContentType | undefined,
  accept: string | undefined,
): ContentType => (offered !== undefined && isWrittenType(offered) ? offered : refusalType(accept))

/** The most specific range decides (RFC 9110 §12.5.1); parameters other than q are ignored. */
const qualityOf = (offer: string, ranges: readonly Range[]): number => {
  const semicolon = offer.indexOf(';')
  const type = semicolon < 0 ? offer : offer.slice(0, semicolon)
  const family = `${type.slice(0, type.indexOf('/'))}/*`
  let q = 0
  let specificity = 0
  for (const range of ranges) {
    const matched =
      range.name === type ? 3 : range.name === family ? 2 : range.name === '*/*' ? 1 : 0
    if (matched > specificity || (matched === specificity && matched > 0 && range.q > q)) {
      specificity = matched
      q = range.q
    }
  }
  return q
}

const parseRanges = (header: string): readonly Range[] => {
  const ranges: Range[] = []
  let start = 0
  while (start <= header.length && ranges.length < MAX_RANGES) {
    const comma = header.indexOf(',', start)
    const end = comma < 0 ? header.length : comma
    const item = header.slice(start, end)
    const semicolon = item.indexOf(';')
    const name = (semicolon < 0 ? item : item.slice(0, semicolon)).trim().toLowerCase()
    if (name !== '') ranges.push({ name, q: semicolon < 0 ? 1 : qOf(item, semicolon) })
    start = end + 1
  }
  return ranges
}

const qOf = (item: string, from: number): number => {
  for (const parameter of item.slice(from + 1).split(';')) {
    const [name = '', value = ''] = parameter.split('=', 2)
    if (name.trim().toLowerCase() !== 'q') continue
    const q = Number(value.trim())
    return Number.isNaN(q) ? 0 : Math.min(Math.max(q, 0), 1)
  }
  return 1
}

/** What an operation takes, and how its callers are known. */
export interface TakenTypes {
  readonly method: Method
  /** Media ranges, as `readMediaRange` gives them. */
  readonly accepts: readonly string[]
  /** Browsers send its credentials by themselves: then the range of all types takes none that needs no preflight. */
  readonly isForgeable: boolean
}

/** For people whose body of this type is refused. */
export const describeAccepted = (contentType: string | undefined, taken: TakenTypes): string => {
  const { accepts, isForgeable } = taken
  if (isAcceptedType(contentType, taken))
    return 'This operation reads the type in UTF-8 alone: send it so, with charset=utf-8 or none.'
  const types = accepts.join(', ')
  return isForgeable && types.includes('*/*')
    ? `This operation accepts ${types}, but forms, multipart/form-data and text/plain only where its document names them in accepts: pages of other sites can send these, and browsers add its credentials by themselves.`
    : `This operation accepts ${types}.`
}

/** True when a body of this type may be sent to an operation. @internal exported for tests */
export const isAcceptedType = (
  contentType: string | undefined,
  { accepts, isForgeable }: TakenTypes,
): boolean => {
  const type = sentType(contentType ?? '')
  if (type === undefined) return false
  const mustBeNamed = isForgeable && isSentWithoutPreflight(type)
  return accepts.some(
    (range) =>
      !(mustBeNamed && range.startsWith('*/*')) && takesType(range, type, contentType ?? ''),
  )
}

/** True when a body of this type may be sent to an operation, and is in a charset that the type can be read in. */
export const isReadType = (contentType: string | undefined, taken: TakenTypes): boolean =>
  isAcceptedType(contentType, taken) && hasUsualCharset(contentType ?? '')

/** True for a body without a type: RFC 9110 §8.3 has no empty one. */
export const isUntyped = (contentType: string | undefined): boolean =>
  contentType === undefined || contentType.trim() === ''

const WITH_BODY: ReadonlySet<Method> = new Set(['post', 'put', 'patch'])

/** Methods whose body means something. */
export const isWithBody = (method: Method): boolean => WITH_BODY.has(method)

/**
 * Whether the Content-Type of a body lets an operation of this method be served.
 * @param goesUnread the body passes to an upstream undecoded: then it may be without a type
 */
export const isServedType = (
  contentType: string | undefined,
  taken: TakenTypes & { readonly goesUnread: boolean },
): boolean => {
  if (!isWithBody(taken.method)) return true
  if (isUntyped(contentType)) return taken.goesUnread
  return taken.goesUnread ? isAcceptedType(contentType, taken) : isReadType(contentType, taken)
}

/** JSON, MessagePack and forms are UTF-8 by definition; texts are in the charset that they name. */
const hasUsualCharset = (contentType: string): boolean => {
  const charset = mediaKind(contentType) === 'other' ? undefined : charsetOf(contentType)
  return charset === undefined || UTF_8.has(charset)
}

const UTF_8: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii'])

/**
 * Picks the language of the response (RFC 4647 §3.3, both ways: `es` picks `es-AR`, `es-AR` picks `es`): the best by
 * q, or the first of `languages` if none matches.
 */
export const pickLanguage = (
  acceptLanguage: string | undefined,
  languages: readonly string[],
): string => {
  const first = languages[0] ?? ''
  if (acceptLanguage === undefined || languages.length < 2) return first
  let best = first
  let bestQ = 0
  for (const range of parseRanges(acceptLanguage)) {
    if (range.q <= bestQ) continue
    const found = range.name === '*' ? first : findLanguage(range.name, languages)
    if (found === undefined) continue
    best = found
    bestQ = range.q
  }
  return best
}

const findLanguage = (range: string, languages: readonly string[]): string | undefined =>
  languages.find((tag) => tag.toLowerCase() === range) ??
  languages.find((tag) => tag.toLowerCase().startsWith(`${range}-`)) ??
  languages.find((tag) => range.startsWith(`${tag.toLowerCase()}-`))
