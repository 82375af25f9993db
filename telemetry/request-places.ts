// Decides which operations and documents have series of their own, as there is a bound on both. When it is reached, the
// namespace that has most gives one up to a namespace with fewer, and within one namespace so do documents.

import { LargestFirst } from './largest-first.ts'
import { OTHER, OTHER_API, type RequestLabels } from './request-counts.ts'
import { CountedRow, type RequestTotals, type RowDocument } from './request-row.ts'

export interface PlacesOptions {
  /** Of operations, and of documents for the rest of their operations. */
  readonly maxRows: number
  /** Documents with a histogram of their own. */
  readonly maxDocuments: number
  readonly createTotals: () => RequestTotals
}

/** The documents of a namespace; those without a resource are one group. */
class Group {
  readonly namespace: string
  readonly documents = new LargestFirst<CountedDocument>()
  /** Those that have totals of their own. */
  readonly owners = new Set<CountedDocument>()

  constructor(namespace: string) {
    this.namespace = namespace
  }
}

export class CountedDocument implements RowDocument {
  readonly api: string
  readonly rows = new Map<string, CountedRow>()
  /** Counts the operations that have no series of their own. */
  other: CountedRow | undefined = undefined
  resource: string | undefined
  totals: RequestTotals
  group: Group

  constructor(
    { api, resource }: Pick<RequestLabels, 'api' | 'resource'>,
    { totals, group }: { readonly totals: RequestTotals; readonly group: Group },
  ) {
    this.api = api
    this.resource = resource
    this.totals = totals
    this.group = group
  }

  get size(): number {
    return this.rows.size + (this.other === undefined ? 0 : 1)
  }

  /** Those that have series of their own. */
  *allRows(): Iterable<CountedRow> {
    yield* this.rows.values()
    if (this.other !== undefined) yield this.other
  }
}

export class RequestPlaces {
  /** Counts documents that have no series of their own. */
  readonly others: CountedRow
  /** Counts requests that no document has served. */
  readonly unmatched: CountedRow
  readonly documents = new Map<string, CountedDocument>()
  readonly #options: PlacesOptions
  readonly #groups = new Map<string, Group>()
  readonly #byRows = new LargestFirst<Group>()
  readonly #byTotals = new LargestFirst<Group>()
  #rows = 0
  #totals = 0

  constructor(options: PlacesOptions) {
    this.#options = options
    this.others = new CountedRow(OTHER_PLACE, { totals: options.createTotals() })
    this.unmatched = new CountedRow(NO_PLACE, { totals: options.createTotals() })
  }

  /** @returns where the operation counts from now on: its own row, that of the rest of its document, or that of all */
  rowFor(labels: RequestLabels): CountedRow {
    if (labels.api === '') return this.unmatched
    // Of another process, whose documents had no place.
    if (labels.api === OTHER_API) return this.others
    const document = this.documents.get(labels.api)
    if (document !== undefined) this.#offerTotals(document)
    const known = labels.path === OTHER ? document?.other : document?.rows.get(keyOf(labels))
    if (known !== undefined) return known
    if (document !== undefined) return this.#newRow(document, labels)
    const group = this.#groupOf(labels)
    if (!this.#hasRoom(group)) return this.others
    return this.#newRow(this.#newDocument(labels, group), labels)
  }

  /** Drops the rows of a document that `keeps` rejects, and the document with the last of them. */
  prune(api: string, keeps: (labels: RequestLabels) => boolean): void {
    const document = this.documents.get(api)
    if (document === undefined) return
    for (const [key, { place }] of document.rows)
      if (!keeps({ api, ...place })) this.#drop(document, key)
    if (document.rows.size > 0) return
    if (document.other !== undefined && keeps({ api, ...document.other.place })) return
    this.#dropOther(document)
    this.#forget(document)
  }

  /** The document comes from this resource now: its rows count as those of its namespace. */
  assign(api: string, resource: string | undefined): void {
    const document = this.documents.get(api)
    if (document === undefined || document.resource === resource) return
    const before = document.group
    document.resource = resource
    const after = this.#groupOf({ resource })
    if (before === after) return
    const isOwner = before.owners.has(document)
    for (let count = document.size; count > 0; count--) this.#count(document, -1)
    if (isOwner) this.#disown(document)
    this.#release(before)
    this.#groups.set(after.namespace, after)
    document.group = after
    for (let count = document.size; count > 0; count--) this.#count(document, 1)
    if (isOwner) this.#own(document)
  }

  #newRow(document: CountedDocument, labels: RequestLabels): CountedRow {
    if (!this.#makeRoom(document)) return this.#otherOf(document)
    if (labels.path === OTHER) return this.#addOther(document)
    const { version, path, method } = labels
    const row = new CountedRow({ version, path, method }, document)
    document.rows.set(keyOf(labels), row)
    this.#count(document, 1)
    return row
  }

  #newDocument(labels: RequestLabels, group: Group): CountedDocument {
    const { totals } = this.others.document
    const document = new CountedDocument(labels, { totals, group })
    this.#groups.set(group.namespace, group)
    this.documents.set(labels.api, document)
    this.#offerTotals(document)
    return document
  }

  /** It has totals of its own from now on, where there is room. */
  #offerTotals(document: CountedDocument): void {
    if (document.group.owners.has(document) || !this.#makeRoomForTotals(document.group)) return
    document.totals = this.#options.createTotals()
    this.#own(document)
  }

  /** Whether a document without any row could have one. */
  #hasRoom(group: Group): boolean {
    if (this.#rows < this.#options.maxRows) return true
    return this.#giverTo(group, 0) !== undefined
  }

  #makeRoom(document: CountedDocument): boolean {
    if (this.#rows < this.#options.maxRows) return true
    const giver = this.#giverTo(document.group, document.size)
    if (giver === undefined) return false
    this.#giveUp(giver)
    return true
  }

  /** The document that gives up a row to one with `size` rows; undefined: all have their share already. */
  #giverTo(group: Group, size: number): CountedDocument | undefined {
    const { largest = group } = this.#byRows
    // One more than the other has afterwards is no gain: two that exchange rows would never end.
    if (this.#byRows.sizeOf(group) + 2 <= this.#byRows.sizeOf(largest))
      return largest.documents.largest
    const giver = group.documents.largest
    return giver !== undefined && size + 2 <= giver.size ? giver : undefined
  }

  /** The document has one row less: those that are called least count as the rest of it. */
  #giveUp(document: CountedDocument): void {
    const least = leastCalled(document)
    if (document.other !== undefined && least !== undefined) {
      this.#replace(document, least, document.other)
      return
    }
    if (document.rows.size >= 2) {
      this.#otherOf(document)
      const next = leastCalled(document)
      if (next !== undefined && document.other !== undefined)
        this.#replace(document, next, document.other)
      return
    }
    if (least !== undefined) this.#replace(document, least, this.others)
    document.other?.giveWay(this.others)
    this.#dropOther(document)
    this.#forget(document)
    this.#loseTotals(document)
  }

  /** Where the rest of the document counts. It takes the place of a row of the document. */
  #otherOf(document: CountedDocument): CountedRow {
    if (document.other !== undefined) return document.other
    const least = leastCalled(document)
    if (least === undefined) return this.others
    const other = this.#addOther(document)
    this.#replace(document, least, other)
    return other
  }

  #addOther(document: CountedDocument): CountedRow {
    const other = new CountedRow(OTHER_PLACE, document)
    document.other = other
    this.#count(document, 1)
    return other
  }

  #replace(document: CountedDocument, row: CountedRow, successor: CountedRow): void {
    row.giveWay(successor)
    this.#drop(document, keyOf(row.place))
  }

  #drop(document: CountedDocument, key: string): void {
    if (document.rows.delete(key)) this.#count(document, -1)
  }

  #dropOther(document: CountedDocument): void {
    if (document.other === undefined) return
    document.other = undefined
    this.#count(document, -1)
  }

  /** It has no row any more. */
  #forget(document: CountedDocument): void {
    this.documents.delete(document.api)
    this.#disown(document)
    this.#release(document.group)
  }

  #makeRoomForTotals(group: Group): boolean {
    if (this.#totals < this.#options.maxDocuments) return true
    const { largest = group } = this.#byTotals
    if (this.#byTotals.sizeOf(group) + 2 > this.#byTotals.sizeOf(largest)) return false
    const giver = leastCalledOwner(largest)
    if (giver === undefined) return false
    this.#disown(giver)
    this.#loseTotals(giver)
    return true
  }

  #loseTotals(document: CountedDocument): void {
    const { totals } = this.others.document
    if (document.totals !== totals) document.totals.giveWay(totals)
    document.totals = totals
  }

  #own(document: CountedDocument): void {
    document.group.owners.add(document)
    this.#byTotals.grow(document.group)
    this.#totals += 1
  }

  #disown(document: CountedDocument): void {
    if (!document.group.owners.delete(document)) return
    this.#byTotals.shrink(document.group)
    this.#totals -= 1
  }

  #count(document: CountedDocument, by: 1 | -1): void {
    const { group } = document
    this.#rows += by
    if (by === 1) {
      group.documents.grow(document)
      this.#byRows.grow(group)
      return
    }
    group.documents.shrink(document)
    this.#byRows.shrink(group)
  }

  /** A new one is known once a document is in it. */
  #groupOf({ resource = '' }: Pick<RequestLabels, 'resource'>): Group {
    const namespace = namespaceOf(resource)
    return this.#groups.get(namespace) ?? new Group(namespace)
  }

  #release(group: Group): void {
    const isEmpty = group.documents.largest === undefined
    if (isEmpty && this.#groups.get(group.namespace) === group) this.#groups.delete(group.namespace)
  }
}

/** @example namespaceOf('shop/orders') // 'shop' */
export const namespaceOf = (resource: string): string => resource.split('/', 1)[0] ?? ''

const keyOf = ({ version, path, method }: Omit<RequestLabels, 'api'>): string =>
  `${method} ${path} ${version}`

const leastCalled = ({ rows }: CountedDocument): CountedRow | undefined =>
  leastOf(rows.values(), ({ total }) => total)

const leastCalledOwner = ({ owners }: Group): CountedDocument | undefined =>
  leastOf(owners, ({ totals }) => totals.total)

/** The last of those that have least: what was there first stays. */
const leastOf = <T>(items: Iterable<T>, sizeOf: (item: T) => number): T | undefined => {
  let least: { readonly item: T; readonly size: number } | undefined
  for (const item of items) {
    const size = sizeOf(item)
    if (least === undefined || size <= least.size) least = { item, size }
  }
  return least?.item
}

const OTHER_PLACE = { version: OTHER, path: OTHER, method: OTHER }
const NO_PLACE = { version: '', path: '', method: '' }
