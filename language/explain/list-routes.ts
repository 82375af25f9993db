// Lists the routes of a folded document, one for each way to be served: operations of its paths, its built-in endpoints
// and its WebSocket connections.

import type { Method } from '../document.ts'
import { isList, isMap, type Value, type ValueMap } from '../expression/value.ts'
import { type EndpointName, endpointRoutes } from '../compile/endpoint-routes.ts'
import { KEYS_METHODS, KEYS_PATH } from '../routes/keys-path.ts'
import { mountPath, webSocketPath } from '../routes/path-pattern.ts'
import { corsText } from './explain-cors.ts'
import type { OperationDescription } from './describe-operation.ts'
import type { FoldedDocument, FoldedPath, FoldedVersion } from './fold-document.ts'

export interface RouteRow {
  /** Upper case. */
  readonly methods: readonly string[]
  /** As the document has it; `_` for every host. */
  readonly host: string
  /** `base_path`, then the path, as written. */
  readonly path: string
  readonly version: string
  /** False: its version is not active, so that nothing of it is served. */
  readonly active: boolean
  /** `forward → https://users:8080`, `built-in login`. */
  readonly action: string
  /** `none`, `basic (groups: a)`. */
  readonly security: string
  /** `https://a.test with credentials`; left out: pages of other origins are not allowed. */
  readonly cors?: string
  readonly realm: string
  /** Id of the document; `""` for what the gateway itself has. */
  readonly document: string
  /** JSON pointer into the document. */
  readonly pointer: string
}

/** @param hasRouter whether its realm has a WAMP router, so that WebSocket connections are relayed */
export const listRoutes = (document: FoldedDocument, hasRouter: boolean): readonly RouteRow[] =>
  document.versions
    .flatMap((version) => [
      ...version.paths.flatMap((path) => pathRows(path, version, document)),
      ...builtInRows(version, document, hasRouter),
    ])
    .sort(byPath)

/** What a version has beside its paths: endpoints of its security schemes, and its WebSocket. */
export const builtInRows = (
  version: FoldedVersion,
  document: FoldedDocument,
  hasRouter: boolean,
): readonly RouteRow[] => [
  ...endpointRows(version, document),
  ...(hasRouter ? webSocketRows(version, document) : []),
]

/** A gateway has the members of a document in another order than its file. */
const byPath = (a: RouteRow, b: RouteRow): number => {
  const [left, right] = [a, b].map(
    ({ path, version, methods }) => `${path} ${version} ${methods.join()}`,
  )
  return left === right ? 0 : (left ?? '') < (right ?? '') ? -1 : 1
}

/** What every gateway serves, on each host and before any document. */
export const KEYS_ROUTE: RouteRow = {
  methods: KEYS_METHODS,
  host: '_',
  path: KEYS_PATH,
  version: '',
  active: true,
  action: 'built-in keys',
  security: 'none',
  realm: '',
  document: '',
  pointer: '',
}

/** Whether the text stands in the host, the path, the action or a name of a route; case does not count. */
export const matchesText = (row: RouteRow, text: string): boolean => {
  const wanted = text.toLowerCase()
  const { host, path, version, action, realm, document } = row
  return [`${host}${path}`, version, action, realm, document].some((each) =>
    each.toLowerCase().includes(wanted),
  )
}

const rowOf = (
  { name, isActive }: FoldedVersion,
  { id, host, realmUri }: FoldedDocument,
): Pick<RouteRow, 'host' | 'version' | 'active' | 'realm' | 'document'> => ({
  host,
  version: name,
  active: isActive,
  realm: realmUri,
  document: id,
})

const pathRows = (
  path: FoldedPath,
  version: FoldedVersion,
  document: FoldedDocument,
): readonly RouteRow[] => {
  const rows = new Map<string, RouteRow>()
  for (const [method, operation] of Object.entries(path.operations)) {
    const action = actionText(operation)
    const security = securityText(operation.security)
    const cors = corsText(operation['cors'])
    const key = `${action}\n${security}\n${cors}`
    const before = rows.get(key)
    rows.set(key, {
      ...rowOf(version, document),
      methods: [...(before?.methods ?? []), method.toUpperCase()],
      path: path.template,
      action,
      security,
      ...(cors !== undefined && { cors }),
      pointer: before === undefined ? operation.pointer : path.pointer,
    })
  }
  return [...rows.values()]
}

const NAMES = {
  login: 'login',
  callback: 'login callback',
  logout: 'logout',
  backChannelLogout: 'back-channel logout',
  token: 'token',
  revoke: 'revoke token',
  oidcVerify: 'verify',
  oauthVerify: 'verify',
} as const satisfies Record<EndpointName, string>

/** What a built-in endpoint is called in lists. */
export const endpointText = (name: EndpointName): string => `built-in ${NAMES[name]}`

const endpointRows = (version: FoldedVersion, document: FoldedDocument): readonly RouteRow[] =>
  endpointRoutes(version.endpoints).map(({ name, path, methods }) => ({
    ...rowOf(version, document),
    methods: methods.map(upper),
    path: mountPath(version.basePath, path).template,
    action: endpointText(name),
    security: 'none',
    pointer: version.pointer,
  }))

const upper = (method: Method): string => method.toUpperCase()

/** The action of rows for WebSocket connections. */
export const WEB_SOCKET_ACTION = 'WebSocket → router of the realm'

const webSocketRows = (version: FoldedVersion, document: FoldedDocument): readonly RouteRow[] =>
  version.security === undefined
    ? []
    : [
        {
          ...rowOf(version, document),
          methods: ['GET'],
          path: webSocketPath(version.basePath).template,
          action: WEB_SOCKET_ACTION,
          security: securityText(version.security),
          pointer: version.pointer,
        },
      ]

const MAX_TEXT = 200

/** @example 'forward → https://users:8080' */
export const actionText = ({ action }: Pick<OperationDescription, 'action'>): string => {
  const target = targetOf(action)
  const text = target === undefined ? action.type : `${action.type} → ${target}`
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}…`
}

const targetOf = ({ host, hosts, uri }: ValueMap): string | undefined => {
  if (hosts !== undefined && isList(hosts)) return hosts.map(hostText).join(', ')
  const target = host ?? uri
  return target === undefined ? undefined : toWords(target)
}

const hostText = (entry: Value): string =>
  isMap(entry) ? `${toWords(entry['host'] ?? '')} (${toWords(entry['weight'] ?? '')})` : ''

const toWords = (value: Value): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** @example 'basic (groups: admins, staff) or none (networks: 10.0.0.0/8)' */
export const securityText = (security: ValueMap): string => {
  const { any_of: alternatives } = security
  return alternatives !== undefined && isList(alternatives)
    ? alternatives.map((each) => (isMap(each) ? alternativeText(each) : '')).join(' or ')
    : alternativeText(security)
}

const SHOWN = ['networks', 'groups', 'roles', 'scopes', 'header_name', 'flow', 'provider']

/** In quotes where it could pass for more than a name. */
const toName = (value: Value): string => {
  const words = toWords(value)
  return /[()";]| or /.test(words) ? JSON.stringify(words) : words
}

const alternativeText = ({ type, ...members }: ValueMap): string => {
  const details = SHOWN.flatMap((name) => {
    const value = members[name]
    if (value === undefined) return []
    return [`${name}: ${(isList(value) ? value : [value]).map(toName).join(', ')}`]
  })
  const name = toWords(type ?? 'none')
  return details.length === 0 ? name : `${name} (${details.join('; ')})`
}
