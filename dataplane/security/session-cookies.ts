// Names the cookies of a realm (specification §4.1, behaviour §6), and reads the tickets of a request. It reads the raw header:
// cookies are input of the client, including duplicates.

import { valuesOf } from '../upstream/headers.ts'

/** @example ticketCookieName('urn:example:shop') // 'svc_ticket_urn%3Aexample%3Ashop' */
export const ticketCookieName = (realmUri: string): string => `svc_ticket_${asToken(realmUri)}`

/** @example csrfCookieName('com.example') // 'svc_csrf_com.example' */
export const csrfCookieName = (realmUri: string): string => `svc_csrf_${asToken(realmUri)}`

/**
 * The cookie that says that a browser has just come back from a login to which the gateway had redirected it. The dot
 * makes it no cookie of a login in progress.
 * @example returnCookieName('com.example') // '__Host-svc_oidc_.returned.com.example'
 */
export const returnCookieName = (realmUri: string): string =>
  `__Host-svc_oidc_.returned.${asToken(realmUri)}`

/** Characters of a cookie name (RFC 6265 §4.1.1: RFC 2616 tokens) except `%`, which encodes the others. */
const TOKEN = /^[!#$&'*+\-.^_`|~0-9A-Za-z]$/

/** One name for each uri: characters that a name may not contain, and `%` itself, are percent-encoded as UTF-8. */
const asToken = (uri: string): string => {
  let name = ''
  for (const byte of Buffer.from(uri, 'utf8')) {
    const character = String.fromCharCode(byte)
    name += TOKEN.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return name
}

/** No browser needs more of one name, and each costs a verification. */
const MAX_DUPLICATES = 16

/**
 * Every value of a cookie, in order, at most the first 16; `[]` if there is none. Values are as sent: no unquoting,
 * no decoding.
 * @param rawHeaders in the form of `IncomingMessage.rawHeaders`
 */
export const cookieValues = (rawHeaders: readonly string[], name: string): readonly string[] => {
  const values: string[] = []
  for (const header of valuesOf(rawHeaders, 'cookie')) addValues(values, header, `${name}=`)
  return values
}

/**
 * Searches for the name rather than splitting the whole header: this takes half the time with a ticket of 2 kB in it.
 */
const addValues = (values: string[], header: string, prefix: string): void => {
  let at = header.indexOf(prefix)
  while (at >= 0 && values.length < MAX_DUPLICATES) {
    const start = at + prefix.length
    const semicolon = header.indexOf(';', start)
    const end = semicolon < 0 ? header.length : semicolon
    if (beginsPair(header, at)) values.push(header.slice(start, end).trim())
    at = header.indexOf(prefix, end)
  }
}

const beginsPair = (header: string, at: number): boolean => {
  let before = at - 1
  while (header[before] === ' ' || header[before] === '\t') before--
  return before < 0 || header[before] === ';'
}
