// Compares two lists of routes, and decides for each change whether it loosens security. Pure.

import { isWiderCors } from '../language/explain/explain-cors.ts'
import { type RouteRow, WEB_SOCKET_ACTION } from '../language/explain/list-routes.ts'

export interface RouteChange {
  readonly type: 'added' | 'removed' | 'changed'
  readonly method: string
  readonly host: string
  readonly path: string
  readonly differences: readonly RouteDifference[]
  /** More callers get in than before, or it can't be ruled out. */
  readonly isLoosened: boolean
}

export interface RouteDifference {
  readonly what: (typeof COMPARED)[number]
  /** Empty: there was none. */
  readonly before: string
  readonly after: string
}

/** Hosts that are answered for the first time, and those that no document answers any longer. */
export interface HostChanges {
  readonly claimed: readonly string[]
  readonly released: readonly string[]
}

/** @example compareHosts(servedRows, wantedRows) // { claimed: ['api.acme.com'], released: [] } */
export const compareHosts = (
  served: readonly RouteRow[],
  wanted: readonly RouteRow[],
): HostChanges => {
  const [before, after] = [served, wanted].map(
    (rows) => new Set([...byRoute(rows).values()].map(({ host }) => host)),
  )
  return {
    claimed: [...(after ?? [])].filter((host) => before?.has(host) === false).toSorted(),
    released: [...(before ?? [])].filter((host) => after?.has(host) === false).toSorted(),
  }
}

/**
 * Inactive versions serve nothing, and the gateway's own routes are never changed: both are left out.
 * @example compareRoutes(servedRows, wantedRows) // [{ type: 'added', method: 'GET', … }]
 */
export const compareRoutes = (
  served: readonly RouteRow[],
  wanted: readonly RouteRow[],
): readonly RouteChange[] => {
  const before = byRoute(served)
  const after = byRoute(wanted)
  const guarded = guardedVersions(after.values())
  const changes: RouteChange[] = []
  for (const [key, row] of after) {
    const differences = differencesOf(before.get(key), row)
    if (differences.length === 0) continue
    const type = before.has(key) ? 'changed' : 'added'
    const isLoosened =
      isLooser(before.get(key), row) || (isOpenWebSocket(row) && guarded.has(versionOf(row)))
    changes.push({ type, ...placeOf(row), differences, isLoosened })
  }
  for (const [key, row] of before) {
    if (after.has(key)) continue
    const differences = differencesOf(row, undefined)
    changes.push({ type: 'removed', ...placeOf(row), differences, isLoosened: false })
  }
  return changes.toSorted((left, right) => (orderOf(left) < orderOf(right) ? -1 : 1))
}

interface MethodRow extends RouteRow {
  readonly method: string
}

/** A row of several methods is one route for each: lists join those that are alike. */
const byRoute = (rows: readonly RouteRow[]): ReadonlyMap<string, MethodRow> =>
  new Map(
    rows
      .filter(({ active, document }) => active && document !== '')
      .flatMap((row) =>
        row.methods.map((method) => [`${row.host}\n${row.path}\n${method}`, { ...row, method }]),
      ),
  )

const placeOf = ({
  method,
  host,
  path,
}: MethodRow): Pick<RouteChange, 'method' | 'host' | 'path'> => ({
  method,
  host,
  path,
})

const orderOf = ({ host, path, method }: RouteChange): string => `${host} ${path} ${method}`

const COMPARED = ['action', 'security', 'cors', 'realm', 'document'] as const

/** Of a route that comes or goes: what it does and who may call it. */
const differencesOf = (
  before: MethodRow | undefined,
  after: MethodRow | undefined,
): readonly RouteDifference[] =>
  COMPARED.flatMap((what) => {
    const isOnlySide = before === undefined || after === undefined
    if (isOnlySide && (what === 'realm' || what === 'document')) return []
    const [left, right] = [before?.[what] ?? '', after?.[what] ?? '']
    return left === right ? [] : [{ what, before: left, after: right }]
  })

const OPEN = 'none'

/**
 * A new route that anybody may call is not looser than before: there was none. Another scheme, another realm or other
 * groups may let in others than before, so that each counts as looser, but for what only adds a requirement, or takes an
 * alternative away.
 */
const isLooser = (before: MethodRow | undefined, after: MethodRow): boolean => {
  if (before === undefined) return false
  if (isWiderCors(before.cors, after.cors)) return true
  if (alternativesOf(before.security).includes(OPEN)) return false
  if (before.realm !== after.realm) return true
  return before.security !== after.security && !isStricter(before.security, after.security)
}

/** Versions with a path that asks for credentials. */
const guardedVersions = (rows: Iterable<MethodRow>): ReadonlySet<string> =>
  new Set(
    [...rows].filter(({ security }) => !alternativesOf(security).includes(OPEN)).map(versionOf),
  )

const versionOf = ({ document, version }: MethodRow): string => `${document}\n${version}`

/** A way past the credentials of the paths beside it, even where it is new. */
const isOpenWebSocket = ({ action, security }: MethodRow): boolean =>
  action === WEB_SOCKET_ACTION && alternativesOf(security).includes(OPEN)

const isStricter = (before: string, after: string): boolean => {
  const known = alternativesOf(before)
  return alternativesOf(after).every((each) =>
    known.some((other) => each === other || addsRequirement(other, each)),
  )
}

/** The same scheme with requirements where there were none: `basic` → `basic (groups: staff)`. */
const addsRequirement = (before: string, after: string): boolean =>
  !before.includes('(') &&
  after.startsWith(`${before} (`) &&
  /[(;] ?(?:networks|groups|roles|scopes): /.test(after)

/** All one where a name of the document, which is in quotes then, might be read as more than a name. */
const alternativesOf = (security: string): readonly string[] => {
  const parts = security.split(' or ')
  return parts.every((part) => ALTERNATIVE.test(part)) ? parts : [security]
}

const ALTERNATIVE = /^\w+(?: \([^()"]*\))?$/
