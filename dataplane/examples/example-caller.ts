// Makes the caller of an example count as authenticated: its credentials are placeholders, which are right wherever they
// are asked for. Requirements, networks and challenges are those of the document.

import {
  type CompiledSecurity,
  credentialPlaceOf,
  authSchemesOf,
  type SchemeName,
  type SecurityScheme,
} from '../../language/compile/security.ts'
import type { ExampleCaller } from '../../language/examples/example.ts'
import { PRESETS } from '../../language/realm/signatures.ts'
import { TICKET_TYPE } from '../../language/request-credentials.ts'
import type { Identity } from '../security/schemes/authentication.ts'
import {
  ALWAYS,
  type AuthenticationResult,
  notPresented,
} from '../security/schemes/authenticator.ts'
import { meetsRequirements } from '../security/schemes/requirements.ts'

/** The scheme that the caller uses; undefined: the operation asks nobody. */
const schemeOf = (
  security: CompiledSecurity,
  caller: ExampleCaller,
): SecurityScheme | undefined => {
  const schemes = authSchemesOf(security).filter(
    ({ type }) => caller.type === undefined || type === caller.type,
  )
  return (
    schemes.find((scheme) => meetsRequirements(scheme, identityOf(caller, scheme, ''))) ??
    schemes[0]
  )
}

/** The header that stands for the credentials of a caller. */
export const credentialHeader = (
  security: CompiledSecurity,
  caller: ExampleCaller | undefined,
): readonly (readonly [name: string, value: string])[] => {
  const scheme = caller && schemeOf(security, caller)
  if (scheme === undefined) return []
  const { header, authScheme, token } = credentialPlaceOf(scheme)
  const value = token === 'ticket' ? TICKET : 'ZXhhbXBsZTo='
  return [
    [
      header ?? PRESETS.standard.signature,
      authScheme === undefined ? value : `${WORDS[authScheme]} ${value}`,
    ],
  ]
}

const WORDS = { basic: 'Basic', bearer: 'Bearer' } as const
const TICKET = `${Buffer.from(JSON.stringify({ typ: TICKET_TYPE })).toString('base64url')}.e30.e30`

export const verifyCaller = (
  caller: ExampleCaller | undefined,
  scheme: SecurityScheme,
  realmUri: string,
): AuthenticationResult =>
  caller === undefined || (caller.type ?? scheme.type) !== scheme.type
    ? notPresented(scheme.type, realmUri)
    : { kind: 'identity', identity: identityOf(caller, scheme, realmUri), validity: ALWAYS }

const METHODS: Readonly<Record<SchemeName, string>> = {
  basic: 'password',
  api_key: 'api_key',
  oauth2: 'oauth2',
  oidc: 'oidcrp',
  hmac: 'hmac',
}

const identityOf = (
  { authid, groups = [], roles = groups, scopes = [], meta = {} }: ExampleCaller,
  { type }: SecurityScheme,
  realmUri: string,
): Identity => ({
  type,
  realm_uri: realmUri,
  authid,
  username: authid,
  authmethod: METHODS[type],
  authroles: roles,
  groups,
  client_id: '',
  session: '',
  scope: type === 'oidc' ? { realm: realmUri, client_id: '', device_id: '' } : scopes,
  locale: '',
  meta,
  claims: {},
})
