// Opens an encrypted state and checks the login in it: that it was issued here, is in time, belongs to this realm,
// provider and browser, and was not used before.

import { isBound } from './login-cookie.ts'
import { OidcError } from '../oidc-error.ts'
import type { ChosenProvider, OidcContext } from '../context.ts'
import { openState, STATE_TOLERANCE_SECONDS, type LoginState } from './state-token.ts'
import { unlessAway } from '../unless-away.ts'

interface Sealed {
  readonly parameters: { readonly sealed: string }
}

interface Opened {
  readonly state: LoginState
}

/** @throws OidcError `invalid_state`, `state_expired` */
export const unsealState = async ({
  endpointDeps,
  parameters,
}: OidcContext & Sealed): Promise<LoginState> => {
  const reading = await openState(parameters.sealed, endpointDeps.stateKeys(), endpointDeps.now())
  if (!reading.ok)
    throw new OidcError(
      reading.error,
      'the state is too old (--oidc-state-seconds), or another gateway issued it: replicas need the same --oidc-state-keys-file',
    )
  return reading.state
}

/** @throws OidcError `realm_mismatch`, `invalid_state` for another provider (mix-up, RFC 9700 §4.4). */
export const matchState = ({
  request,
  provider,
  state,
}: OidcContext & Opened & { readonly provider: ChosenProvider }): object => {
  if (state.realm !== request.realmUri)
    throw new OidcError(
      'realm_mismatch',
      'the state belongs to another realm; redirectUri must lead to a document of the realm that has the provider',
      { setting: 'redirectUri' },
    )
  if (state.provider !== provider.name)
    throw new OidcError(
      'invalid_state',
      "the state belongs to another provider; redirectUri must end with this provider's name and /callback",
      { setting: 'redirectUri' },
    )
  return {}
}

/** @throws OidcError `invalid_state` */
export const checkBrowser = ({ request, state }: OidcContext & Opened): object => {
  if (!isBound(state, request))
    throw new OidcError(
      'invalid_state',
      'the login began in another browser, or at another host than that of redirectUri, whose cookies this one lacks',
      { setting: 'redirectUri' },
    )
  return {}
}

/**
 * The last step before the code is used, so that a browser may try again after the provider was unreachable.
 * @throws OidcError `invalid_state`
 */
export const useStateOnce = async ({
  endpointDeps,
  state,
}: OidcContext & Opened): Promise<object> => {
  const seconds = endpointDeps.stateSeconds + 2 * STATE_TOLERANCE_SECONDS
  const isFirst = await unlessAway(endpointDeps, true, () =>
    endpointDeps.shared.takeOnce(`oidc-state:${state.id}`, seconds),
  )
  if (!isFirst) throw new OidcError('invalid_state', 'the state was used before')
  return {}
}
