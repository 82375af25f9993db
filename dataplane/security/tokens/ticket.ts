// Issues and verifies tickets (specification §2.13, behaviour §6), which are signed JWTs with one algorithm, one
// type, and keys from the realm's ring only. The caller checks whether a ticket is revoked.

import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import { TICKET_TYPE } from '../../../language/request-credentials.ts'
import { csrfValueOf } from './csrf.ts'
import { readJwt, signJwt } from './own-jwt.ts'
import { oidcSessionKey, oidcSubjectKeys, ticketKey } from './revocation-keys.ts'
import type { TokenKeys } from './token-keys.ts'
import { refusedToken, type TokenReading } from './token-refusal.ts'

/** The claims of a ticket, with the names of the specification. Times are Unix seconds. */
export interface TicketClaims {
  readonly id: string
  readonly authrealm: string
  readonly authid: string
  readonly authmethod: 'oidcrp'
  readonly authroles: readonly string[]
  readonly issued_by: string
  readonly issued_on: string
  readonly issued_at: number
  readonly expires_at: number
  readonly scope: {
    readonly realm: string
    readonly client_id: string
    readonly device_id: string
  }
  readonly kid: string
  readonly oidc_provider: string
  readonly oidc_id_token?: string
  readonly oidc_access_token_expires_at?: number
  /** Session and subject at the provider, which a back-channel logout names. */
  readonly oidc_sid?: string
  readonly oidc_sub?: string
  /** Where the provider's entry has `group_claim`, and `claims`. */
  readonly groups?: readonly string[]
  readonly claims?: ValueMap
}

/** The claims that a login provides; the others are added when the ticket is signed. */
export type TicketOrder = Omit<TicketClaims, 'id' | 'authmethod' | 'issued_by' | 'kid'>

export interface IssuedTicket {
  readonly jwt: string
  readonly id: string
  /** The value of the csrf cookie. */
  readonly csrf: string
}

export interface Tickets {
  /** Rejects if the realm was removed or its keys cannot be read. */
  issueTicket(order: TicketOrder): Promise<IssuedTicket>
  /** Never rejects: a ticket of this realm, which may have expired, or why it is none. */
  readTicket(realmUri: string, jwt: string): Promise<TokenReading<TicketClaims>>
  /**
   * Never rejects: undefined for anything but a genuine ticket of this realm.
   * @param options a logout accepts what has expired as a hint, too
   */
  verifyTicket(
    realmUri: string,
    jwt: string,
    options?: { readonly ignoreExpiry: boolean },
  ): Promise<TicketClaims | undefined>
}

export interface TicketsOptions {
  readonly keys: TokenKeys
  /** Unix time in milliseconds. */
  readonly now: () => number
  /** UUID v4, as `randomUUID` of node:crypto. */
  readonly newId: () => string
}

/** @example const { jwt, csrf } = await createTickets({ keys, now: Date.now, newId: randomUUID }).issueTicket(order) */
export const createTickets = ({ keys, now, newId }: TicketsOptions): Tickets => {
  const readTicket: Tickets['readTicket'] = async (realmUri, jwt) => {
    const { claims, refusal } = await readJwt(jwt, TICKET_TYPE, (kid) =>
      keys.verificationKey(realmUri, kid),
    )
    if (refusal !== undefined) return { refusal }
    if (!isTicket(claims)) return { refusal: refusedToken('malformed') }
    return claims.authrealm === realmUri && claims.scope.realm === realmUri
      ? { claims }
      : { refusal: refusedToken('realm', 'authrealm', realmUri) }
  }

  const issueTicket: Tickets['issueTicket'] = async (order) => {
    const key = keys.signingKey(order.authrealm)
    const claims: TicketClaims = {
      id: newId(),
      authmethod: 'oidcrp',
      issued_by: order.authid,
      kid: key.kid,
      ...order,
    }
    const { issued_at: iat, expires_at: exp } = claims
    const jwt = await signJwt(key, TICKET_TYPE, { ...claims, iat, exp })
    return { jwt, id: claims.id, csrf: csrfValueOf(key, claims.id) }
  }

  return {
    issueTicket,
    readTicket,
    verifyTicket: async (realmUri, jwt, { ignoreExpiry } = { ignoreExpiry: false }) => {
      const { claims } = await readTicket(realmUri, jwt)
      if (claims === undefined) return undefined
      return ignoreExpiry || claims.expires_at * 1000 > now() ? claims : undefined
    },
  }
}

/** The keys by which a ticket can be revoked: if one is in the shared deny-list, the ticket is not valid. */
export const ticketRevocationKeys = (claims: TicketClaims): readonly string[] => {
  const { oidc_sid: sid, oidc_sub: sub } = claims
  const session = { realmUri: claims.authrealm, provider: claims.oidc_provider }
  return [
    ticketKey(claims.id),
    ...(sid === undefined ? [] : [oidcSessionKey(session, sid)]),
    ...(sub === undefined ? [] : oidcSubjectKeys(session, sub, claims.issued_at)),
  ]
}

const TEXTS = [
  'id',
  'authrealm',
  'authid',
  'issued_by',
  'issued_on',
  'kid',
  'oidc_provider',
] as const
const OPTIONAL_TEXTS = ['oidc_id_token', 'oidc_sid', 'oidc_sub'] as const

/** Our tickets have this shape; a key that is also used elsewhere may have signed something else. */
const isTicket = (claims: object): claims is TicketClaims => {
  const map = claims as Readonly<Record<string, unknown>>
  return (
    map['authmethod'] === 'oidcrp' &&
    TEXTS.every((name) => typeof map[name] === 'string' && map[name] !== '') &&
    OPTIONAL_TEXTS.every((name) => map[name] === undefined || typeof map[name] === 'string') &&
    Number.isSafeInteger(map['issued_at']) &&
    Number.isSafeInteger(map['expires_at']) &&
    isTexts(map['authroles']) &&
    (map['groups'] === undefined || isTexts(map['groups'])) &&
    (map['claims'] === undefined || isMap(map['claims'])) &&
    isScope(map['scope'])
  )
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

const isScope = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false
  const map = value as Readonly<Record<string, unknown>>
  return ['realm', 'client_id', 'device_id'].every((name) => typeof map[name] === 'string')
}
