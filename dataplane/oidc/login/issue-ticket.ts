// Issues the ticket and its cookies for a verified ID token. It never sets a cookie that browsers would drop: if it
// is too large, the ID token is left out, and if that is not enough, no ticket is issued.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import type { IssuedTicket, TicketOrder } from '../../security/tokens/ticket.ts'
import { ticketCookieName } from '../../security/session-cookies.ts'
import {
  mapRoles,
  readAuthid,
  readNamedClaims,
  readTexts,
  unmetRequirement,
} from '../../security/tokens/token-claims.ts'
import { refusedToken } from '../../security/tokens/token-refusal.ts'
import type { ExchangedCode } from '../provider/provider-client.ts'
import { OidcError } from '../oidc-error.ts'
import type { ChosenProvider, OidcContext, OidcEndpointDeps } from '../context.ts'
import { sessionLines } from '../session-lines.ts'
import type { LoginState } from './state-token.ts'

interface LoggedIn {
  readonly provider: ChosenProvider
  readonly state: LoginState
  readonly exchanged: ExchangedCode
}

export interface Person {
  readonly authid: string
  readonly authroles: readonly string[]
  readonly groups?: readonly string[]
  readonly claims?: ValueMap
}

/** @throws OidcError `missing_authid_claim`, or `token_exchange_failed` where `require` is not met */
export const identify = ({ provider: { record }, exchanged: { claims } }: LoggedIn): Person => {
  const unmet = unmetRequirement(claims, record)
  if (unmet !== undefined) {
    const { claim, expected } = refusedToken('claim', unmet.claim, unmet.expected)
    throw new OidcError(
      'token_exchange_failed',
      'the ID token does not say what require of the provider asks for',
      { setting: 'require', facts: { claim, expected } },
    )
  }
  const authid = readAuthid(claims, record.authid_claim ?? 'preferred_username')
  if (authid === undefined)
    throw new OidcError(
      'missing_authid_claim',
      'the ID token lacks the claim with the name of the person, or it is no valid name; does a scope of the login bring it?',
      { setting: 'authidClaim' },
    )
  const { group_claim: groups, claim_separator: separator } = record
  const named = readNamedClaims(claims, record)
  return {
    authid,
    authroles: rolesOf(claims, record),
    ...(groups !== undefined && { groups: readTexts(claims, groups, { separator }) ?? [] }),
    ...(named !== undefined && { claims: named }),
  }
}

const rolesOf = (
  claims: ExchangedCode['claims'],
  record: OidcProviderRecord,
): readonly string[] => {
  const { role_claim: named, role_claim_fallback: fallback, claim_separator: separator } = record
  const found =
    readTexts(claims, named, { otherwise: 'roles', separator }) ??
    readTexts(claims, fallback, { otherwise: 'role', separator })
  return mapRoles(found ?? [], record)
}

/** @throws OidcError `ticket_issue_failed` */
export const issueTicket = async (
  known: OidcContext & LoggedIn & { readonly person: Person },
): Promise<readonly string[]> => {
  const { provider, request } = known
  const order = orderOf(known)
  const ticket = await issueThatFits(known, order, known.exchanged.idToken)
  return sessionLines(request.realmUri, provider.record, {
    ticket: ticket.jwt,
    csrf: ticket.csrf,
    maxAgeSeconds: order.expires_at - order.issued_at,
  })
}

/** specification §8. */
const LIFETIME_SECONDS = 2_592_000
/** Name, `=` and value: browsers silently drop larger cookies (RFC 6265 §6.1). */
const MAX_COOKIE_BYTES = 4096

/** All but the ID token. */
const orderOf = ({
  request,
  endpointDeps,
  provider,
  state,
  exchanged,
  person,
}: OidcContext & LoggedIn & { readonly person: Person }): TicketOrder => {
  const { claims, expiresIn } = exchanged
  const { sid, sub } = claims
  const now = Math.floor(endpointDeps.now() / 1000)
  return {
    authrealm: request.realmUri,
    ...person,
    issued_on: endpointDeps.nodeName,
    issued_at: now,
    expires_at: now + (provider.record.ticket_expiry_secs ?? LIFETIME_SECONDS),
    scope: { realm: request.realmUri, client_id: state.clientId, device_id: state.deviceId },
    oidc_provider: provider.name,
    ...(isCount(expiresIn) && { oidc_access_token_expires_at: now + Math.floor(expiresIn) }),
    ...(typeof sid === 'string' && sid !== '' && { oidc_sid: sid }),
    ...(typeof sub === 'string' && { oidc_sub: sub }),
  }
}

const isCount = (seconds: number | undefined): seconds is number =>
  seconds !== undefined && seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER / 2

const issueThatFits = async (
  { endpoint, request, endpointDeps }: OidcContext,
  order: TicketOrder,
  idToken: string,
): Promise<IssuedTicket> => {
  const name = ticketCookieName(request.realmUri)
  const fits = ({ jwt }: IssuedTicket): boolean => name.length + 1 + jwt.length <= MAX_COOKIE_BYTES
  const whole = await sign(endpointDeps, { ...order, oidc_id_token: idToken })
  if (fits(whole)) return whole
  endpointDeps.count({ endpoint, outcome: 'id_token_left_out' })
  endpointDeps.log.warn('the ID token is left out of a ticket that would be over 4096 bytes', {
    realm: request.realmUri,
    provider: order.oidc_provider,
    requestId: request.requestId,
  })
  const short = await sign(endpointDeps, order)
  if (fits(short)) return short
  throw new OidcError('ticket_issue_failed', 'the ticket is over 4096 bytes without its ID token')
}

const sign = async (endpointDeps: OidcEndpointDeps, order: TicketOrder): Promise<IssuedTicket> => {
  try {
    return await endpointDeps.tickets.issueTicket(order)
  } catch (cause) {
    throw new OidcError('ticket_issue_failed', 'the ticket could not be signed', { cause })
  }
}
