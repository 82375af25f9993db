// Finds the version that a host and a path with `/ws` name and whose realm has a router for it: the first in order of
// precedence, skipping those without a router. It keeps `/ws` of versions that close it from their other paths.

import type { CompiledSecurity } from '../compile/security.ts'
import type { Scheme, ServedScheme } from '../document.ts'
import { match, matchWebSocket } from './match.ts'
import type { Match } from './route.ts'
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

interface OfVersion {
  readonly version: { readonly apiId: string; readonly name: string }
}

/** As `match`; `/ws` of a version that closes it stays reserved: no catch-all or binding of that version serves it (§2.2). */
export const matchPath = <T extends OfVersion>(
  table: RouteTable<T, OfVersion & Pick<RoutedWebSocket, 'security'>>,
  host: string,
  path: string,
): Match<T> | 'malformed' | undefined => {
  const found = match(table, host, path)
  if (found === undefined || found === 'malformed' || !mayBeWebSocket(path)) return found
  const reserved = matchWebSocket(table, host, path)
  if (reserved === undefined || reserved === 'malformed') return found
  const closed = new Set(
    reserved.candidates
      .filter(({ target }) => target.security === undefined)
      .map(({ target }) => nameOf(target)),
  )
  const candidates = found.candidates.filter(({ target }) => !closed.has(nameOf(target)))
  return candidates.length === 0 ? undefined : { ...found, candidates }
}

/** Most paths are not, and are looked up once. */
const mayBeWebSocket = (path: string): boolean =>
  path.endsWith('/ws') || path.endsWith('/ws/') || path.includes('%')

const nameOf = ({ version }: OfVersion): string => JSON.stringify([version.apiId, version.name])

const isOpen = <W extends RoutedWebSocket>(target: W): target is OpenWebSocket<W> =>
  target.security !== undefined
