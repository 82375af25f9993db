// Route sets for tests, written as documents have them: hosts and paths as text.

import { parseHost } from '../../../language/routes/host-pattern.ts'
import { joinPatterns, parseBasePath, parsePath } from '../../../language/routes/path-pattern.ts'
import type { Route, RouteSet } from '../../../language/router/route.ts'

export interface SetSource {
  readonly id: string
  readonly host: string
  readonly base?: string
  readonly paths: readonly string[]
  readonly rank?: number
  readonly since?: number
}

/** The target of a route is `<id> <path>`. */
export function routeSet(source: SetSource): RouteSet<string, string> {
  const host = parseHost(source.host)
  if (!host.ok) throw new Error(host.message)
  return {
    id: source.id,
    rank: source.rank ?? 0,
    since: source.since ?? 0,
    hosts: host.hosts,
    routes: source.paths.map((path) => route(source, path)),
  }
}

function route({ id, base = '/' }: SetSource, path: string): Route<string> {
  const head = parseBasePath(base)
  const rest = parsePath(path)
  if (!head.ok || !rest.ok) throw new Error(`${base} or ${path} does not parse`)
  const joined = joinPatterns(head.patterns, rest.patterns)
  if (!joined.ok) throw new Error(joined.message)
  return { patterns: joined.patterns, target: `${id} ${path}` }
}
