// Describes security schemes for OpenAPI: which there are, and which of them an operation asks for. Groups, roles and
// networks stay out, as they are nothing that a client can send.

import { authSchemesOf, type CompiledSecurity, type SecurityScheme } from '../compile/security.ts'
import type { ValueMap } from '../expression/value.ts'
import { isServedFlow } from '../realm/token-flows.ts'
import { mountPath } from '../routes/path-pattern.ts'
import { openApiPaths } from './openapi-path.ts'

export interface DescribedSecurity {
  /** `components.securitySchemes` */
  readonly schemes: ValueMap
  /** `security` of an operation. */
  readonly requirementsOf: (security: CompiledSecurity) => readonly ValueMap[]
}

/** @param securities of all operations, in order */
export const describeSecurity = (
  securities: readonly CompiledSecurity[],
  basePath: string,
): DescribedSecurity => {
  const all = securities.flatMap(authSchemesOf)
  const scopes = new Map<string, Set<string>>()
  for (const scheme of all) {
    const ofScheme = scopes.get(keyOf(scheme)) ?? new Set()
    scheme.scopes?.forEach((scope) => ofScheme.add(scope))
    scopes.set(keyOf(scheme), ofScheme)
  }
  const names = nameAll(all)
  const schemes: Record<string, ValueMap> = {}
  for (const scheme of all) {
    const key = keyOf(scheme)
    const sorted = [...(scopes.get(key) ?? [])].sort()
    schemes[names.get(key) ?? key] = schemeObject(scheme, sorted, basePath)
  }
  return {
    schemes,
    requirementsOf: (security) =>
      authSchemesOf(security).length === 0
        ? []
        : security.map((each) =>
            each.type === 'anonymous'
              ? {}
              : { [names.get(keyOf(each)) ?? keyOf(each)]: scopesOf(each) },
          ),
  }
}

/** The same for Security Objects that ask for the same credentials. */
const keyOf = (scheme: SecurityScheme): string => {
  switch (scheme.type) {
    case 'basic':
    case 'oidc':
      return scheme.type
    case 'api_key':
      return `api_key ${scheme.headerName}`
    case 'hmac':
      return `hmac ${scheme.signature}`
    case 'oauth2':
      return `oauth2 ${scheme.flow} ${scheme.tokenPath}`
  }
}

/** Names by key: the type, with what tells it from others of the type where there are such. */
const nameAll = (schemes: readonly SecurityScheme[]): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const key of [...new Set(schemes.map(keyOf))].sort()) {
    const [type = ''] = key.split(' ', 1)
    const long = key.replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    let name = taken.has(type) ? long : type
    while (taken.has(name)) name += '_'
    taken.add(name)
    names.set(key, name)
  }
  return names
}

const scopesOf = (scheme: SecurityScheme): readonly string[] =>
  scheme.type === 'oauth2' && isServedFlow(scheme.flow) ? (scheme.scopes ?? []) : []

const schemeObject = (
  scheme: SecurityScheme,
  scopes: readonly string[],
  basePath: string,
): ValueMap => {
  switch (scheme.type) {
    case 'basic':
      return { type: 'http', scheme: 'basic' }
    case 'api_key':
      return { type: 'apiKey', in: 'header', name: scheme.headerName }
    case 'oidc':
      return {
        ...BEARER,
        description:
          'A ticket. Browsers have it as a cookie after the login, and send the value of the CSRF cookie beside it.',
      }
    case 'hmac':
      return {
        type: 'http',
        scheme: 'signature',
        description: 'The request is signed (HMAC) with a secret that sender and gateway share.',
      }
    case 'oauth2':
      return oauth2Object(scheme, scopes, basePath)
  }
}

const BEARER = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }

/** OpenAPI asks for the addresses of a flow: those of issuers that a realm trusts are not in the document. */
const oauth2Object = (
  { flow, tokenPath }: SecurityScheme<'oauth2'>,
  scopes: readonly string[],
  basePath: string,
): ValueMap => {
  const [way] = mountPath(basePath, tokenPath).patterns
  const [tokenUrl] = way === undefined ? [] : openApiPaths(way)
  if (!isServedFlow(flow) || tokenUrl === undefined || tokenUrl.parameters.length > 0)
    return { ...BEARER, description: 'An access token.' }
  const given = {
    tokenUrl: tokenUrl.path,
    scopes: Object.fromEntries(scopes.map((scope) => [scope, ''])),
  }
  return {
    type: 'oauth2',
    flows: flow === 'client_credentials' ? { clientCredentials: given } : { password: given },
  }
}
