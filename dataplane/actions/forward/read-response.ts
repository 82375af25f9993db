// Keeps a response whole where the document reads it: leaves out of the request what lets an upstream answer without the
// body, or in a coding that is not decoded here, and finds responses that lack it all the same.

import { canInflate } from '../../codec/content-coding.ts'
import type { ResponseNeeds } from '../../../language/compile/response-needs.ts'
import { hasForeignCoding, type HeaderList, valuesOf } from '../../upstream/headers.ts'

/** They ask for a 304 or a 206. `If-Match` and `If-Unmodified-Since` protect from lost updates, and go up. */
const ASKS_FOR_LESS: ReadonlySet<string> = new Set([
  'if-modified-since',
  'if-none-match',
  'if-range',
  'range',
])

/**
 * The headers of a request whose response is read. What the document sets by itself stays: it knows what comes then.
 * @param raw those of the client
 */
export const askForWholeBody = (list: HeaderList, raw: readonly string[]): HeaderList => {
  const headers: HeaderList = []
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = list[at] ?? ''
    const value = list[at + 1] ?? ''
    if (ASKS_FOR_LESS.has(name) && valuesOf(raw, name).includes(value)) continue
    headers.push(name, name === 'accept-encoding' ? readCodings(value) : value)
  }
  return headers
}

/** `identity` where nothing else is left: without the header any coding may come (RFC 9110 §12.5.3). */
const readCodings = (accepted: string): string => {
  const read = accepted.split(',').filter((item) => {
    const [coding = '', ...parameters] = item.split(';')
    return canInflate(coding.trim().toLowerCase()) && !parameters.some((each) => REFUSES.test(each))
  })
  return read.length === 0 ? 'identity' : read.map((item) => item.trim()).join(', ')
}

const REFUSES = /^\s*q\s*=\s*0(?:\.0*)?\s*$/i

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Why a response is of no use to the document; undefined: it is.
 * @param headers those that were sent
 */
export const explainPartialResponse = (
  status: number,
  headers: readonly string[],
  { passesThrough, readsResultBody, needsResultMember }: ResponseNeeds,
): string | undefined => {
  if (passesThrough || !readsResultBody) return undefined
  if (status === 304 && !isConditional(headers))
    return 'The upstream answered with status 304, which was not asked for.'
  if (!needsResultMember) return undefined
  if (status === 206)
    return 'The upstream answered with a part of the body, of which a member is needed.'
  return WITHOUT_BODY.has(status)
    ? `The upstream answered with status ${status} and no body, of which a member is needed.`
    : undefined
}

const isConditional = (headers: readonly string[]): boolean =>
  headers.some((name, at) => at % 2 === 0 && CONDITIONS.has(name))

const CONDITIONS: ReadonlySet<string> = new Set(['if-modified-since', 'if-none-match'])

/** Rejects a head that clients would not all interpret alike. */
export const headErrorOf = (
  statusCode: number,
  raw: readonly (string | Buffer)[],
): string | undefined => {
  // RFC 9110 §15.
  if (statusCode > 599)
    return `The upstream answered with ${statusCode}, which is not an HTTP status.`
  // RFC 9110 §15.5.8: the client would offer its credentials for a proxy that it does not use.
  if (statusCode === 407) return 'The upstream answered with 407, as only proxies do.'
  return hasForeignCoding(raw)
    ? 'The upstream answered in a transfer coding other than chunked.'
    : undefined
}
