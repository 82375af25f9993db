// Negotiates content (RFC 9110 §12): Accept against `provides`, Content-Type against `accepts`, Accept-Language
// against `languages`. It reads headers of any length in one pass.

import type { ContentType } from '../compiled.ts'
import type { Method } from '../document.ts'
import { charsetOf, mediaKind, mediaTypeOf } from './media-kind.ts'

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

/** JSON before msgpack, one of each, as written otherwise. */
export const orderOffers = (provides: readonly ContentType[]): readonly ContentType[] => {
  const json = provides.find((type) => mediaKind(type) === 'json')
  const msgpack = provides.find((type) => mediaKind(type) === 'msgpack')
  return [json, msgpack].filter((type) => type !== undefined)
}

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

/** True when a body of this type may be sent to an operation with these `accepts`. */
export const isAcceptedType = (
  contentType: string | undefined,
  accepts: readonly ContentType[],
): boolean => {
  if (contentType === undefined) return false
  if (!isUtf8(contentType)) return false
  const type = mediaTypeOf(contentType)
  return accepts.some((accepted) => accepted === type || accepted.startsWith(`${type};`))
}

const WITH_BODY: ReadonlySet<Method> = new Set(['post', 'put', 'patch'])

/** Methods whose body means something. */
export const isWithBody = (method: Method): boolean => WITH_BODY.has(method)

/**
 * Whether the Content-Type of a body lets an operation of this method be served.
 * @param goesUnread the body passes to an upstream undecoded: then it may be without a type
 */
export const isServedType = (
  contentType: string | undefined,
  {
    method,
    accepts,
    goesUnread,
  }: {
    readonly method: Method
    readonly accepts: readonly ContentType[]
    readonly goesUnread: boolean
  },
): boolean =>
  !isWithBody(method) ||
  (contentType === undefined && goesUnread) ||
  isAcceptedType(goesUnread ? mediaTypeOf(contentType ?? '') : contentType, accepts)

/** JSON and forms are UTF-8 by definition, so the charset must be absent or UTF-8 where they are read. */
const isUtf8 = (contentType: string): boolean => {
  const charset = charsetOf(contentType)
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
