// Finds the version that a host and a path with `/ws` name and whose realm has a router for it: the first in order of
// precedence, skipping those without a router.

import type { CompiledSecurity } from '../compile/security.ts'
import type { Scheme, ServedScheme } from '../document.ts'
import { matchWebSocket } from './match.ts'
import type { RouteTable } from './route-table.ts'

/** `/ws` of a version, as far as finding it needs it. */
export interface RoutedWebSocket {
  readonly version: { readonly realmUri: string }
  readonly schemes: readonly ServedScheme[]
  /** undefined: the version does not serve it. */
  readonly security: CompiledSecurity | undefined
}

export type OpenWebSocket<W extends RoutedWebSocket> = W & { readonly security: CompiledSecurity }

/** undefined: no version with a router has its `/ws` there. */
export const findWebSocket = <W extends RoutedWebSocket>(
  table: RouteTable<unknown, W>,
  { host, path, scheme }: { readonly host: string; readonly path: string; readonly scheme: Scheme },
  hasRouter: (realmUri: string) => boolean,
): OpenWebSocket<W> | undefined => {
  const found = matchWebSocket(table, host, path)
  if (found === undefined || found === 'malformed') return undefined
  const able = found.candidates
    .map(({ target }) => target)
    .filter(isOpen)
    .filter(({ version }) => hasRouter(version.realmUri))
  return able.find(({ schemes }) => schemes.includes(scheme)) ?? able[0]
}

const isOpen = <W extends RoutedWebSocket>(target: W): target is OpenWebSocket<W> =>
  target.security !== undefined
