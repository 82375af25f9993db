// Finds the session of a logout from its cookies: genuine tickets, also expired ones, and the provider entries that
// define how to clear cookies and where to redirect.

import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { cookieValues, ticketCookieName } from '../../security/session-cookies.ts'
import type { TicketClaims } from '../../security/tokens/ticket.ts'
import { entryOf } from '../provider/find-provider.ts'
import type { LogoutParameters } from './logout-parameters.ts'
import type { OidcContext } from '../context.ts'

export interface Session {
  readonly tickets: readonly TicketClaims[]
  /** From the realm whose cookies are cleared: the ticket's provider, otherwise the route's. */
  readonly record: OidcProviderRecord | undefined
  /** From the route's own realm: redirects that another realm allows are not allowed here. */
  readonly redirectRecord: OidcProviderRecord | undefined
}

export const findSession = async ({
  request,
  endpointDeps,
  parameters,
}: OidcContext & { readonly parameters: LogoutParameters }): Promise<Session> => {
  const { realmUri } = parameters
  const values = cookieValues(['cookie', request.headers.cookie ?? ''], ticketCookieName(realmUri))
  const read = await Promise.all(
    values.map((value) =>
      endpointDeps.tickets.verifyTicket(realmUri, value, { ignoreExpiry: true }),
    ),
  )
  const tickets = read.filter((ticket) => ticket !== undefined)
  const realm = endpointDeps.realm(realmUri)
  const record = entryOf(realm, tickets[0]?.oidc_provider) ?? entryOf(realm, request.routeProvider)
  const isOwnRealm = realmUri === request.realmUri
  return {
    tickets,
    record,
    redirectRecord: isOwnRealm
      ? record
      : entryOf(endpointDeps.realm(request.realmUri), request.routeProvider),
  }
}
