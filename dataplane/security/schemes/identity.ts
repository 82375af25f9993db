// Builds identities as `{{security.…}}` reads them (behaviour §6) from a user, a ticket or a token.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { UserRecord } from '../../../language/realm/record.ts'
import type { AccessTokenClaims } from '../tokens/access-token.ts'
import type { Identity } from './authentication.ts'
import type { TicketClaims } from '../tokens/ticket.ts'

const NO_META: ValueMap = Object.freeze({})
const NO_CLAIMS = NO_META

/** A user of the realm: groups are roles too. */
export const userIdentity = (
  { type, authmethod }: Pick<Identity, 'type' | 'authmethod'>,
  realmUri: string,
  user: UserRecord,
): Identity =>
  Object.freeze({
    type,
    realm_uri: realmUri,
    authid: user.username,
    username: user.username,
    authmethod,
    authroles: user.groups ?? [],
    groups: user.groups ?? [],
    client_id: '',
    session: '',
    scope: [],
    locale: localeOf(user),
    meta: user.meta ?? NO_META,
    claims: NO_CLAIMS,
  })

/**
 * The bearer of a token of this gateway. It has those groups of the token, and scopes, which name groups, that the
 * user still has.
 */
export const tokenIdentity = (claims: AccessTokenClaims, user: UserRecord): Identity => {
  const groups = (user.groups ?? []).filter((group) => claims.groups.includes(group))
  return Object.freeze({
    type: 'oauth2',
    realm_uri: claims.iss,
    authid: claims.sub,
    username: claims.sub,
    authmethod: 'oauth2',
    authroles: groups,
    groups,
    client_id: claims.client_id,
    session: claims.jti,
    scope: claims.scope.split(' ').filter((scope) => groups.includes(scope)),
    locale: localeOf(user),
    meta: user.meta ?? NO_META,
    claims: NO_CLAIMS,
  })
}

/**
 * The bearer of a ticket. A person with that name at the provider is not the realm's user of the same name, so there
 * is no meta.
 */
export const ticketIdentity = (claims: TicketClaims): Identity =>
  Object.freeze({
    type: 'oidc',
    realm_uri: claims.authrealm,
    authid: claims.authid,
    username: claims.authid,
    authmethod: claims.authmethod,
    authroles: claims.authroles,
    groups: claims.groups ?? claims.authroles,
    client_id: claims.scope.client_id,
    session: claims.id,
    scope: { ...claims.scope },
    locale: '',
    meta: NO_META,
    claims: claims.claims ?? NO_CLAIMS,
  })

/** The claims about its bearer in a token of an issuer that the realm trusts. */
export interface IssuedIdentity {
  /** The name of the caller. */
  readonly sub: string
  readonly clientId: string
  readonly session: string
  readonly scopes: readonly string[]
  readonly groups: readonly string[]
  readonly roles: readonly string[]
  readonly locale: string
  readonly claims?: ValueMap | undefined
}

export const issuedIdentity = (realmUri: string, issued: IssuedIdentity): Identity =>
  Object.freeze({
    type: 'oauth2',
    realm_uri: realmUri,
    authid: issued.sub,
    username: issued.sub,
    authmethod: 'oauth2',
    authroles: issued.roles,
    groups: issued.groups,
    client_id: issued.clientId,
    session: issued.session,
    scope: issued.scopes,
    locale: issued.locale,
    meta: NO_META,
    claims: issued.claims ?? NO_CLAIMS,
  })

/** Who signs requests: it is no user, and in no group. */
export const signatureIdentity = (realmUri: string, name: string): Identity =>
  Object.freeze({
    type: 'hmac',
    realm_uri: realmUri,
    authid: name,
    username: name,
    authmethod: 'hmac',
    authroles: [],
    groups: [],
    client_id: '',
    session: '',
    scope: [],
    locale: '',
    meta: NO_META,
    claims: NO_CLAIMS,
  })

const localeOf = ({ meta }: UserRecord): string => {
  const locale = meta !== undefined && Object.hasOwn(meta, 'locale') ? meta['locale'] : ''
  return typeof locale === 'string' ? locale : ''
}
