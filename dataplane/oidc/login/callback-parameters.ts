// Reads code and state from the query of a callback. An error of the provider instead of a code is logged, and never
// sent in a response.

import { readText } from '../query.ts'
import { OidcError, type ProviderSetting } from '../oidc-error.ts'
import type { OidcContext } from '../context.ts'

export interface CallbackParameters {
  readonly sealed: string
  /** The parameters that openid-client validates (RFC 6749 §4.1.2, RFC 9207); the rest is ignored. */
  readonly forClient: URLSearchParams
}

const VALIDATED: ReadonlySet<string> = new Set(['code', 'state', 'iss', 'error'])
/** RFC 6749 §4.1.2.1. */
const ERROR_CODE = /^[A-Za-z0-9_.-]{1,64}$/

/** What to do, and the setting to look at. */
type Remedy = readonly [string, ProviderSetting?]

const NO_CODE_FLOW: Remedy = [
  'the provider does not allow the authorization code flow to this client; allow it there',
  'clientId',
]

const OTHER_ERROR: Remedy = [
  'the provider sent no code but an error; see the line before, and the log of the provider',
]

/** What to do about errors of a provider. */
const ERRORS: ReadonlyMap<string, Remedy> = new Map<string, Remedy>([
  ['access_denied', ['the provider let the person not in, or the person declined']],
  ['invalid_scope', ['the provider does not know one of the scopes', 'scopes']],
  ['unauthorized_client', NO_CODE_FLOW],
  ['unsupported_response_type', NO_CODE_FLOW],
])

/** @throws OidcError `missing_code_or_state`: also for an empty or repeated one. */
export const readCallbackParameters = ({
  request,
  endpointDeps,
}: OidcContext): CallbackParameters => {
  const query = new URLSearchParams(request.query)
  const sealed = readText(query, 'state')
  const said = readText(query, 'error')
  if (said !== undefined)
    endpointDeps.log.info('the provider responded with an error', {
      error: ERROR_CODE.test(said) ? said : 'unreadable',
      realm: request.realmUri,
      provider: request.pathProvider,
      requestId: request.requestId,
    })
  if (sealed === undefined || readText(query, 'code') === undefined) {
    if (said === undefined)
      throw new OidcError('missing_code_or_state', 'code or state is absent, empty or repeated')
    const [message, setting] = ERRORS.get(said) ?? OTHER_ERROR
    throw new OidcError('missing_code_or_state', message, { setting })
  }
  const validated = [...query].filter(([name]) => VALIDATED.has(name))
  return { sealed, forClient: new URLSearchParams(validated) }
}
