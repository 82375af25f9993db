// A host and a path in, the version out whose `/ws` they name and whose realm has a router for it: the first in
// order of precedence, those without a router being passed over.

import type { Scheme } from '../../../language/document.ts'
import { GatewayError } from '../../gateway-error.ts'
import { match } from '../../router/match.ts'
import type { RouteTable } from '../../router/route-table.ts'
import type { ServedVersion, ServedWebSocket } from '../../served.ts'

export interface WebSocketRoutes {
  /** undefined: no version that can carry a connection has its `/ws` there. */
  find(host: string, path: string, scheme: Scheme): ServedWebSocket | undefined
  /** False: its document is gone, or has no such version any more, or another realm. */
  serves(version: Pick<ServedVersion, 'apiId' | 'name' | 'realmUri'>): boolean
}

/** @param hasRouter whether a realm has a router that is reached by WebSocket */
export const createWebSocketRoutes = (
  table: () => RouteTable<ServedWebSocket>,
  hasRouter: (realmUri: string) => boolean,
): WebSocketRoutes => ({
  find: (host, path, scheme) => {
    const found = match(table(), host, path)
    if (found === undefined || found === 'malformed') return undefined
    const able = found.candidates.filter(({ target }) => hasRouter(target.version.realmUri))
    return (able.find(({ target }) => target.schemes.includes(scheme)) ?? able[0])?.target
  },
  serves: ({ apiId, name, realmUri }) =>
    table()
      .sets?.get(apiId)
      ?.routes.some(
        ({ target: { version } }) => version.name === name && version.realmUri === realmUri,
      ) === true,
})

/** @throws GatewayError 404, as a path has it (behaviour §3) */
export const checkScheme = ({ schemes }: ServedWebSocket, scheme: Scheme): void => {
  if (schemes.includes(scheme)) return
  throw new GatewayError('svc.error.not_found', 'Nothing is served here over this scheme', {
    description: `This path is served over ${[...schemes].sort().join(' and ')}.`,
  })
}
