// Handles GET callback: the browser returns from the provider with a code, and is redirected to its application with
// a ticket (specification §4.1). All checks that need no request to the provider come first.

import { checkBrowser, matchState, unsealState, useStateOnce } from './accept-state.ts'
import { redirect } from '../responses.ts'
import { returnLine } from '../session-lines.ts'
import { readCallbackParameters } from './callback-parameters.ts'
import { discoverMetadata } from '../provider/discover-provider.ts'
import { exchangeForClaims } from './code-exchange.ts'
import { findProvider } from '../provider/find-provider.ts'
import { identify, issueTicket } from './issue-ticket.ts'
import type { OidcResponse } from '../oidc-endpoint.ts'
import { auditLogin } from '../report.ts'
import type { OidcContext } from '../context.ts'
import { steps } from '../steps.ts'

/** @internal exported for tests */
export const CALLBACK_STEPS = steps<OidcContext>()
  .step('read parameters', (known) => ({ parameters: readCallbackParameters(known) }))
  .step('find provider', (known) => ({ provider: findProvider(known, known.request.pathProvider) }))
  .step('unseal state', async (known) => ({ state: await unsealState(known) }))
  .step('match state', matchState)
  .step('check browser', checkBrowser)
  .step('discover metadata', discoverMetadata)
  .step('use state once', useStateOnce)
  .step('exchange code', async (known) => ({ exchanged: await exchangeForClaims(known) }))
  .step('identify', (known) => ({ person: identify(known) }))
  .step('issue ticket', async (known) => ({ cookies: await issueTicket(known) }))

export const callback = async (exchange: OidcContext): Promise<OidcResponse> => {
  const { request, state, cookies, person } = await CALLBACK_STEPS.run(exchange)
  auditLogin(exchange, { outcome: 'success', authid: person.authid, clientId: state.clientId })
  const returned = state.redirected === 'true' ? [returnLine(request.realmUri)] : []
  return redirect(request, state.redirectUri, [...cookies, ...returned])
}
