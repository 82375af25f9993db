// Compiles Security Objects (§2.8, behaviour §6): holds the compiled form of each security scheme, and one table of what
// the language does with it. Only `{}` is anonymous; a scheme that is not understood does not load; one that the realm
// can't satisfy yet loads with a warning and rejects every request.

import { childPointer } from '../../base/json-pointer.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import { isHeaderName, NO_HEADER_NAME } from './headers.ts'
import { withDocumentNames } from '../document-names.ts'
import type { RealmFacts } from '../realm/environment.ts'
import type { ValueMap } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import {
  type FoldedMap,
  type Placed,
  readOneOf,
  readText,
  readTexts,
  toFoldedMap,
} from './folded.ts'
import { readNetworks } from './networks.ts'
import { isFixedPath } from '../routes/path-pattern.ts'
import { readSignatureFacts } from './signature-facts.ts'
import { CLIENT_GROUP, isServedFlow, type OAuth2Flow, OWN_GRANTS } from '../realm/token-flows.ts'

/** Requirements of behaviour §6: one of `networks`; at least one of `groups`, of `roles`; all of `scopes`. */
export interface SecurityRequirements extends Networks {
  readonly groups?: readonly string[]
  readonly roles?: readonly string[]
  readonly scopes?: readonly string[]
}

/** Where clients must be for a Security Object to count. */
export interface Networks {
  /** CIDRs or single addresses, as RFC 5952 writes them. */
  readonly networks?: readonly string[]
  /** Where the Security Object stands in the document, if it has any requirement. */
  readonly pointer?: string
}

interface OAuth2Endpoints {
  readonly flow: OAuth2Flow
  readonly tokenPath: string
  readonly revokeTokenPath: string
}

/** Name of a security scheme → what its Security Object says beside the requirements. */
interface SchemeForms {
  readonly basic: object
  readonly api_key: { readonly headerName: string }
  readonly oauth2: OAuth2Endpoints
  readonly oidc: { readonly provider: string; readonly unauthenticated?: 'redirect' }
  /** `replays` is for people: the realm's signature has no timestamp, so that a request may come again. */
  readonly hmac: { readonly signature: string; readonly replays?: 'pass' }
}

export type SchemeName = keyof SchemeForms

/** A Security Object that asks for credentials, of one of the schemes `K`. */
export type SecurityScheme<K extends SchemeName = SchemeName> = {
  readonly [P in K]: { readonly type: P } & SchemeForms[P] & SecurityRequirements
}[K]

/** What one Security Object says: whom it lets in, and how they show who they are. */
export type SecurityAlternative = ({ readonly type: 'anonymous' } & Networks) | SecurityScheme

/** At least one, in the order of the document: a request must satisfy one of them. */
export type CompiledSecurity = readonly SecurityAlternative[]

/** Anybody may call. */
export const ANONYMOUS: CompiledSecurity = [{ type: 'anonymous' }]

/** Endpoints of a version that the data plane mounts beside its paths. `oidc` first: the default provider. */
export type CompiledEndpoint =
  | { readonly type: 'oidc'; readonly provider: string }
  | ({ readonly type: 'oauth2' } & OAuth2Endpoints)

const FLOWS: readonly OAuth2Flow[] = [
  'implicit',
  'authorization_code',
  'client_credentials',
  'resource_owner_password_credentials',
]

const SHARED = ['type', 'description', 'schemes', 'networks', 'groups', 'roles', 'scopes'] as const

interface Reader {
  readonly map: FoldedMap
  readonly realm: RealmFacts | undefined
  readonly diagnostics: Diagnostics
}

/** Where credentials of a scheme stand in a request. Two schemes with the same place can't be told apart. */
export interface CredentialPlace {
  /** Lower case. What the gateway has checked it does not send on. undefined: the realm says where; upstreams get it. */
  readonly header?: string
  /** The first word of the header (RFC 9110 §11.4), lower case; undefined: the whole header is the credential. */
  readonly authScheme?: 'basic' | 'bearer'
  /** Tokens are told from others by their type. */
  readonly token?: 'ticket' | 'other'
}

/** What the language does with one security scheme. */
interface SchemeKind<K extends SchemeName> {
  /** Properties of its Security Object that no other scheme has. */
  readonly own: readonly string[]
  /** undefined: a problem was reported. */
  readonly compile: (reader: Reader) => SecurityScheme<K> | undefined
  /** Where its credentials stand in a request, beside the cookie of a ticket. */
  readonly credentials: (scheme: SecurityScheme<K>) => CredentialPlace
  /** What it mounts below `base_path`: `language/compile/endpoint-routes.ts` has the routes. */
  readonly endpoint: (scheme: SecurityScheme<K>) => CompiledEndpoint | undefined
}

const inAuthorization = (rest: Omit<CredentialPlace, 'header'>) => (): CredentialPlace => ({
  header: 'authorization',
  ...rest,
})
const noEndpoint = (): undefined => undefined

const SCHEMES: { readonly [K in SchemeName]: SchemeKind<K> } = {
  basic: {
    own: [],
    compile: (reader) => {
      if (reader.realm?.hasUsers === false) warnOfNoCallers(reader, 'users')
      return { type: 'basic', ...requirementsOf(reader, 'basic') }
    },
    credentials: inAuthorization({ authScheme: 'basic' }),
    endpoint: noEndpoint,
  },
  api_key: {
    own: ['header_name'],
    compile: (reader) => {
      if (reader.realm?.hasApiKeys === false) warnOfNoCallers(reader, 'API keys')
      return {
        type: 'api_key',
        headerName: headerName(reader),
        ...requirementsOf(reader, 'api_key'),
      }
    },
    credentials: (scheme) => ({ header: scheme.headerName }),
    endpoint: noEndpoint,
  },
  oauth2: {
    own: ['flow', 'token_path', 'revoke_token_path'],
    compile: (reader) => compileOAuth2(reader),
    credentials: inAuthorization({ authScheme: 'bearer', token: 'other' }),
    endpoint: ({ flow, tokenPath, revokeTokenPath }) => ({
      type: 'oauth2',
      flow,
      tokenPath,
      revokeTokenPath,
    }),
  },
  oidc: {
    own: ['provider', 'unauthenticated'],
    compile: (reader) => compileOidc(reader),
    credentials: inAuthorization({ authScheme: 'bearer', token: 'ticket' }),
    endpoint: ({ provider }) => ({ type: 'oidc', provider }),
  },
  hmac: {
    own: ['signature'],
    compile: (reader) => compileSignature(reader),
    credentials: () => ({}),
    endpoint: noEndpoint,
  },
}

/** @example credentialPlaceOf({ type: 'basic' }).header // 'authorization' */
export const credentialPlaceOf = <K extends SchemeName>(
  scheme: SecurityScheme<K>,
): CredentialPlace => SCHEMES[scheme.type].credentials(scheme)

const SCHEME_NAMES = Object.keys(SCHEMES) as readonly SchemeName[]

/** undefined: a problem was reported. */
export const compileAlternative = (
  placed: Placed,
  realm: RealmFacts | undefined,
  diagnostics: Diagnostics,
): SecurityAlternative | undefined => {
  const map = toFoldedMap(placed.template, placed.pointer, diagnostics)
  if (map === undefined) return undefined
  if (map.keys.length === 0) return { type: 'anonymous' }
  if (map.keys.length === 1 && map.keys[0] === 'networks') {
    const networks = networksOf({ map, realm, diagnostics })
    return networks && { type: 'anonymous', networks, pointer: map.pointer }
  }
  const typePointer = childPointer(map.pointer, 'type')
  const typeTemplate = map.get('type')
  if (typeTemplate === undefined) {
    if (!map.keys.includes('type'))
      diagnostics.problem(
        'missing_required_value',
        typePointer,
        'a Security Object needs a type; only {}, and one with nothing but networks, is anonymous',
      )
    return undefined
  }
  const type = readOneOf(typeTemplate, typePointer, SCHEME_NAMES, diagnostics)
  if (type === undefined) return undefined
  const scheme = SCHEMES[type]
  for (const key of map.keys)
    if (!(SHARED as readonly string[]).includes(key) && !scheme.own.includes(key))
      diagnostics.problem(
        'invalid_value',
        childPointer(map.pointer, key),
        `a Security Object of type ${type} has no property '${key}'`,
      )
  return scheme.compile({ map, realm, diagnostics })
}

/** Nothing of it is secret: names of groups, roles, scopes and providers stand in the document. */
export const describeSecurity = (security: CompiledSecurity): ValueMap => {
  const described = security.map((each) =>
    withDocumentNames({ ...each, ...(each.type === 'anonymous' && { type: 'none' }) }),
  )
  const [first] = described
  return first !== undefined && described.length === 1 ? first : { any_of: described }
}

/** Those that ask for credentials. */
export const authSchemesOf = (security: CompiledSecurity): readonly SecurityScheme[] =>
  security.filter((each) => each.type !== 'anonymous')

/** Whether everybody may call without credentials, from everywhere, and none are looked at. */
export const isAnonymous = (security: CompiledSecurity): boolean =>
  security.every(({ type, networks }) => type === 'anonymous' && networks === undefined)

/** The endpoints that a version's schemes mount, the version's own scheme first, each once. */
export const endpointsOf = (
  securities: readonly (CompiledSecurity | undefined)[],
): readonly CompiledEndpoint[] => {
  const endpoints = new Map<string, CompiledEndpoint>()
  for (const scheme of securities.flatMap((security) => authSchemesOf(security ?? []))) {
    const endpoint = endpointOf(scheme)
    if (endpoint !== undefined) endpoints.set(JSON.stringify(endpoint), endpoint)
  }
  return [...endpoints.values()]
}

const endpointOf = <K extends SchemeName>(
  scheme: SecurityScheme<K>,
): CompiledEndpoint | undefined => SCHEMES[scheme.type].endpoint(scheme)

const compileOAuth2 = (reader: Reader): SecurityScheme<'oauth2'> | undefined => {
  const { map, diagnostics } = reader
  const pointer = childPointer(map.pointer, 'flow')
  const flowTemplate = map.get('flow')
  if (flowTemplate === undefined) {
    if (!map.keys.includes('flow'))
      diagnostics.problem(
        'missing_required_value',
        pointer,
        `oauth2 needs a flow: ${FLOWS.join(', ')}`,
      )
    return undefined
  }
  const flow = readOneOf(flowTemplate, pointer, FLOWS, diagnostics)
  if (flow === undefined) return undefined
  warnOfNoIssuer(reader, flow)
  warnOfNoToken(reader, flow)
  warnOfUnsharedKeys(reader)
  return {
    type: 'oauth2',
    flow,
    tokenPath: endpointPath(reader, 'token_path', '/oauth/token'),
    revokeTokenPath: endpointPath(reader, 'revoke_token_path', '/oauth/revoke'),
    ...requirementsOf(reader, 'oauth2'),
  }
}

/** Behaviour §6: a scheme that can't be satisfied yet loads with a warning and rejects every request. */
const warnOfNoCallers = ({ map, diagnostics }: Reader, lacking: string): void => {
  diagnostics.warning(
    'UnsatisfiedSecurity',
    childPointer(map.pointer, 'type'),
    `the realm has no ${lacking}: every request is rejected (401) until it has one`,
  )
}

const warnOfNoIssuer = ({ map, realm, diagnostics }: Reader, flow: OAuth2Flow): void => {
  if (realm?.hasIssuers !== false || isServedFlow(flow)) return
  diagnostics.warning(
    'UnsatisfiedSecurity',
    childPointer(map.pointer, 'flow'),
    `tokens of the flow ${flow} come from trusted issuers, and the realm has none: every request is rejected until it has one`,
  )
}

/** A realm that trusts issuers may get all its tokens from them. */
const warnOfNoToken = ({ map, realm, diagnostics }: Reader, flow: OAuth2Flow): void => {
  if (!isServedFlow(flow) || realm?.hasIssuers !== false) return
  const pointer = childPointer(map.pointer, 'flow')
  // Tokens of either grant are taken, whichever of the two flows the document names.
  if (realm.grants !== undefined && !OWN_GRANTS.some((each) => realm.grants?.includes(each)))
    diagnostics.warning(
      'UnsatisfiedSecurity',
      pointer,
      `oauth2.grants of the realm leave out ${OWN_GRANTS.join(' and ')}: its token endpoint gives no tokens`,
    )
  else if (realm.hasClients === false)
    diagnostics.warning(
      'UnsatisfiedSecurity',
      pointer,
      `tokens are given to users of the realm in the group ${CLIENT_GROUP}, and none is in it: every request is rejected until one is`,
    )
}

const compileSignature = (reader: Reader): SecurityScheme<'hmac'> | undefined => {
  const { map, realm, diagnostics } = reader
  const pointer = childPointer(map.pointer, 'signature')
  const signature = textMember(reader, 'signature')
  if (signature === undefined) {
    if (!map.keys.includes('signature'))
      diagnostics.problem(
        'missing_required_value',
        pointer,
        "hmac needs the name of one of the realm's signatures",
      )
    return undefined
  }
  return {
    type: 'hmac',
    signature,
    ...readSignatureFacts(signature, pointer, { realm, diagnostics }),
    ...requirementsOf(reader, 'hmac'),
  }
}

const endpointPath = (reader: Reader, key: string, fallback: string): string => {
  const path = textMember(reader, key) ?? fallback
  if (!isFixedPath(path))
    reader.diagnostics.problem(
      'invalid_value',
      childPointer(reader.map.pointer, key),
      'expected a path below base_path, such as /oauth/token: it begins with a slash, and has no bindings or brackets',
    )
  return path
}

const headerName = (reader: Reader): string => {
  const name = textMember(reader, 'header_name') ?? 'authorization'
  if (!isHeaderName(name))
    reader.diagnostics.problem(
      'invalid_value',
      childPointer(reader.map.pointer, 'header_name'),
      NO_HEADER_NAME,
    )
  return name.toLowerCase()
}

const compileOidc = (reader: Reader): SecurityScheme<'oidc'> => {
  const { map, realm, diagnostics } = reader
  const provider = textMember(reader, 'provider') ?? 'default'
  if (realm !== undefined) {
    const missing = ['oidcrp', 'cookie'].filter((method) => !realm.authmethods.includes(method))
    if (missing.length > 0)
      diagnostics.problem(
        'invalid_value',
        childPointer(map.pointer, 'type'),
        `oidc needs a realm whose authmethods hold oidcrp and cookie; this one lacks ${missing.join(' and ')}`,
      )
    else if (!realm.oidcProviders.includes(provider))
      diagnostics.warning(
        'UnsatisfiedSecurity',
        childPointer(map.pointer, 'provider'),
        `the realm has no OpenID provider named '${provider}'${didYouMean(provider, realm.oidcProviders) || '.'} No login is possible until it has one`,
      )
  }
  warnOfUnsharedKeys(reader)
  return { type: 'oidc', provider, ...redirectOf(reader), ...requirementsOf(reader, 'oidc') }
}

/** Left out of the compiled form where it is the default, `reject`. */
const redirectOf = ({
  map,
  diagnostics,
}: Reader): Pick<SecurityScheme<'oidc'>, 'unauthenticated'> => {
  const template = map.get('unauthenticated')
  if (template === undefined) return {}
  const pointer = childPointer(map.pointer, 'unauthenticated')
  const chosen = readOneOf(template, pointer, ['reject', 'redirect'], diagnostics)
  return chosen === 'redirect' ? { unauthenticated: 'redirect' } : {}
}

/** Behaviour §6: what one replica signs must be valid at the others. */
const warnOfUnsharedKeys = ({ map, realm, diagnostics }: Reader): void => {
  if (realm?.isSignedApart !== true) return
  diagnostics.warning(
    'UnsharedKeys',
    childPointer(map.pointer, 'type'),
    'the realm gives no signing_keys, so each replica makes its own: what one signs, the others refuse',
  )
}

const requirementsOf = (reader: Reader, type: SchemeName): SecurityRequirements => {
  const list = (key: string): readonly string[] | undefined => {
    const template = reader.map.get(key)
    if (template === undefined) return undefined
    return readTexts<string>(
      template,
      childPointer(reader.map.pointer, key),
      undefined,
      reader.diagnostics,
    )
  }
  const schemes = reader.map.get('schemes')
  if (schemes !== undefined)
    readTexts(
      schemes,
      childPointer(reader.map.pointer, 'schemes'),
      ['http', 'https'],
      reader.diagnostics,
    )
  textMember(reader, 'description')
  const networks = networksOf(reader)
  const groups = list('groups')
  const roles = list('roles')
  const scopes = list('scopes')
  if ([networks, groups, roles, scopes].every((each) => each === undefined)) return {}
  const requirements: SecurityRequirements = {
    ...(networks === undefined ? {} : { networks }),
    ...(groups === undefined ? {} : { groups }),
    ...(roles === undefined ? {} : { roles }),
    ...(scopes === undefined ? {} : { scopes }),
    pointer: reader.map.pointer,
  }
  warnOfForbidden(reader, type, requirements)
  return requirements
}

const networksOf = ({ map, realm, diagnostics }: Reader): readonly string[] | undefined => {
  const template = map.get('networks')
  if (template === undefined) return undefined
  const pointer = childPointer(map.pointer, 'networks')
  if (realm?.hasConnectionsAlone === true)
    diagnostics.warning('ConnectionAddress', pointer, CONNECTION_ADDRESS)
  return readNetworks(template, pointer, diagnostics)
}

/** Behaviour §6. Nothing in a request proves that a balancer has sent it. */
export const CONNECTION_ADDRESS =
  "a gateway compares them with the address of the connection: behind a balancer or proxy that is its address, not the client's, unless --public-proxy-protocol or --trusted-proxies names it"

/** What no caller meets in any realm. What this realm lacks is said by `language/caller-requirements.ts`. */
const warnOfForbidden = (
  { map, diagnostics }: Reader,
  type: SchemeName,
  { groups, roles, scopes }: SecurityRequirements,
): void => {
  const warn = (member: string, reason: string): void => {
    diagnostics.warning(
      'AlwaysForbidden',
      childPointer(map.pointer, member),
      `every request is rejected (403): ${reason}`,
    )
  }
  if (groups?.length === 0) warn('groups', emptyList('groups', 'group'))
  else if (groups !== undefined && type === 'hmac') warn('groups', NO_MEMBER)
  if (roles?.length === 0) warn('roles', emptyList('roles', 'role'))
  else if (roles !== undefined && type === 'hmac') warn('roles', NO_MEMBER)
  if (scopes !== undefined && scopes.length > 0 && type !== 'oauth2')
    warn('scopes', `only tokens of oauth2 have scopes, and this is ${type}. Require groups instead`)
}

const NO_MEMBER =
  'who signs a request is in no group and has no role. Leave the list out, or name another signature'

const emptyList = (list: string, name: string): string =>
  `a caller must have one of the ${list}, and the list is empty. Name a ${name}, or leave ${list} out to let in everyone who is authenticated`

const textMember = (reader: Reader, key: string): string | undefined => {
  const template = reader.map.get(key)
  if (template === undefined) return undefined
  return readText(template, childPointer(reader.map.pointer, key), reader.diagnostics)
}
