// Reports of data planes, again and again, in; for each document and realm what they answer, and which of them a
// change concerns, out. A report costs what it says anew, whatever the number of data planes.

import { type DataPlane, type DataPlaneReport, isSelected, mayHoldRealm } from '../data-plane.ts'
import { changedKeys } from '../edited-map.ts'
import type { LabelSelector } from '../resource/resource.ts'
import {
  answerOnDocument,
  answerOnRealm,
  type DocumentAnswer,
  type RealmAnswer,
} from './answers.ts'
import { Tally } from './tally.ts'

/** What data planes are asked about. */
export type Subject =
  | {
      readonly kind: 'document'
      readonly id: string
      readonly digest: string
      readonly namespace: string
      readonly selector?: LabelSelector
      /** Absent where there is no realm that it may use. */
      readonly realmNamespace?: string
    }
  | { readonly kind: 'realm'; readonly uri: string; readonly namespace: string }

export type Answer = DocumentAnswer | RealmAnswer

/** What they answer about one subject. */
export interface Sight {
  readonly total: number
  count(...answers: readonly Answer[]): number
  /** By name; of the answers that are told with the name of a data plane. */
  first(answer: Answer): DataPlaneReport | undefined
}

/** Documents that go to the same data planes. */
interface Audience {
  readonly namespace: string
  readonly selector?: LabelSelector
}

interface Entry {
  readonly subject: Subject
  readonly audience: Audience | undefined
  readonly tally: Tally<Answer>
}

/** `unreachable` counts only where all are: the first that is asked will do. */
const NAMED: ReadonlySet<Answer> = new Set<Answer>([
  ...(['rejected', 'withheld', 'shadowed', 'refused', 'closed'] as const),
])

/** More than this many audiences that nobody needs any more are not kept. */
const MAX_AUDIENCES = 10_000

export class FleetView {
  readonly #entries = new Map<string, Entry>()
  /** Keys of the subjects of one name, which several resources may claim. */
  readonly #named = new Map<string, Set<string>>()
  readonly #reports = new Map<string, DataPlaneReport>()
  readonly #audiences = new Map<string, Audience>()
  /** Which audiences a data plane serves. */
  #serves = new WeakMap<DataPlane, WeakMap<Audience, boolean>>()
  #names: readonly string[] = []

  /** Asks about `subject` from now on, under `key`; undefined: about nothing any more. */
  watch(key: string, subject: Subject | undefined): void {
    const before = this.#entries.get(key)
    if (subject !== undefined && before && sameSubject(before.subject, subject)) return
    if (before !== undefined) this.#unname(key, before.subject)
    if (subject === undefined) {
      this.#entries.delete(key)
      return
    }
    const audience = subject.kind === 'document' ? this.#audienceOf(subject) : undefined
    const entry = { subject, audience, tally: new Tally(NAMED) }
    for (const [name, report] of this.#reports) {
      entry.tally.move(name, undefined, this.#answer(report, entry))
    }
    this.#entries.set(key, entry)
    const name = nameOf(subject)
    this.#named.set(name, (this.#named.get(name) ?? new Set()).add(key))
  }

  #unname(key: string, subject: Subject): void {
    const name = nameOf(subject)
    const keys = this.#named.get(name)
    keys?.delete(key)
    if (keys?.size === 0) this.#named.delete(name)
  }

  /** @returns keys of the subjects on which there is news */
  take(reports: readonly DataPlaneReport[]): ReadonlySet<string> {
    const news = new Set<string>()
    const gone = new Set(this.#reports.keys())
    for (const report of reports) {
      const { name } = report.dataPlane
      gone.delete(name)
      if (this.#reports.get(name) !== report) this.#exchange(name, report, news)
    }
    for (const name of gone) this.#exchange(name, undefined, news)
    if (this.#names.length !== this.#reports.size || gone.size > 0) {
      this.#names = [...this.#reports.keys()].sort()
    }
    return news
  }

  look(key: string): Sight {
    const entry = this.#entries.get(key)
    if (entry === undefined) return NOBODY
    const { tally } = entry
    return {
      total: tally.total,
      count: (...answers) => tally.count(...answers),
      first: (answer) => {
        const name = NAMED.has(answer) ? tally.first(answer) : this.#firstAsked(entry)
        return name === undefined ? undefined : this.#reports.get(name)
      },
    }
  }

  #exchange(name: string, after: DataPlaneReport | undefined, news: Set<string>): void {
    const before = this.#reports.get(name)
    for (const key of this.#concerned(before, after)) {
      const entry = this.#entries.get(key)
      if (entry === undefined) continue
      const from = before && this.#answer(before, entry)
      const to = after && this.#answer(after, entry)
      if (from !== to) entry.tally.move(name, from, to)
      if (from !== to || saysMore(before, after, entry.subject, to)) news.add(key)
    }
    if (after === undefined) this.#reports.delete(name)
    else this.#reports.set(name, after)
  }

  /** Keys of the subjects on which the one report may say something else than the other. */
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
    ]
    return new Set(names.flatMap((name) => [...(this.#named.get(name) ?? [])]))
  }

  #answer(report: DataPlaneReport, { subject, audience }: Entry): Answer | undefined {
    const { dataPlane } = report
    if (subject.kind === 'realm') {
      // What others say of it would be shown to its owner.
      return mayHoldRealm(dataPlane, subject.namespace)
        ? answerOnRealm(report, subject.uri)
        : undefined
    }
    if (audience === undefined || !this.#isServed(dataPlane, audience)) return undefined
    const { realmNamespace } = subject
    if (realmNamespace !== undefined && !mayHoldRealm(dataPlane, realmNamespace)) return 'forbidden'
    return answerOnDocument(report, subject.id, subject.digest)
  }

  #isServed(dataPlane: DataPlane, audience: Audience): boolean {
    let served = this.#serves.get(dataPlane)
    if (served === undefined) {
      served = new WeakMap()
      this.#serves.set(dataPlane, served)
    }
    const known = served.get(audience)
    if (known !== undefined) return known
    const isServed = isSelected(audience, dataPlane)
    served.set(audience, isServed)
    return isServed
  }

  #audienceOf({ namespace, selector }: Extract<Subject, { kind: 'document' }>): Audience {
    if (this.#audiences.size > MAX_AUDIENCES) this.#audiences.clear()
    const key = JSON.stringify([namespace, selector])
    const known = this.#audiences.get(key)
    if (known !== undefined) return known
    const audience = selector === undefined ? { namespace } : { namespace, selector }
    this.#audiences.set(key, audience)
    return audience
  }

  #firstAsked(entry: Entry): string | undefined {
    return this.#names.find((name) => {
      const report = this.#reports.get(name)
      const answer = report && this.#answer(report, entry)
      return answer !== undefined && answer !== 'forbidden'
    })
  }
}

const documentName = (id: string): string => `document\t${id}`
const realmName = (uri: string): string => `realm\t${uri}`

const nameOf = (subject: Subject): string =>
  subject.kind === 'realm' ? realmName(subject.uri) : documentName(subject.id)

/** But for what they say of single documents and realms. */
const isAlike = (left: DataPlaneReport, right: DataPlaneReport): boolean =>
  left.dataPlane === right.dataPlane &&
  left.phase === right.phase &&
  left.ready === right.ready &&
  left.message === right.message

const NOBODY: Sight = { total: 0, count: () => 0, first: () => undefined }

/** The same answer, in other words that are shown. */
const saysMore = (
  before: DataPlaneReport | undefined,
  after: DataPlaneReport | undefined,
  subject: Subject,
  answer: Answer | undefined,
): boolean => {
  if (answer === 'unreachable') return before?.message !== after?.message
  if (answer === undefined || !NAMED.has(answer)) return false
  return saidOf(before, subject) !== saidOf(after, subject)
}

const saidOf = (report: DataPlaneReport | undefined, subject: Subject): unknown => {
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
      sameSelector(left.selector, right.selector)
    : left.kind === 'realm' &&
      right.kind === 'realm' &&
      left.uri === right.uri &&
      left.namespace === right.namespace

const sameSelector = (left: LabelSelector | undefined, right: LabelSelector | undefined): boolean =>
  left === right || JSON.stringify(left) === JSON.stringify(right)
