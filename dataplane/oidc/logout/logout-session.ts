// The cookies of a logout in, whose session that is out: genuine tickets, also expired ones, and the provider
// entries that say how to clear cookies and where one may go.

import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { cookieValues, ticketCookieName } from '../../security/session-cookies.ts'
import type { TicketClaims } from '../../security/tokens/ticket.ts'
import { entryOf } from '../provider/find-provider.ts'
import type { LogoutParameters } from './logout-parameters.ts'
import type { Exchange } from '../room.ts'

export interface Session {
  readonly tickets: readonly TicketClaims[]
  /** Of the realm whose cookies are cleared: the ticket's provider, else the route's. */
  readonly record: OidcProviderRecord | undefined
  /** Of the route's own realm: what another realm allows counts for nothing here. */
  readonly redirectRecord: OidcProviderRecord | undefined
}

export const findSession = async ({
  request,
  room,
  parameters,
}: Exchange & { readonly parameters: LogoutParameters }): Promise<Session> => {
  const { realmUri } = parameters
  const values = cookieValues(['cookie', request.headers.cookie ?? ''], ticketCookieName(realmUri))
  const read = await Promise.all(
    values.map((value) => room.tickets.verifyTicket(realmUri, value, { ignoreExpiry: true })),
  )
  const tickets = read.filter((ticket) => ticket !== undefined)
  const realm = room.realm(realmUri)
  const record = entryOf(realm, tickets[0]?.oidc_provider) ?? entryOf(realm, request.routeProvider)
  const isOwnRealm = realmUri === request.realmUri
  return {
    tickets,
    record,
    redirectRecord: isOwnRealm
      ? record
      : entryOf(room.realm(request.realmUri), request.routeProvider),
  }
}
