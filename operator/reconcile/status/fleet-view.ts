// Collects the reports of data planes by document and realm, and finds which of these a new report concerns. A report
// costs time in proportion to what has changed in it, however many data planes there are.

import { type DataPlaneReport, mayHoldRealm } from '../../data-plane.ts'
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
import { Tally } from './tally.ts'
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
  /** The first by name, for states that are reported with the name of a data plane. */
  first(state: State): DataPlaneReport | undefined
  /** Of a document: the digests that ready data planes have loaded, also those that it does not select (any more). */
  readonly held: Iterable<string>
  /** Of a document: the data planes that have loaded it and have no session with the router of its realm. */
  readonly apart: NamedDataPlane | undefined
  /** Of a document: what more than half of the gateways of the shared pool that it is for report about its upstreams. */
  readonly unhealthy: Majority | undefined
  /** Of a realm: the data planes at which an identity provider or a credential fails. */
  readonly failing: NamedDataPlane | undefined
}

interface NamedDataPlane {
  /** By name. */
  readonly first: DataPlaneReport
  /** How many more there are. */
  readonly others: number
}

interface Entry {
  readonly subject: Subject
  readonly audience: Audience | undefined
  readonly tally: Tally<State>
  readonly held: Tally<string>
  readonly routers: Tally<RouterState>
  readonly upstreams: Tally<UpstreamState>
  readonly peers: Tally<PeersState>
}

/** What one data plane reports about a subject. */
interface Finding {
  readonly state: State | undefined
  /** Digest. */
  readonly held: string | undefined
  readonly router: RouterState | undefined
  readonly upstream: UpstreamState | undefined
  readonly peers: PeersState | undefined
}

/** `unreachable` is reported only where all are, so that any data plane may be named. */
const NAMED: ReadonlySet<State> = new Set<State>([
  ...(['rejected', 'withheld', 'shadowed', 'refused', 'closed'] as const),
])

const NONE_NAMED: ReadonlySet<string> = new Set()
const NO_TROUBLES_NAMED: ReadonlySet<UpstreamState> = new Set()
const APART: ReadonlySet<RouterState> = new Set<RouterState>(['apart'])
const FAILING: ReadonlySet<PeersState> = new Set<PeersState>(['failing'])

export class FleetView {
  readonly #entries = new Map<string, Entry>()
  /** Keys of the subjects of one name, which several resources may claim. */
  readonly #named = new Map<string, Set<string>>()
  readonly #reports = new Map<string, DataPlaneReport>()
  readonly #audiences = new Audiences()
  #names: readonly string[] = []

  /** Collects reports about `subject` under `key` from now on; undefined: about nothing any more. */
  watch(key: string, subject: Subject | undefined): void {
    const before = this.#entries.get(key)
    if (subject !== undefined && before && sameSubject(before.subject, subject)) return
    if (before !== undefined) this.#unname(key, before.subject)
    if (subject === undefined) {
      this.#entries.delete(key)
      return
    }
    const audience = subject.kind === 'document' ? this.#audiences.of(subject) : undefined
    const tallies = {
      tally: new Tally(NAMED),
      held: new Tally(NONE_NAMED),
      routers: new Tally(APART),
      upstreams: new Tally<UpstreamState>(NO_TROUBLES_NAMED),
      peers: new Tally(FAILING),
    }
    const entry: Entry = { subject, audience, ...tallies }
    for (const [name, report] of this.#reports) {
      move(entry, name, NO_FINDING, this.#findingOf(report, entry))
    }
    this.#entries.set(key, entry)
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
    const gone = new Set(this.#reports.keys())
    for (const report of reports) {
      const { name } = report.dataPlane
      gone.delete(name)
      if (this.#reports.get(name) !== report) this.#exchange(name, report, changed)
    }
    for (const name of gone) this.#exchange(name, undefined, changed)
    if (this.#names.length !== this.#reports.size || gone.size > 0) {
      this.#names = [...this.#reports.keys()].sort()
    }
    return changed
  }

  look(key: string): Sight {
    const entry = this.#entries.get(key)
    if (entry === undefined) return NO_REPORTS
    const { tally, held, routers, upstreams, peers } = entry
    const apart = this.#report(routers.first('apart'))
    const failing = this.#report(peers.first('failing'))
    return {
      total: tally.total,
      held: held.values(),
      apart: apart && { first: apart, others: routers.count('apart') - 1 },
      unhealthy: majorityOf(upstreams),
      failing: failing && { first: failing, others: peers.count('failing') - 1 },
      count: (...states) => tally.count(...states),
      first: (state) => {
        return this.#report(NAMED.has(state) ? tally.first(state) : this.#firstAsked(entry))
      },
    }
  }

  #report(name: string | undefined): DataPlaneReport | undefined {
    return name === undefined ? undefined : this.#reports.get(name)
  }

  #exchange(name: string, after: DataPlaneReport | undefined, changed: Set<string>): void {
    const before = this.#reports.get(name)
    for (const key of this.#concerned(before, after)) {
      const entry = this.#entries.get(key)
      if (entry === undefined) continue
      const from = before === undefined ? NO_FINDING : this.#findingOf(before, entry)
      const to = after === undefined ? NO_FINDING : this.#findingOf(after, entry)
      const hasMoved = move(entry, name, from, to)
      if (hasMoved || hasNewDetails(before, after, entry.subject, to)) changed.add(key)
    }
    if (after === undefined) this.#reports.delete(name)
    else this.#reports.set(name, after)
  }

  /** Keys of the subjects on which the two reports may differ. */
  #concerned(
    before: DataPlaneReport | undefined,
    after: DataPlaneReport | undefined,
  ): Iterable<string> {
    if (before === undefined || after === undefined || !isAlike(before, after)) {
      return this.#entries.keys()
    }
    const names = [
      ...Array.from(changedKeys(before.documents, after.documents), documentName),
      ...Array.from(changedKeys(before.rejected.documents, after.rejected.documents), documentName),
      ...Array.from(changedKeys(before.realms, after.realms), realmName),
      ...Array.from(changedKeys(before.rejected.realms, after.rejected.realms), realmName),
      ...Array.from(givenToOne(before, after), realmName),
      ...Array.from(
        changedKeys(before.upstreams ?? NO_TROUBLES, after.upstreams ?? NO_TROUBLES),
        documentName,
      ),
    ]
    return new Set(names.flatMap((name) => [...(this.#named.get(name) ?? [])]))
  }

  #findingOf(report: DataPlaneReport, entry: Entry): Finding {
    const state = this.#stateOf(report, entry)
    const { subject } = entry
    if (subject.kind === 'realm') {
      const peers = state && peersStateOf(report, subject.uri)
      return { ...NO_FINDING, state, peers }
    }
    const held = heldOf(report, subject)
    const { routerRealm } = subject
    const isAsked = held !== undefined && routerRealm !== undefined
    return {
      state,
      held,
      router: isAsked ? routerStateOf(report, routerRealm) : undefined,
      upstream: state && upstreamStateOf(report, subject.id, held !== undefined),
      peers: undefined,
    }
  }

  #stateOf(report: DataPlaneReport, { subject, audience }: Entry): State | undefined {
    const { dataPlane } = report
    if (subject.kind === 'realm') {
      // The owner of the realm is shown what it says, so other data planes are ignored.
      return isAskedAboutRealm(report, subject) ? realmStateOf(report, subject.uri) : undefined
    }
    if (audience === undefined || !this.#audiences.includes(audience, dataPlane)) return undefined
    const { realmNamespace } = subject
    if (realmNamespace !== undefined && !mayHoldRealm(dataPlane, realmNamespace)) return 'forbidden'
    return documentStateOf(report, subject.id, subject.digest)
  }

  #firstAsked(entry: Entry): string | undefined {
    return this.#names.find((name) => {
      const report = this.#reports.get(name)
      const state = report && this.#stateOf(report, entry)
      return state !== undefined && state !== 'forbidden'
    })
  }
}

const NO_FINDING: Finding = {
  state: undefined,
  held: undefined,
  router: undefined,
  upstream: undefined,
  peers: undefined,
}

const NO_TROUBLES: NonNullable<DataPlaneReport['upstreams']> = new Map()

const MEMBERS = [
  'state',
  'held',
  'router',
  'upstream',
  'peers',
] as const satisfies (keyof Finding)[]

/** @returns whether anything has changed */
const move = (
  { tally, held, routers, upstreams, peers }: Entry,
  name: string,
  from: Finding,
  to: Finding,
): boolean => {
  if (from.state !== to.state) tally.move(name, from.state, to.state)
  if (from.held !== to.held) held.move(name, from.held, to.held)
  if (from.router !== to.router) routers.move(name, from.router, to.router)
  if (from.upstream !== to.upstream) upstreams.move(name, from.upstream, to.upstream)
  if (from.peers !== to.peers) peers.move(name, from.peers, to.peers)
  return MEMBERS.some((member) => from[member] !== to[member])
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
const isAskedAboutRealm = (
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
  held: [],
  apart: undefined,
  unhealthy: undefined,
  failing: undefined,
}

/** Whether details that are shown have changed although the state is the same. */
const hasNewDetails = (
  before: DataPlaneReport | undefined,
  after: DataPlaneReport | undefined,
  subject: Subject,
  { state, peers }: Finding,
): boolean => {
  if (peers === 'failing' && detailsOf(before, subject) !== detailsOf(after, subject)) return true
  if (state === 'unreachable') return before?.message !== after?.message
  if (state === undefined || !NAMED.has(state)) return false
  return detailsOf(before, subject) !== detailsOf(after, subject)
}

const detailsOf = (report: DataPlaneReport | undefined, subject: Subject): unknown => {
  if (subject.kind === 'realm') {
    return report?.rejected.realms.get(subject.uri) ?? report?.realms.get(subject.uri)
  }
  return report?.rejected.documents.get(subject.id) ?? report?.documents.get(subject.id)
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
