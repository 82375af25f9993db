// Exchanges a code for the verified claims of its ID token. Errors are 400 if the provider rejected the code or sent
// a token that cannot be trusted, and 502 if it failed.

import type { CallbackParameters } from './callback-parameters.ts'
import { exchangeCode, ProviderError, type ExchangedCode } from '../provider/provider-client.ts'
import { OidcError, type ProviderSetting } from '../oidc-error.ts'
import type { ChosenProvider, DiscoveredProvider, OidcContext } from '../context.ts'
import type { LoginState } from './state-token.ts'

/** behaviour §6: openid-client does not check `iat`. */
const MAX_AHEAD_SECONDS = 60

/** @throws OidcError `token_exchange_failed` */
export const exchangeForClaims = async ({
  endpointDeps,
  provider,
  known,
  state,
  parameters,
}: OidcContext &
  DiscoveredProvider & {
    readonly provider: ChosenProvider
    readonly state: LoginState
    readonly parameters: CallbackParameters
  }): Promise<ExchangedCode> => {
  try {
    const exchanged = await exchangeCode(
      provider.record,
      known,
      {
        parameters: parameters.forClient,
        state: parameters.sealed,
        nonce: state.nonce,
        verifier: state.verifier,
      },
      endpointDeps.fetch,
    )
    checkClaims(exchanged, provider.record.client_id, endpointDeps.now())
    return exchanged
  } catch (cause) {
    // The provider may have moved its endpoints.
    endpointDeps.providers.invalidate(provider.record)
    const status = cause instanceof ProviderError ? 502 : 400
    const [message, setting] = cause instanceof ProviderError ? [NO_RESPONSE] : remedyOf(cause)
    throw new OidcError('token_exchange_failed', message, { status, cause, setting })
  }
}

const NO_RESPONSE = 'the token or key endpoint of the provider gave no usable response'

const UNTRUSTED = 'the code exchange returned no ID token that can be trusted; see the cause'

const WRONG_CLIENT =
  'the provider does not know this client, or its secret is another; compare clientId and clientSecret'

/** RFC 6749 §5.2: the provider knows no such client, or not with this secret. Many say it by a challenge alone. */
const remedyOf = (cause: unknown): readonly [string, ProviderSetting?] => {
  if (!(cause instanceof Error)) return [UNTRUSTED]
  const code = 'code' in cause ? cause.code : undefined
  if (code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') return [WRONG_CLIENT, 'clientSecret']
  const known =
    'error' in cause && typeof cause.error === 'string' ? ERRORS.get(cause.error) : undefined
  return known ?? [UNTRUSTED]
}

const ERRORS: ReadonlyMap<string, readonly [string, ProviderSetting]> = new Map([
  ['invalid_client', [WRONG_CLIENT, 'clientSecret']],
  [
    'unauthorized_client',
    [
      'the provider does not allow the authorization code flow to this client; allow it there',
      'clientId',
    ],
  ],
  [
    'invalid_grant',
    [
      'the provider does not accept the code: it is used or too old, or redirectUri is not the registered one',
      'redirectUri',
    ],
  ],
])

const checkClaims = ({ claims }: ExchangedCode, clientId: string, now: number): void => {
  const { iat, azp, sub } = claims
  if (typeof iat !== 'number' || iat > now / 1000 + MAX_AHEAD_SECONDS)
    throw new Error('the ID token was issued in the future')
  // OpenID Connect Core §3.1.3.7: also with a single audience.
  if (azp !== undefined && azp !== clientId) throw new Error('azp is another client')
  if (typeof sub !== 'string' || sub === '') throw new Error('sub is not a string')
}
