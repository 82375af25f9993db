// Reports of data planes, again and again, in; for each document and realm what they answer, and which of them a
// change concerns, out. One report costs two look-ups for each document, whatever the number of data planes.

import { type DataPlane, type DataPlaneReport, isSelected } from '../data-plane.ts'
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
    }
  | { readonly kind: 'realm'; readonly uri: string }

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
  readonly #reports = new Map<string, DataPlaneReport>()
  readonly #audiences = new Map<string, Audience>()
  /** Which audiences a data plane serves. */
  #serves = new WeakMap<DataPlane, WeakMap<Audience, boolean>>()
  #names: readonly string[] = []

  /** Asks about `subject` from now on, under `key`; undefined: about nothing any more. */
  watch(key: string, subject: Subject | undefined): void {
    const before = this.#entries.get(key)
    if (subject === undefined) this.#entries.delete(key)
    if (subject === undefined || (before && sameSubject(before.subject, subject))) return
    const audience = subject.kind === 'document' ? this.#audienceOf(subject) : undefined
    const entry = { subject, audience, tally: new Tally(NAMED) }
    for (const [name, report] of this.#reports) {
      entry.tally.move(name, undefined, this.#answer(report, entry))
    }
    this.#entries.set(key, entry)
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
    for (const [key, entry] of this.#entries) {
      const from = before && this.#answer(before, entry)
      const to = after && this.#answer(after, entry)
      if (from !== to) entry.tally.move(name, from, to)
      if (from !== to || saysMore(before, after, entry.subject, to)) news.add(key)
    }
    if (after === undefined) this.#reports.delete(name)
    else this.#reports.set(name, after)
  }

  #answer(report: DataPlaneReport, { subject, audience }: Entry): Answer | undefined {
    if (subject.kind === 'realm') return answerOnRealm(report, subject.uri)
    if (audience === undefined || !this.#isServed(report.dataPlane, audience)) return undefined
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
      return report !== undefined && this.#answer(report, entry) !== undefined
    })
  }
}

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
      sameSelector(left.selector, right.selector)
    : left.kind === 'realm' && right.kind === 'realm' && left.uri === right.uri

const sameSelector = (left: LabelSelector | undefined, right: LabelSelector | undefined): boolean =>
  left === right || JSON.stringify(left) === JSON.stringify(right)
