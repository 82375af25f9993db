// Finds the version that a host and a path with `/ws` name and whose realm has a router for it: the first in order of
// precedence, skipping those without a router.

import { oncePer } from '../../../base/once.ts'
import type { Scheme } from '../../../language/document.ts'
import { GatewayError } from '../../gateway-error.ts'
import { findWebSocket } from '../../../language/router/find-web-socket.ts'
import type { RouteTable } from '../../../language/router/route-table.ts'
import type { MountedVersion, ServedTarget, ServedVersion, ServedWebSocket } from '../../served.ts'

export interface WebSocketRoutes {
  /** undefined: no version with a router has its `/ws` there. */
  find(host: string, path: string, scheme: Scheme): ServedWebSocket | undefined
  /** False: its document was removed, or no longer has that version, or has another realm. */
  readonly serves: (version: VersionName) => boolean
  /** False: its document was removed, or no longer serves a path of that version, or has another realm. */
  readonly servesPaths: (version: VersionName) => boolean
}

type VersionName = Pick<ServedVersion, 'apiId' | 'name' | 'realmUri'>

/** @param hasRouter whether a realm has a router with a WebSocket address */
export const createWebSocketRoutes = (
  table: () => RouteTable<ServedTarget<unknown>, MountedVersion>,
  hasRouter: (realmUri: string) => boolean,
): WebSocketRoutes => ({
  find: (host, path, scheme) => findWebSocket(table(), { host, path, scheme }, hasRouter),
  serves: (version) => isIn(openKeysOf, table().sets?.get(version.apiId)?.webSockets, version),
  servesPaths: (version) => isIn(keysOf, table().sets?.get(version.apiId)?.routes, version),
})

type Routes<T> = readonly { readonly target: T }[]
interface OfVersion {
  readonly version: ServedVersion
}

const isIn = <T>(
  keys: (routes: Routes<T>) => ReadonlySet<string>,
  routes: Routes<T> | undefined,
  version: VersionName,
): boolean => routes !== undefined && keys(routes).has(keyOf(version))

/** Every open connection asks each second. */
const keysOf = oncePer(
  (routes: Routes<OfVersion>): ReadonlySet<string> =>
    new Set(routes.map(({ target }) => keyOf(target.version))),
)

/** The versions that serve their `/ws`. */
const openKeysOf = oncePer((routes: Routes<MountedVersion>): ReadonlySet<string> => {
  const open = routes.filter(({ target }) => target.security !== undefined)
  return new Set(open.map(({ target }) => keyOf(target.version)))
})

const keyOf = ({ name, realmUri }: VersionName): string => JSON.stringify([name, realmUri])

/** @throws GatewayError 404, as for other paths (behaviour §3) */
export const checkScheme = ({ schemes }: ServedWebSocket, scheme: Scheme): void => {
  if (schemes.includes(scheme)) return
  throw new GatewayError('svc.error.not_found', 'Nothing is served here over this scheme', {
    description: `This path is served over ${[...schemes].sort().join(' and ')}.`,
  })
}
