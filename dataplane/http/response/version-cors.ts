// Finds the `cors` that holds for a request which no path matches: that of the version with the longest `base_path` that the
// request's path begins with.

import type { CompiledCors } from '../../../language/compiled.ts'
import { matchWebSocket } from '../../../language/router/match.ts'
import type { RouteTable } from '../../../language/router/route-table.ts'
import type { ServedVersion } from '../../served.ts'

/** Longer base paths are not looked at. */
const MOST_SEGMENTS = 16

/** Each version has its `/ws` in the table, which stands for its `base_path`. */
export const versionCors = (
  table: RouteTable<unknown, { readonly version: ServedVersion }>,
  host: string,
  path: string,
): CompiledCors | undefined => {
  const segments = path.split('/', MOST_SEGMENTS + 1).filter((segment) => segment !== '')
  for (let length = segments.length; length >= 0; length--) {
    const mounted = `/${[...segments.slice(0, length), 'ws'].join('/')}`
    const found = matchWebSocket(table, host, mounted)
    if (found !== undefined && found !== 'malformed')
      return found.candidates[0]?.target.version.cors
  }
  return undefined
}
