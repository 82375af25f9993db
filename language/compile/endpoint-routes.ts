// Lists the built-in routes that the security schemes of a version mount below `base_path` (§4.1, behaviour §6). The
// routes that are claimed and those that are served both come from this table.

import type { CompiledEndpoint } from './security.ts'
import type { OAuth2Flow } from '../realm/token-flows.ts'
import type { Method } from '../document.ts'

export type OidcRouteName = 'login' | 'callback' | 'logout' | 'backChannelLogout'

/** The handler: of the OIDC room, of the OAuth 2 room, or one that verifies the caller's identity. */
export type EndpointName = OidcRouteName | 'token' | 'revoke' | 'oidcVerify' | 'oauthVerify'

export interface EndpointRoute {
  readonly name: EndpointName
  /** Below `base_path`; at most one binding. */
  readonly path: string
  /** Other methods get 405, HEAD too where it is not named. */
  readonly methods: readonly Method[]
  /** The first scheme of the version that mounts it: its settings count. */
  readonly endpoint: CompiledEndpoint
  /** The flows of all oauth2 schemes that mount it. */
  readonly flows: readonly OAuth2Flow[]
}

/**
 * Each route once, in the order of the schemes.
 * @example endpointRoutes([{ type: 'oidc', provider: 'corp' }]) // /oidc/login, /oidc/:provider/callback, …
 */
export const endpointRoutes = (
  endpoints: readonly CompiledEndpoint[],
): readonly EndpointRoute[] => {
  const routes = new Map<string, EndpointRoute>()
  for (const endpoint of endpoints)
    for (const { name, path, methods } of mountsOf(endpoint)) {
      const key = `${name} ${path}`
      const earlier = routes.get(key)
      const flows = [...(earlier?.flows ?? []), ...flowsOf(endpoint)]
      const first = earlier ?? { name, path, methods, endpoint }
      routes.set(key, { ...first, flows: [...new Set(flows)] })
    }
  return [...routes.values()]
}

type Mount = Pick<EndpointRoute, 'name' | 'path' | 'methods'>

const flowsOf = (endpoint: CompiledEndpoint): readonly OAuth2Flow[] =>
  endpoint.type === 'oauth2' ? [endpoint.flow] : []

const mountsOf = (endpoint: CompiledEndpoint): readonly Mount[] => {
  switch (endpoint.type) {
    case 'oidc':
      return OIDC
    case 'oauth2':
      return [
        { name: 'token', path: endpoint.tokenPath, methods: ['options', 'post'] },
        { name: 'revoke', path: endpoint.revokeTokenPath, methods: ['options', 'post'] },
        { name: 'oauthVerify', path: '/oauth/verify', methods: ['get', 'head', 'options'] },
      ]
  }
}

const OIDC: readonly Mount[] = [
  { name: 'login', path: '/oidc/login', methods: ['get', 'options'] },
  { name: 'callback', path: '/oidc/:provider/callback', methods: ['get', 'options'] },
  { name: 'logout', path: '/oidc/logout', methods: ['get', 'options', 'post'] },
  {
    name: 'backChannelLogout',
    path: '/oidc/:provider/backchannel-logout',
    methods: ['options', 'post'],
  },
  { name: 'oidcVerify', path: '/oidc/verify', methods: ['get', 'head', 'options'] },
]
