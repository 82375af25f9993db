// Handles GET and POST logout: it clears the cookies, revokes the tickets, and redirects the browser to the
// provider's logout or to its target. The status is always 302 (specification §4.1): a step that fails is skipped.
// A request that no person can have meant changes nothing (behaviour §6, *Logout*).

import { cookieText } from '../../security/parsed-cookies.ts'
import { returnCookieName } from '../../security/session-cookies.ts'
import { ticketKey } from '../../security/tokens/revocation-keys.ts'
import { redirect } from '../responses.ts'
import { chooseRedirect } from '../choose-redirect.ts'
import { isFetchedInAdvance } from '../fetched-in-advance.ts'
import { endSessionUrl } from './end-session.ts'
import { readLogoutParameters, type LogoutParameters } from './logout-parameters.ts'
import { findSession, type Session } from './logout-session.ts'
import type { OidcRequest, OidcResponse } from '../oidc-endpoint.ts'
import { auditLogout, reportLeftOut } from '../report.ts'
import type { OidcContext } from '../context.ts'
import { clearingLines, clearingReturnLine } from '../session-lines.ts'
import { steps } from '../steps.ts'

/** @internal exported for tests */
export const SESSION_STEPS = steps<OidcContext>()
  .step('read parameters', (known) => ({ parameters: readLogoutParameters(known) }))
  .step('find session', async (known) => ({ session: await findSession(known) }))

const LOGOUT_STEPS = steps<Known>()
  .step('choose redirect', (known) => ({
    target: chooseRedirect(known, known.parameters.wantedTarget, known.session.redirectRecord),
  }))
  .step('clear cookies', (known) => ({ cookies: clearCookies(known) }))
  .step('revoke tickets', async (known) => ({ isRevoked: await revokeTickets(known) }))
  .step('end session', async (known) => ({ location: await leaveProvider(known) }))

export const logout = async (exchange: OidcContext): Promise<OidcResponse> => {
  const known = await SESSION_STEPS.run(exchange)
  const { request, session } = known
  if (session.record?.logout_from_anywhere !== true && isUnmeant(request))
    return redirect(request, '/', [])
  const { location, target, cookies, isRevoked } = await LOGOUT_STEPS.run(known)
  const [ticket] = session.tickets
  if (ticket !== undefined)
    auditLogout(exchange, {
      outcome: isRevoked ? 'success' : 'failure',
      reason: isRevoked ? '' : 'not_revoked',
      authid: ticket.authid,
      clientId: ticket.scope.client_id,
      provider: ticket.oidc_provider,
    })
  return redirect(request, location ?? target, cookies)
}

/** The response if even that has failed. */
export const logoutAnyway = ({ request }: OidcContext): OidcResponse =>
  redirect(request, '/', isUnmeant(request) ? [] : clearingLines(request.realmUri, {}))

/** A prefetch, or an image or script of another site. Programs, and browsers without Fetch Metadata, send none of these headers. */
const isUnmeant = ({ headers }: Pick<OidcRequest, 'headers'>): boolean =>
  isFetchedInAdvance(headers) ||
  (headers['sec-fetch-site'] === 'cross-site' &&
    headers['sec-fetch-mode'] !== undefined &&
    headers['sec-fetch-mode'] !== 'navigate')

type Known = OidcContext & { readonly parameters: LogoutParameters; readonly session: Session }

const clearCookies = ({ request, parameters, session }: Known): readonly string[] => {
  const { cookieDomain, realmUri } = parameters
  const lines = clearingLines(realmUri, {
    ...session.record,
    ...(cookieDomain !== undefined && { cookie_domain: cookieDomain }),
  })
  const hasReturned = cookieText(request.cookies, returnCookieName(realmUri)) !== undefined
  return hasReturned ? [...lines, clearingReturnLine(realmUri)] : lines
}

/** Revokes every genuine ticket, as any that is left would still be valid. */
const revokeTickets = async (known: Known): Promise<boolean> => {
  const { endpointDeps, session } = known
  try {
    await Promise.all(
      session.tickets
        .filter(({ expires_at: end }) => end * 1000 > endpointDeps.now())
        .map(({ id, expires_at: end }) => endpointDeps.shared.revoke(ticketKey(id), end)),
    )
    return true
  } catch (error) {
    reportLeftOut(known, 'a ticket could not be revoked', error)
    return false
  }
}

const leaveProvider = async (
  known: Known & { readonly target: string },
): Promise<string | undefined> => {
  try {
    return await endSessionUrl(known)
  } catch (error) {
    reportLeftOut(known, 'skipped the logout at the provider', error)
    return undefined
  }
}
