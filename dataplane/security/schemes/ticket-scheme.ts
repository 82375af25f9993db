// Implements the oidc scheme (behaviour §6): it accepts a ticket in the Authorization header or in its cookie. A
// header decides alone; a cookie, which browsers send by themselves, needs the CSRF value with it.

import { oncePer } from '../../../base/once.ts'
import { parseJson } from '../../../base/parse-json.ts'
import { ownValue } from '../../../language/expression/lookup.ts'
import { isMap } from '../../../language/expression/value.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { GatewayError, type TokenRefusal } from '../../gateway-error.ts'
import { valuesOf } from '../../upstream/headers.ts'
import {
  type CredentialCheck,
  type Authenticator,
  notAccepted,
  notPresented,
  type AuthenticationResult,
  type KnownIdentity,
  type Refusal,
} from './authenticator.ts'
import type { Identity } from './authentication.ts'
import { type Authorization, readAuthorization } from './authorization-header.ts'
import { csrfValueOf, isCsrfRight } from '../tokens/csrf.ts'
import { ticketIdentity } from './identity.ts'
import { cookieText, parseCookies } from '../parsed-cookies.ts'
import type { RevocationGate } from './revocation-gate.ts'
import { cookieValues, csrfCookieName, ticketCookieName } from '../session-cookies.ts'
import { revokedRefusal } from './revoked-check.ts'
import { ticketRevocationKeys, type Tickets } from '../tokens/ticket.ts'
import { refusedToken, shapeRefusal } from '../tokens/token-refusal.ts'
import { createTokenCache, type Verified } from '../tokens/token-cache.ts'
import type { TokenKeys } from '../tokens/token-keys.ts'

export interface TicketSchemeOptions {
  readonly tickets: Pick<Tickets, 'readTicket'>
  readonly keys: TokenKeys
  readonly gate: RevocationGate
  /** Unix time in milliseconds. */
  readonly now: () => number
}

interface Genuine {
  readonly identity: Identity
  readonly provider: string
  readonly csrf: string
}

interface Refused {
  readonly refusal: TokenRefusal
  /** Genuine, and expired or of another realm; false: this gateway has not signed it. */
  readonly isEnded: boolean
}

type Found = Verified<Genuine> | Refused

export const createTicketScheme = (options: TicketSchemeOptions): Authenticator => {
  const find = createFinder(options)
  const namesOf = createNames()

  const byHeader = (record: RealmRecord, { scheme, credentials }: Authorization) => {
    if (scheme !== 'bearer') return notPresented('oidc', record.uri)
    if (!isAllowed(record, ['oidcrp'])) return notAllowed(record)
    const decide = (found: Found): AuthenticationResult => admit(record, found, options.gate)
    const found = find(record, credentials)
    return found instanceof Promise ? found.then(decide) : decide(found)
  }

  const byCookie = (attempt: CredentialCheck) => {
    const { record, rawHeaders } = attempt
    const names = namesOf(record)
    const values = cookieValues(rawHeaders, names.ticket).filter((value) => value !== '')
    if (values.length === 0) return notPresented('oidc', record.uri)
    if (!isAllowed(record, ['oidcrp', 'cookie'])) return notAllowed(record)
    const decide = (found: readonly Found[]): AuthenticationResult =>
      decideAmong(found, attempt, names.csrf, options.gate)
    const found = values.map((value) => find(record, value))
    return isAllThere(found)
      ? decide(found)
      : Promise.all(found.map((each) => Promise.resolve(each))).then(decide)
  }

  return (attempt) => {
    const authorization = readAuthorization(attempt.rawHeaders)
    return authorization === undefined ? byCookie(attempt) : byHeader(attempt.record, authorization)
  }
}

/** The realm may have changed since the document was loaded. */
const isAllowed = ({ authmethods = [] }: RealmRecord, needed: readonly string[]): boolean =>
  needed.every((method) => authmethods.includes(method))

const notAllowed = ({ uri }: RealmRecord): AuthenticationResult =>
  notAccepted('oidc', uri, 'authmethod_not_allowed')

const createFinder = ({ tickets, keys, gate, now }: TicketSchemeOptions) => {
  const cache = createTokenCache<Genuine>(now)

  const verify = async (record: RealmRecord, jwt: string): Promise<Found> => {
    const { claims, refusal } = await tickets.readTicket(record.uri, jwt)
    if (refusal !== undefined)
      return (await endedElsewhere(tickets, record, jwt)) ?? { refusal, isEnded: false }
    if (claims.expires_at * 1000 <= now())
      return { refusal: refusedToken('expired', 'expires_at'), isEnded: true }
    const key = keys.verificationKey(record.uri, claims.kid)
    if (key === undefined) return { refusal: refusedToken('unknown_key', 'kid'), isEnded: false }
    const verified: Verified<Genuine> = {
      value: {
        identity: ticketIdentity(claims),
        provider: claims.oidc_provider,
        csrf: csrfValueOf(key, claims.id),
      },
      until: claims.expires_at * 1000,
      revocationKeys: ticketRevocationKeys(claims),
    }
    if (gate(verified) === 'good') cache.keep(record, jwt, verified)
    return verified
  }

  return (record: RealmRecord, jwt: string): Found | Promise<Found> => {
    const known = cache.find(record, jwt)
    if (known !== undefined) return known
    const refusal = shapeRefusal(jwt)
    return refusal === undefined ? verify(record, jwt) : { refusal, isEnded: false }
  }
}

/** A ticket of another realm of this gateway. Its own claim names the realm whose keys must have signed it. */
const endedElsewhere = async (
  tickets: TicketSchemeOptions['tickets'],
  { uri }: RealmRecord,
  jwt: string,
): Promise<Refused | undefined> => {
  const realm = claimedRealm(jwt)
  if (realm === undefined || realm === uri) return undefined
  const { claims } = await tickets.readTicket(realm, jwt)
  return claims && { refusal: refusedToken('realm', 'authrealm', uri), isEnded: true }
}

const claimedRealm = (jwt: string): string | undefined => {
  try {
    const claims = parseJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
    const realm = isMap(claims) ? ownValue(claims, 'authrealm') : undefined
    return typeof realm === 'string' ? realm : undefined
  } catch {
    return undefined
  }
}

const isAllThere = (found: readonly (Found | Promise<Found>)[]): found is readonly Found[] =>
  !found.some((each) => each instanceof Promise)

const admit = (
  record: RealmRecord,
  found: Found,
  gate: RevocationGate,
): KnownIdentity | Refusal => {
  if (isRefused(found))
    return { ...notAccepted('oidc', record.uri, found.refusal), isEnded: found.isEnded }
  const { identity } = found.value
  const refusal = revokedRefusal('oidc', record.uri, gate(found), identity.authid)
  return refusal === undefined
    ? { kind: 'identity', identity, validity: found }
    : { ...refusal, isEnded: refusal.reason === 'revoked' }
}

/** A party that may set cookies for our host can add forged ones, or a genuine one of its own. */
const decideAmong = (
  found: readonly Found[],
  attempt: CredentialCheck,
  csrfCookie: string,
  gate: RevocationGate,
): AuthenticationResult => {
  const { record } = attempt
  const refused = found.filter(isRefused)
  const genuine = found.filter(isGenuine)
  const standing = genuine.filter((each) => gate(each) !== 'revoked')
  const [first = genuine[0]] = standing
  const forged = refused.find(({ isEnded }) => !isEnded)
  const isForged = forged !== undefined
  const chosen = first ?? forged ?? refused[0]
  if (chosen === undefined) return notPresented('oidc', record.uri)
  const result = admit(record, chosen, gate)
  if (result.kind === 'refused')
    return { ...result, isEnded: result.isEnded === true && !isForged, isForged }
  if (first === undefined) return result
  if (!standing.every((each) => isSamePerson(each, first)))
    return notAccepted('oidc', record.uri, 'ambiguous_tickets')
  if (!attempt.isUnsafe) return result
  const csrf = {
    headers: valuesOf(attempt.rawHeaders, 'x-csrf-token'),
    cookie: cookieText(parseCookies(attempt.rawHeaders), csrfCookie),
  }
  const meant = standing.find(({ value }) => isCsrfRight(csrf, value.csrf))
  return meant === undefined
    ? csrfRefusal(first.value.identity.authid)
    : { kind: 'identity', identity: meant.value.identity, validity: meant }
}

const isRefused = (found: Found): found is Refused => 'refusal' in found

const isGenuine = (found: Found): found is Verified<Genuine> => !isRefused(found)

/** Two providers may use the same name for two people. */
const isSamePerson = (one: Verified<Genuine>, other: Verified<Genuine>): boolean =>
  one.value.identity.authid === other.value.identity.authid &&
  one.value.provider === other.value.provider

const WITHOUT_CSRF = 'The request does not carry the CSRF token that belongs to its ticket'

const csrfRefusal = (authid: string): AuthenticationResult => ({
  kind: 'refused',
  error: new GatewayError('svc.error.forbidden', WITHOUT_CSRF, { reason: 'csrf' }),
  reason: 'csrf',
  authid,
})

interface Names {
  readonly ticket: string
  readonly csrf: string
}

const createNames = (): ((record: RealmRecord) => Names) =>
  oncePer(({ uri }) => ({ ticket: ticketCookieName(uri), csrf: csrfCookieName(uri) }))
