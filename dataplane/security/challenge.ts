// The 401 that a security scheme answers with (RFC 9110 §11.6.1, RFC 7617 §2, RFC 6750 §3).

import type { CompiledSecurity } from '../../spec/compiled.ts'
import { GatewayError } from '../gateway-error.ts'

type Scheme = Exclude<CompiledSecurity['type'], 'anonymous'>

const CHALLENGES: Readonly<Record<Scheme, string>> = {
  basic: 'Basic',
  api_key: 'ApiKey',
  oauth2: 'Bearer',
  oidc: 'Bearer',
}

/** The refusal of a request that has not shown who sends it. */
export const unauthorized = (scheme: Scheme, realmUri: string): GatewayError =>
  new GatewayError('svc.error.unauthorized', 'This operation needs credentials', {
    description: `Authenticate by ${scheme}.`,
    headers: { 'www-authenticate': `${CHALLENGES[scheme]} realm="${quote(realmUri)}"` },
  })

/** A quoted string (RFC 9110 §5.6.4): what it can't hold is percent-encoded. */
const quote = (text: string): string =>
  encodeURI(text.toWellFormed()).replaceAll('\\', '%5C').replaceAll('"', '%22')
