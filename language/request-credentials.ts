// Finds the schemes that a request has credentials for, as far as its headers tell. Verifies nothing. Pure.

import { parseJson } from '../base/parse-json.ts'
import {
  ANONYMOUS,
  type CompiledSecurity,
  credentialPlaceOf,
  authSchemesOf,
  type SecurityScheme,
} from './compile/security.ts'
import type { Method } from './document.ts'
import { isMap } from './expression/value.ts'

/** All values of a header, by its name in lower case; `[]` if there is none. */
export type HeaderValues = (name: string) => readonly string[]

/** Whether the request has a signature that the realm knows by this name. */
export type HasSignature = (name: string) => boolean

export interface FoundCredentials {
  /** In the order of the document. A ticket in a cookie counts only where nothing else is there. */
  readonly schemes: readonly SecurityScheme[]
  readonly source: 'header' | 'cookie'
  /** `Authorization` occurs twice: a proxy in front may have checked the other one. */
  readonly isAmbiguous: boolean
}

/**
 * Credentials of schemes that are not in the list are not looked at.
 * @param hasSignature what stands where only the realm says; if left out, nothing
 * @example findCredentials([{ type: 'basic' }], () => ['Basic YTpi']).schemes // [{ type: 'basic' }]
 */
export const findCredentials = (
  security: CompiledSecurity,
  headerValues: HeaderValues,
  hasSignature: HasSignature = () => false,
): FoundCredentials => {
  const schemes = authSchemesOf(security)
  const authorization = headerValues('authorization')
  const readers = schemes.filter((each) => credentialPlaceOf(each).header === 'authorization')
  if (authorization.length > 1 && readers.length > 0)
    return { schemes: readers, source: 'header', isAmbiguous: true }
  const areBothRead = (['ticket', 'other'] as const).every((kind) =>
    readers.some((each) => credentialPlaceOf(each).token === kind),
  )
  const found = schemes.filter((each) => {
    const { header, authScheme, token } = credentialPlaceOf(each)
    if (header === undefined) return each.type === 'hmac' && hasSignature(each.signature)
    const [value = '', ...more] = headerValues(header)
    if (authScheme === undefined) return value !== '' || more.length > 0
    if (authSchemeOf(value) !== authScheme) return false
    return token === undefined || !areBothRead || isTicket(value) === (token === 'ticket')
  })
  if (found.length > 0) return { schemes: found, source: 'header', isAmbiguous: false }
  const byCookie = authorization.length > 0 ? [] : schemes.filter(({ type }) => type === 'oidc')
  return { schemes: byCookie, source: 'cookie', isAmbiguous: false }
}

const authSchemeOf = (value: string): string =>
  /^[^\s]*/.exec(value.trimStart())?.[0].toLowerCase() ?? ''

/** The type of tickets, in the header of their JWT (RFC 7515 §4.1.9). */
export const TICKET_TYPE = 'svc-ticket+jwt'

/** Longer than any header of a JWT of this gateway. */
const MAX_JWT_HEADER = 1024

const isTicket = (authorization: string): boolean => {
  const [header = ''] = authorization.replace(/^\s*\S+\s+/, '').split('.', 1)
  if (header.length > MAX_JWT_HEADER) return false
  try {
    const read = parseJson(Buffer.from(header, 'base64url').toString())
    return isMap(read) && read['typ'] === TICKET_TYPE
  } catch {
    return false
  }
}

/**
 * What a request of this method must satisfy: callers of OPTIONS need no credentials (behaviour §3), and must be in one of
 * the networks.
 */
export const securityOfMethod = (method: Method, security: CompiledSecurity): CompiledSecurity => {
  if (method !== 'options') return security
  const places = security.map(({ networks, pointer }) => ({
    type: 'anonymous' as const,
    ...(networks !== undefined && { networks, pointer }),
  }))
  return places.some(({ networks }) => networks === undefined) ? ANONYMOUS : places
}
