// Teaches the provider to exchange tokens (RFC 8693): for the token of somebody it issues an access token of its own, for
// the same person and the client that asked.

import type { Provider, TokenEndpointGrantContext } from 'oidc-provider'
import type { TokenExchangeGrant } from './clients.ts'

/** The user that a token is of; undefined: it is not accepted. */
export type SubjectOf = (token: string) => Promise<string | undefined>

const GRANT: TokenExchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'

interface Parameters {
  readonly subject_token?: string
  readonly subject_token_type?: string
}

/** @example allowTokenExchange(provider, async (token) => users.get(token)) */
export const allowTokenExchange = (
  provider: Provider,
  subjectOf: SubjectOf = () => Promise.resolve(undefined),
): void => {
  const handler = async (context: TokenEndpointGrantContext<Parameters>): Promise<void> => {
    const { client, params } = context.oidc
    const subject = await subjectOf(params.subject_token ?? '')
    if (subject === undefined) {
      context.status = 400
      context.body = { error: 'invalid_request', error_description: 'the subject token is invalid' }
      return
    }
    const token = new provider.AccessToken({
      client,
      accountId: subject,
      grantId: subject,
      gty: GRANT,
      scope: '',
    })
    context.body = {
      access_token: await token.save(),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: token.expiration,
    }
  }
  provider.registerGrantType<Parameters>(GRANT, handler, [
    'subject_token',
    'subject_token_type',
    'requested_token_type',
    'audience',
    'scope',
  ])
}
