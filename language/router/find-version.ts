// Finds the version that the longest `base_path` names of those that a path begins with: it words what is refused where
// no path of a document matches. It looks at documents of the host's owner alone.

import { decodeSegments, matchOn, type WebSocketHit, webSocketHitsOf } from './match.ts'
import type { RouteTable } from './route-table.ts'
import type { Candidate, Match } from './route.ts'

/** More host patterns, and longer base paths, are not looked at: the error record stands for them. */
const MOST_HOSTS = 4
const MOST_SEGMENTS = 16

export interface FoundVersion<W> {
  readonly match: Match<W>
  readonly candidate: Candidate<W>
}

/**
 * Each version has its `/ws` in the table, which stands for its `base_path`.
 * @param isOfOwner whether the second one is of the namespace of the first, which owns the host
 */
export const findVersion = <W>(
  table: RouteTable<unknown, W>,
  { host, path }: { readonly host: string; readonly path: string },
  isOfOwner: (owner: W, other: W) => boolean,
): FoundVersion<W> | undefined => {
  const segments = path.startsWith('/') ? decodeSegments(path) : undefined
  const hits = webSocketHitsOf(table, host, MOST_HOSTS)
  const owner = hits[0] && firstBelow(hits[0])
  if (segments === undefined || owner === undefined) return undefined
  for (let length = Math.min(segments.length, MOST_SEGMENTS); length >= 0; length--) {
    const route = [...segments.slice(0, length), 'ws']
    for (const hit of hits) {
      const match = matchOn(hit, route)
      const candidate = match?.candidates.find(({ target }) => isOfOwner(owner, target))
      if (match !== undefined && candidate !== undefined) return { match, candidate }
    }
  }
  return undefined
}

/** Any of its versions: those of one host pattern have one owner. */
const firstBelow = <W>({ routes }: WebSocketHit<W>): W | undefined => {
  let node: typeof routes.paths | undefined = routes.paths
  while (node !== undefined) {
    const leaf = node.leaf ?? node.tail
    if (leaf !== undefined) return routes.at(leaf)[0]?.target
    node = node.literals?.first() ?? node.mixed?.[0]?.[0]?.node ?? node.binding
  }
  return undefined
}
