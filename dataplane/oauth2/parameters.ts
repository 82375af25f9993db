// Reads the parameters that an endpoint knows from the form of a request (RFC 6749 §3.2). Unknown ones are ignored;
// none is ever read from the query, and a duplicate is an error.

import type { OAuthRequest } from './oauth2-endpoint.ts'
import { malformed } from './oauth-error.ts'

/** Never empty values: a parameter without one counts as left out (RFC 6749 §3.1). */
export type Parameters = ReadonlyMap<string, string>

const FORM = 'application/x-www-form-urlencoded'
const MAX_FORM_LENGTH = 65_536

/**
 * @param known names of the endpoint; others may occur, any number of times
 * @throws OAuthError `invalid_request`
 */
export const readParameters = (request: OAuthRequest, known: ReadonlySet<string>): Parameters => {
  checkContentType(request.headers['content-type'])
  if (request.body.length > MAX_FORM_LENGTH) throw malformed('The form is too large')
  for (const [name] of pairsOf(request.query))
    if (known.has(name)) throw malformed('Send parameters in the form, not in the query')
  const seen = new Set<string>()
  const parameters = new Map<string, string>()
  for (const [name, value] of pairsOf(request.body)) {
    if (!known.has(name)) continue
    if (seen.has(name)) throw malformed('A parameter occurs twice')
    seen.add(name)
    if (value !== '') parameters.set(name, value)
  }
  return parameters
}

/** @throws OAuthError `invalid_request` */
export const required = (parameters: Parameters, name: string): string => {
  const value = parameters.get(name)
  if (value === undefined) throw malformed(`The parameter ${name} is missing`)
  return value
}

/**
 * Decodes a text in the encoding of forms (WHATWG URL §5.1); undefined if it is invalid, or not UTF-8.
 * @example decodeFormText('a+b%3A') // 'a b:'
 */
export const decodeFormText = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

const checkContentType = (header: string | undefined): void => {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim())
  const isUtf8 = parameters.every((each) => !/^charset=/i.test(each) || UTF8.test(each))
  if (type.toLowerCase() !== FORM || !isUtf8) throw malformed(`The body must be ${FORM} in UTF-8`)
}

const UTF8 = /^charset="?utf-?8"?$/i

const pairsOf = function* (text: string): Generator<readonly [name: string, value: string]> {
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const cut = pair.indexOf('=')
    const name = decodeFormText(cut < 0 ? pair : pair.slice(0, cut))
    const value = decodeFormText(cut < 0 ? '' : pair.slice(cut + 1))
    if (name === undefined || value === undefined) throw malformed('The form can not be decoded')
    yield [name, value]
  }
}
