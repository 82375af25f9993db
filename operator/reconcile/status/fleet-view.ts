// Looks up what data planes report about a document or realm, and finds which of these a new report concerns. Nothing is
// counted in advance: a look at a document reads its part of each report, some 15 µs for a hundred data planes.

import { type DataPlaneReport, mayHoldRealm } from '../../data-plane.ts'
import type { Warning } from '../../../language/problem.ts'
import { changedKeys } from '../../edited-map.ts'
import type { LabelSelector } from '../../resource/resource.ts'
import { type Audience, Audiences } from './audiences.ts'
import {
  documentStateOf,
  peersStateOf,
  realmStateOf,
  routerStateOf,
  upstreamStateOf,
  type DocumentState,
  type PeersState,
  type RealmState,
  type RouterState,
  type UpstreamState,
} from './data-plane-state.ts'
import { type Majority, majorityOf } from './upstream-majority.ts'

/** A document or realm that data planes report on. */
export type Subject =
  | {
      readonly kind: 'document'
      readonly id: string
      readonly digest: string
      readonly namespace: string
      readonly selector?: LabelSelector
      /** Absent where it has no realm that it may use. */
      readonly realmNamespace?: string
      /** The realm whose router it needs. */
      readonly routerRealm?: string
    }
  | { readonly kind: 'realm'; readonly uri: string; readonly namespace: string }

export type State = DocumentState | RealmState

/** What all data planes report about one subject. */
export interface Sight {
  readonly total: number
  count(...states: readonly State[]): number
  /** The first by name. */
  first(state: State): DataPlaneReport | undefined
  /** For a document: what the data planes that have loaded it warn of, each of it once. */
  readonly warnings: readonly Warning[]
  /** For a document: the digests that ready data planes have loaded, also those that it does not select (any more). */
  readonly held: ReadonlySet<string>
  /** For a document: the data planes that have loaded it and have no session with the router of its realm. */
  readonly apart: NamedDataPlane | undefined
  /** For a document: what more than half of the gateways of the shared pool that it is for report about its upstreams. */
  readonly unhealthy: Majority | undefined
  /** For a realm: the data planes at which an identity provider or a credential fails. */
  readonly failing: NamedDataPlane | undefined
}

interface NamedDataPlane {
  /** The first by name. */
  readonly first: DataPlaneReport
  /** How many more there are. */
  readonly others: number
}

interface Watched {
  readonly subject: Subject
  readonly audience: Audience | undefined
}

/** What one data plane reports about a subject. */
interface Observation {
  readonly state: State | undefined
  /** Digest. */
  readonly held: string | undefined
  /** The document as it has loaded it. */
  readonly warnings: readonly Warning[]
  readonly router: RouterState | undefined
  readonly upstream: UpstreamState | undefined
  readonly peers: PeersState | undefined
  /** What is shown of it besides: a rejection, a loaded entry, or why it is unreachable. */
  readonly details: unknown
}

/** States that are reported with the name of a data plane and what it says. */
const NAMED: ReadonlySet<State> = new Set<State>([
  ...(['rejected', 'withheld', 'refused', 'closed'] as const),
])

export class FleetView {
  readonly #watched = new Map<string, Watched>()
  /** Keys of the subjects of one name, which several resources may claim. */
  readonly #named = new Map<string, Set<string>>()
  /** Reports by name of the data plane, in the order of names. */
  #reports: ReadonlyMap<string, DataPlaneReport> = new Map()
  readonly #audiences = new Audiences()

  /** Looks for reports about `subject` under `key` from now on; undefined: about nothing any more. */
  watch(key: string, subject: Subject | undefined): void {
    const before = this.#watched.get(key)
    if (subject !== undefined && before && sameSubject(before.subject, subject)) return
    if (before !== undefined) this.#unname(key, before.subject)
    if (subject === undefined) {
      this.#watched.delete(key)
      return
    }
    const audience = subject.kind === 'document' ? this.#audiences.of(subject) : undefined
    this.#watched.set(key, { subject, audience })
    for (const name of namesOf(subject)) {
      this.#named.set(name, (this.#named.get(name) ?? new Set()).add(key))
    }
  }

  #unname(key: string, subject: Subject): void {
    for (const name of namesOf(subject)) {
      const keys = this.#named.get(name)
      keys?.delete(key)
      if (keys?.size === 0) this.#named.delete(name)
    }
  }

  /** @returns keys of the subjects whose reports have changed */
  take(reports: readonly DataPlaneReport[]): ReadonlySet<string> {
    const changed = new Set<string>()
    const after = new Map(
      reports
        .map((report) => [report.dataPlane.name, report] as const)
        .sort(([left], [right]) => (left < right ? -1 : 1)),
    )
    for (const name of new Set([...this.#reports.keys(), ...after.keys()]))
      this.#compare(this.#reports.get(name), after.get(name), changed)
    this.#reports = after
    return changed
  }

  look(key: string): Sight {
    const watched = this.#watched.get(key)
    return watched === undefined
      ? NO_REPORTS
      : sightOf(this.#reports.values(), (report) => this.#observationOf(report, watched))
  }

  #compare(
    before: DataPlaneReport | undefined,
    after: DataPlaneReport | undefined,
    changed: Set<string>,
  ): void {
    if (before === after) return
    for (const key of this.#concerned(before, after)) {
      const watched = changed.has(key) ? undefined : this.#watched.get(key)
      if (watched === undefined) continue
      const from = before === undefined ? NO_OBSERVATION : this.#observationOf(before, watched)
      const to = after === undefined ? NO_OBSERVATION : this.#observationOf(after, watched)
      if (MEMBERS.some((member) => from[member] !== to[member])) changed.add(key)
    }
  }

  /** Keys of the subjects on which the two reports may differ. */
  #concerned(
    before: DataPlaneReport | undefined,
    after: DataPlaneReport | undefined,
  ): Iterable<string> {
    if (before === undefined || after === undefined || !isAlike(before, after)) {
      return this.#watched.keys()
    }
    const names = [
      ...Array.from(changedKeys(before.documents, after.documents), documentName),
      ...Array.from(changedKeys(before.rejected.documents, after.rejected.documents), documentName),
      ...Array.from(changedKeys(before.realms, after.realms), realmName),
      ...Array.from(changedKeys(before.rejected.realms, after.rejected.realms), realmName),
      ...Array.from(givenToOne(before, after), realmName),
      ...Array.from(
        changedKeys(before.upstreams ?? NONE_UNHEALTHY, after.upstreams ?? NONE_UNHEALTHY),
        documentName,
      ),
    ]
    return new Set(names.flatMap((name) => [...(this.#named.get(name) ?? [])]))
  }

  #observationOf(report: DataPlaneReport, watched: Watched): Observation {
    const state = this.#stateOf(report, watched)
    const { subject } = watched
    if (subject.kind === 'realm') {
      const peers = state && peersStateOf(report, subject.uri)
      return {
        ...NO_OBSERVATION,
        state,
        peers,
        details: detailsOf(report, subject, { state, peers }),
      }
    }
    const held = heldOf(report, subject)
    const { routerRealm } = subject
    const needsRouter = held !== undefined && routerRealm !== undefined
    return {
      state,
      held,
      warnings: state === 'holds' ? warningsAt(report, subject.id) : NO_WARNINGS,
      router: needsRouter ? routerStateOf(report, routerRealm) : undefined,
      upstream: state && upstreamStateOf(report, subject.id, held !== undefined),
      peers: undefined,
      details: detailsOf(report, subject, { state, peers: undefined }),
    }
  }

  #stateOf(report: DataPlaneReport, { subject, audience }: Watched): State | undefined {
    const { dataPlane } = report
    if (subject.kind === 'realm') {
      // The owner of the realm is shown what it says, so other data planes are ignored.
      return countsForRealm(report, subject) ? realmStateOf(report, subject.uri) : undefined
    }
    if (audience === undefined || !this.#audiences.includes(audience, dataPlane)) return undefined
    const { realmNamespace } = subject
    if (realmNamespace !== undefined && !mayHoldRealm(dataPlane, realmNamespace)) return 'forbidden'
    return documentStateOf(report, subject.id, subject.digest)
  }
}

const NO_WARNINGS: readonly Warning[] = []

const NO_OBSERVATION: Observation = {
  state: undefined,
  held: undefined,
  warnings: NO_WARNINGS,
  router: undefined,
  upstream: undefined,
  peers: undefined,
  details: undefined,
}

const NONE_UNHEALTHY: NonNullable<DataPlaneReport['upstreams']> = new Map()

const MEMBERS = Object.keys(NO_OBSERVATION) as readonly (keyof Observation)[]

/** @param reports in the order of names */
const sightOf = (
  reports: Iterable<DataPlaneReport>,
  observationOf: (report: DataPlaneReport) => Observation,
): Sight => {
  const states = new Map<State, number>()
  const first = new Map<State, DataPlaneReport>()
  const held = new Set<string>()
  const warnings = new Map<string, Warning>()
  const upstreams = new Map<UpstreamState, number>()
  let total = 0
  let apart: NamedDataPlane | undefined
  let failing: NamedDataPlane | undefined
  for (const report of reports) {
    const observation = observationOf(report)
    const { state, upstream } = observation
    if (observation.held !== undefined) held.add(observation.held)
    if (observation.router === 'apart') apart = withOther(apart, report)
    if (observation.peers === 'failing') failing = withOther(failing, report)
    if (upstream !== undefined) upstreams.set(upstream, (upstreams.get(upstream) ?? 0) + 1)
    for (const warning of observation.warnings)
      warnings.set(`${warning.code} ${warning.path}`, warning)
    if (state === undefined) continue
    total += 1
    states.set(state, (states.get(state) ?? 0) + 1)
    if (!first.has(state)) first.set(state, report)
  }
  return {
    total,
    held,
    warnings: [...warnings.values()],
    apart,
    failing,
    unhealthy: majorityOf(upstreams),
    count: (...wanted) => wanted.reduce((sum, state) => sum + (states.get(state) ?? 0), 0),
    first: (state) => first.get(state),
  }
}

const withOther = (named: NamedDataPlane | undefined, report: DataPlaneReport): NamedDataPlane =>
  named === undefined ? { first: report, others: 0 } : { ...named, others: named.others + 1 }

/** The same list for all that have none, so that a report that changes nothing compares as equal. */
const warningsAt = ({ documents }: DataPlaneReport, id: string): readonly Warning[] => {
  const { warnings } = documents.get(id) ?? { warnings: NO_WARNINGS }
  return warnings.length === 0 ? NO_WARNINGS : warnings
}

/** A sidecar of another namespace is ignored, whatever it claims to serve. */
const heldOf = (
  { dataPlane, ready, documents }: DataPlaneReport,
  { id, namespace }: Extract<Subject, { readonly kind: 'document' }>,
): string | undefined => {
  const isNear = dataPlane.namespace === undefined || dataPlane.namespace === namespace
  return ready && isNear ? documents.get(id)?.digest : undefined
}

/** A data plane that was not reached yet counts, as its report is still awaited. */
const countsForRealm = (
  { dataPlane, phase, realmsGiven }: DataPlaneReport,
  { uri, namespace }: Extract<Subject, { readonly kind: 'realm' }>,
): boolean => mayHoldRealm(dataPlane, namespace) && (phase === 'connecting' || realmsGiven.has(uri))

const givenToOne = (
  { realmsGiven: before }: DataPlaneReport,
  { realmsGiven: after }: DataPlaneReport,
): readonly string[] =>
  before === after
    ? []
    : [
        ...[...before].filter((uri) => !after.has(uri)),
        ...[...after].filter((uri) => !before.has(uri)),
      ]

const documentName = (id: string): string => `document\t${id}`
const realmName = (uri: string): string => `realm\t${uri}`

const namesOf = (subject: Subject): readonly string[] => {
  if (subject.kind === 'realm') return [realmName(subject.uri)]
  const { id, routerRealm } = subject
  return [documentName(id), ...(routerRealm === undefined ? [] : [realmName(routerRealm)])]
}

/** Whether the reports agree in everything but single documents and realms. */
const isAlike = (left: DataPlaneReport, right: DataPlaneReport): boolean =>
  left.dataPlane === right.dataPlane &&
  left.phase === right.phase &&
  left.ready === right.ready &&
  left.message === right.message

const NO_REPORTS: Sight = {
  total: 0,
  count: () => 0,
  first: () => undefined,
  held: new Set(),
  warnings: [],
  apart: undefined,
  unhealthy: undefined,
  failing: undefined,
}

const detailsOf = (
  report: DataPlaneReport,
  subject: Subject,
  { state, peers }: Pick<Observation, 'state' | 'peers'>,
): unknown => {
  if (peers !== 'failing' && (state === undefined || !NAMED.has(state)))
    return state === 'unreachable' ? report.message : undefined
  const [kind, key] =
    subject.kind === 'realm'
      ? (['realms', subject.uri] as const)
      : (['documents', subject.id] as const)
  return report.rejected[kind].get(key) ?? report[kind].get(key)
}

const sameSubject = (left: Subject, right: Subject): boolean =>
  left.kind === 'document' && right.kind === 'document'
    ? left.id === right.id &&
      left.digest === right.digest &&
      left.namespace === right.namespace &&
      left.realmNamespace === right.realmNamespace &&
      left.routerRealm === right.routerRealm &&
      sameSelector(left.selector, right.selector)
    : left.kind === 'realm' &&
      right.kind === 'realm' &&
      left.uri === right.uri &&
      left.namespace === right.namespace

const sameSelector = (left: LabelSelector | undefined, right: LabelSelector | undefined): boolean =>
  left === right || JSON.stringify(left) === JSON.stringify(right)
