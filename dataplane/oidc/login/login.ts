// Handles GET login: it redirects a browser to the provider with a state, a nonce and a PKCE challenge (specification
// §4.1). The gateway stores nothing.

import { redirect } from '../responses.ts'
import { beginLogin, sealLogin, type BegunLogin } from './begin-login.ts'
import { chooseRedirect } from '../choose-redirect.ts'
import { discoverMetadata } from '../provider/discover-provider.ts'
import { findProvider } from '../provider/find-provider.ts'
import { readLoginParameters } from './login-parameters.ts'
import type { OidcResponse } from '../oidc-endpoint.ts'
import { authorizationUrl } from '../provider/provider-client.ts'
import { OidcError } from '../oidc-error.ts'
import type { ChosenProvider, DiscoveredProvider, OidcContext } from '../context.ts'
import { steps } from '../steps.ts'

/** @internal exported for tests */
export const LOGIN_STEPS = steps<OidcContext>()
  .step('read parameters', (known) => ({ parameters: readLoginParameters(known) }))
  .step('find provider', (known) => ({
    provider: findProvider(known, known.parameters.providerName),
  }))
  .step('choose redirect', (known) => ({
    target: chooseRedirect(known, known.parameters.wantedTarget, known.provider.record),
  }))
  .step('discover metadata', discoverMetadata)
  .step('begin login', (known) => ({ login: beginLogin(known) }))
  .step('seal state', async (known) => ({ sealed: await sealLogin(known) }))
  .step('make authorization URL', async (known) => ({ location: await authorize(known) }))

export const login = async (exchange: OidcContext): Promise<OidcResponse> => {
  const { request, location, login: begun } = await LOGIN_STEPS.run(exchange)
  return redirect(request, location, begun.cookies)
}

const authorize = async ({
  provider,
  known,
  login: begun,
  sealed,
}: DiscoveredProvider & {
  readonly provider: ChosenProvider
  readonly login: BegunLogin
  readonly sealed: string
}): Promise<string> => {
  const { codeChallenge, state } = begun
  try {
    return await authorizationUrl(provider.record, known, {
      state: sealed,
      nonce: state.nonce,
      codeChallenge,
    })
  } catch (cause) {
    throw new OidcError(
      'authorization_url_failed',
      'the provider names no authorization_endpoint; is it one that people can log in at?',
      { cause, setting: 'issuer' },
    )
  }
}
