// Finds the version that a host and a path with `/ws` name and whose realm has a router for it: the first in order of
// precedence, skipping those without a router.

import type { Scheme, ServedScheme } from '../document.ts'
import { matchWebSocket } from './match.ts'
import type { RouteTable } from './route-table.ts'

/** `/ws` of a version, as far as finding it needs it. */
export interface RoutedWebSocket {
  readonly version: { readonly realmUri: string }
  readonly schemes: readonly ServedScheme[]
}

/** undefined: no version with a router has its `/ws` there. */
export const findWebSocket = <W extends RoutedWebSocket>(
  table: RouteTable<unknown, W>,
  { host, path, scheme }: { readonly host: string; readonly path: string; readonly scheme: Scheme },
  hasRouter: (realmUri: string) => boolean,
): W | undefined => {
  const found = matchWebSocket(table, host, path)
  if (found === undefined || found === 'malformed') return undefined
  const able = found.candidates.filter(({ target }) => hasRouter(target.version.realmUri))
  return (able.find(({ target }) => target.schemes.includes(scheme)) ?? able[0])?.target
}
