// Creates a login that cannot be guessed from random bytes: what goes into the state, what stays with the browser,
// and what the provider sees.

import { hash } from 'node:crypto'
import type { LoginParameters } from './login-parameters.ts'
import { bindingOf, loginCookies } from './login-cookie.ts'
import type { ChosenProvider, OidcContext } from '../context.ts'
import { sealState, type LoginState } from './state-token.ts'

export interface BegunLogin {
  readonly state: LoginState
  /** S256 of the verifier (RFC 7636 §4.2). */
  readonly codeChallenge: string
  readonly cookies: readonly string[]
}

export const beginLogin = ({
  request,
  endpointDeps,
  provider,
  parameters,
  target,
}: OidcContext & {
  readonly provider: ChosenProvider
  readonly parameters: LoginParameters
  readonly target: string
}): BegunLogin => {
  const random = (size: number): string => endpointDeps.randomBytes(size).toString('base64url')
  const [id, secret, nonce, verifier] = [random(12), random(16), random(16), random(32)]
  return {
    state: {
      id,
      realm: request.realmUri,
      provider: provider.name,
      redirectUri: target,
      clientId: parameters.clientId,
      deviceId: parameters.deviceId,
      nonce,
      verifier,
      binding: bindingOf(secret),
      ...(parameters.isRedirected && { redirected: 'true' as const }),
    },
    codeChallenge: hash('sha256', verifier, 'base64url'),
    cookies: loginCookies(id, secret, endpointDeps.stateSeconds, request.cookies),
  }
}

export const sealLogin = ({
  endpointDeps,
  login,
}: OidcContext & { readonly login: BegunLogin }): Promise<string> =>
  sealState(login.state, endpointDeps.stateKeys().current, {
    now: endpointDeps.now(),
    lifetimeSeconds: endpointDeps.stateSeconds,
  })
