// Computes which routes a document claims, and which document wins where two claim the same (behaviour §2,
// *Conflicts*). Ages come with the documents, never from a clock.

import { countFirst } from '../../base/bisect.ts'
import { childPointer } from '../../base/json-pointer.ts'
import type { CompiledApi, CompiledVersion } from './compiled.ts'
import { endpointRoutes } from './endpoint-routes.ts'
import { hostKey } from '../routes/host-pattern.ts'
import { keyOf, pathKey, printWay } from '../routes/path-pattern.ts'
import type { Problem } from '../problem.ts'

/** A route that a document wants for itself, or, with `sharedBy`, with documents of that realm. */
export interface Claim {
  /** Host key ⇥ path key ⇥ method, or `websocket` for `/ws`: names of bindings do not count. */
  readonly key: string
  readonly pointer: string
  readonly sharedBy?: string
}

/** What a document claims, and what decides its conflicts: lower `rank`, then older, then smaller id. */
export interface Claimant {
  readonly id: string
  readonly rank: number
  /** Unix time, milliseconds. */
  readonly since: number
  readonly claims: readonly Claim[]
}

/** A claim that is lost. */
export interface Conflict {
  readonly claim: Claim
  readonly winnerId: string
}

/**
 * Every claim of a document, endpoints of its security schemes and, where the realm has a router for it, `/ws` included.
 * Inactive versions claim nothing.
 * @example claimsOf(compiled) // [{key: 'acme.com\t/v1/users/:\tget', pointer: '/versions/v1/…/get'}]
 */
export function claimsOf(compiled: CompiledApi): readonly Claim[] {
  const routes = routesOf(compiled)
  const claims = [...new Set(compiled.hosts.map(hostKey))].flatMap((host) =>
    routes.map((route) => ({
      ...route,
      key: `${host}\t${route.key}`,
    })),
  )
  // A list that grew has room for 17.
  return claims.slice()
}

/** The same rule inside one document: the later of two equal routes is at fault. */
export function conflictsWithin(compiled: CompiledApi): Problem[] {
  const first = new Map<string, Claim>()
  const problems: Problem[] = []
  for (const claim of routesOf(compiled)) {
    const earlier = first.get(claim.key)
    if (earlier === undefined) first.set(claim.key, claim)
    else if (!mayShare(earlier, claim)) {
      const message = `${shownRoute(claim.key)} is served by ${earlier.pointer} already; change the path or the method, or make one of the two versions inactive`
      problems.push({ code: 'conflict', path: claim.pointer, message })
    }
  }
  return problems
}

/** A lost claim as a problem of the document that lost it. */
export function conflictProblem(claim: Claim, winnerId: string): Problem {
  const change = isWebSocket(claim)
    ? 'the host or the base_path'
    : 'the host, the path or the method'
  const of = isWebSocket(claim) ? ', of another realm' : ''
  const message = `${shownRoute(claim.key)} belongs to the API '${winnerId}'${of}, which comes first; change ${change}`
  return { code: 'conflict', path: claim.pointer, message }
}

/** All claims of all documents. The work of a change is in proportion to the claims of the document that changes. */
export class ConflictIndex {
  readonly #claimants = new Map<string, Claimant>()
  /** Key → its claimants, the winner first; the only one by itself, as nearly always: a list takes 56 bytes. */
  readonly #stakes = new Map<string, Stake | readonly Stake[]>()
  /** What `#byKey` gave last: loading a document asks it five times in a row. */
  #latest:
    { readonly claims: readonly Claim[]; readonly first: ReadonlyMap<string, Claim> } | undefined

  /** Adds a document, or replaces the one of its id. */
  put(claimant: Claimant): void {
    this.remove(claimant.id)
    this.#claimants.set(claimant.id, claimant)
    for (const [key, claim] of this.#byKey(claimant)) {
      const stake = { claimant, claim }
      const others = this.#stakesOn(key)
      const place = countFirst(others, (other) => compareStakes(other, stake) < 0)
      this.#stakes.set(key, others.length === 0 ? stake : others.toSpliced(place, 0, stake))
    }
  }

  /** Does nothing when there is none. */
  remove(id: string): void {
    const claimant = this.#claimants.get(id)
    if (claimant === undefined) return
    this.#claimants.delete(id)
    for (const key of this.#byKey(claimant).keys()) {
      const others = this.#stakesOn(key).filter((stake) => stake.claimant !== claimant)
      const [winner, another] = others
      if (winner === undefined) this.#stakes.delete(key)
      else this.#stakes.set(key, another === undefined ? winner : others)
    }
  }

  /** The claims that a document loses, in its own order; none for an id that is not registered. */
  conflictsOf(id: string): readonly Conflict[] {
    return this.#keysOf(id).flatMap((key) => {
      const stakes = this.#stakesOn(key)
      return lossOf(
        stakes.find(({ claimant }) => claimant.id === id),
        stakes[0],
      )
    })
  }

  /**
   * The claims that a document would lose if it replaced those of the ids `replaced`. Nothing changes; the work is in
   * proportion to its claims.
   */
  conflictsAfter(claimant: Claimant, replaced: ReadonlySet<string>): readonly Conflict[] {
    return [...this.#byKey(claimant)].flatMap(([key, claim]) => {
      const own = { claimant, claim }
      const other = this.#stakesOn(key).find((stake) => !replaced.has(stake.claimant.id))
      return other !== undefined && compareStakes(other, own) < 0 ? lossOf(own, other) : []
    })
  }

  /**
   * Ids of the documents whose result may depend on this one: those it wins against, and those that may share with it
   * what others then lose. Call it before and after a change to know all documents that the change concerns.
   */
  affectedBy(id: string): readonly string[] {
    const affected = this.#keysOf(id).flatMap((key) => {
      const [winner, ...others] = this.#stakesOn(key)
      const decides = winner?.claimant.id === id && others.some((stake) => isLost(stake, winner))
      return decides ? others.map(({ claimant }) => claimant.id) : []
    })
    return [...new Set(affected)]
  }

  #keysOf(id: string): readonly string[] {
    const claimant = this.#claimants.get(id)
    return claimant === undefined ? [] : [...this.#byKey(claimant).keys()]
  }

  #stakesOn(key: string): readonly Stake[] {
    const stakes = this.#stakes.get(key) ?? []
    return 'claim' in stakes ? [stakes] : stakes
  }

  /** A route may be claimed twice by one document where it may be shared: two versions with one login. */
  #byKey({ claims }: Claimant): ReadonlyMap<string, Claim> {
    if (this.#latest?.claims === claims) return this.#latest.first
    const first = new Map<string, Claim>()
    for (const claim of claims) if (!first.has(claim.key)) first.set(claim.key, claim)
    this.#latest = { claims, first }
    return first
  }
}

interface Stake {
  readonly claimant: Claimant
  readonly claim: Claim
}

function compareStakes({ claimant: a }: Stake, { claimant: b }: Stake): number {
  return a.rank - b.rank || a.since - b.since || (a.id < b.id ? -1 : 1)
}

const lossOf = (own: Stake | undefined, winner: Stake | undefined): readonly Conflict[] =>
  own === undefined || winner === undefined || !isLost(own, winner)
    ? []
    : [{ claim: own.claim, winnerId: winner.claimant.id }]

const isLost = (stake: Stake, winner: Stake): boolean =>
  stake !== winner && !mayShare(stake.claim, winner.claim)

const mayShare = (a: Claim, b: Claim): boolean =>
  a.sharedBy !== undefined && a.sharedBy === b.sharedBy

/** Claims without their host. Endpoints first, so that a path in conflict with one is the one at fault. */
const routesOf = (compiled: CompiledApi): readonly Claim[] => {
  const before = known.get(compiled)
  if (before !== undefined) return before
  const { realmUri, hasWebSocket } = compiled
  const routes = compiled.versions
    .filter((version) => version.isActive)
    .flatMap((version) => [
      ...(hasWebSocket === true && version.security !== undefined
        ? [webSocketClaim(version, realmUri)]
        : []),
      ...endpointClaims(version, realmUri),
      ...pathClaims(version),
    ])
  known.set(compiled, routes)
  return routes
}

/** Computed twice otherwise: for validation of a document, and for its registration. */
const known = new WeakMap<CompiledApi, readonly Claim[]>()

const pathClaims = (version: CompiledVersion): readonly Claim[] => {
  return version.paths.flatMap(({ template, patterns, operations }) => {
    const [way, another] = patterns
    const isPlain = way !== undefined && another === undefined
    const path = isPlain ? printWay(way) : keyOf(template)
    return Object.entries(operations).map(([method, operation]) => ({
      key: `${path}\t${method}`,
      pointer: operation.pointer,
    }))
  })
}

const endpointClaims = (version: CompiledVersion, realmUri: string): readonly Claim[] => {
  const pointer = versionPointer(version)
  return endpointRoutes(version.endpoints).flatMap(({ path, methods }) =>
    methods.map((method) => ({
      key: `${pathKey(version.basePath, path)}\t${method}`,
      pointer,
      sharedBy: realmUri,
    })),
  )
}

/** Its method is none of those of paths: `/ws` hides no path of another version, nor is it hidden by one (§2.2). */
const webSocketClaim = (version: CompiledVersion, realmUri: string): Claim => ({
  key: `${pathKey(version.basePath, '/ws')}\t${WEB_SOCKET}`,
  pointer: childPointer(versionPointer(version), 'base_path'),
  sharedBy: realmUri,
})

const WEB_SOCKET = 'websocket'

const isWebSocket = ({ key }: Claim): boolean => key.endsWith(`\t${WEB_SOCKET}`)

/** @example versionPointer(version) // '/versions/v1' */
export const versionPointer = ({ name, pointer }: CompiledVersion): string =>
  pointer ?? childPointer('/versions', name)

/** `acme.com⇥/v1/users/:⇥get` → `GET acme.com/v1/users/:`. */
function shownRoute(key: string): string {
  const parts = key.split('\t')
  const method = parts.pop() ?? ''
  const place = parts.join('')
  return `${method.toUpperCase()} ${place.length > 160 ? `${place.slice(0, 160)}…` : place}`
}
