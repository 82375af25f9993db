// Decides which operations and documents have series of their own, as there is a bound on both. When it is reached, the
// namespace that has most gives one up to a namespace with fewer, and within one namespace so do documents.

import { BoundedMap } from '../base/bounded-map.ts'
import { LargestFirst } from './largest-first.ts'
import { OTHER, OTHER_API, type RequestLabels } from './request-counts.ts'
import {
  CountedRow,
  type RequestTotals,
  type RowDocument,
  type RowPlace,
  type ScrapeCount,
} from './request-row.ts'

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
  /** How many there are. */
  size = 0
  /** Those that have series. */
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
  edition = 0
  readonly scrapes: ScrapeCount
  readonly #places: RequestPlaces

  constructor(
    { api, resource }: Pick<RequestLabels, 'api' | 'resource'>,
    { places, group }: { readonly places: RequestPlaces; readonly group: Group },
  ) {
    this.api = api
    this.resource = resource
    this.totals = places.others.document.totals
    this.group = group
    this.scrapes = places.scrapes
    this.#places = places
  }

  findPlace(row: CountedRow): void {
    this.#places.findPlace(this, row)
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
  /** Those that were called, with series or without. */
  readonly documents = new Map<string, CountedDocument>()
  readonly scrapes = { count: 0 }
  readonly #options: PlacesOptions
  readonly #groups = new Map<string, Group>()
  readonly #byRows = new LargestFirst<Group>()
  readonly #byTotals = new LargestFirst<Group>()
  #rows = 0
  #totals = 0
  /** What had series and has them no more: if they come back, they count on. */
  readonly #formerRows: BoundedMap<string, CountedRow>
  readonly #formerTotals: BoundedMap<string, RequestTotals>

  constructor(options: PlacesOptions) {
    this.#options = options
    this.#formerRows = new BoundedMap(options.maxRows)
    this.#formerTotals = new BoundedMap(options.maxDocuments)
    this.others = new CountedRow(OTHER_PLACE, rowsWithoutDocument(options.createTotals()))
    this.unmatched = new CountedRow(NO_PLACE, rowsWithoutDocument(options.createTotals()))
  }

  /** @returns what counts the operation from now on, with series of its own or as the rest of its document, or of all */
  rowFor(labels: RequestLabels): CountedRow {
    if (labels.api === '') return this.unmatched
    // Of another process, whose documents had no place.
    if (labels.api === OTHER_API) return this.others
    const document = this.documents.get(labels.api) ?? this.#addDocument(labels)
    const row = labels.path === OTHER ? this.#restOf(document) : this.#rowOf(document, labels)
    this.#offerTotals(document)
    return row
  }

  /**
   * What counts beyond the bound looks for room once after each scrape. Not more often, so that a document that is
   * removed and loaded again mostly finds the room that it has left.
   */
  findPlace(document: CountedDocument, row: CountedRow): void {
    if (!row.hasSeries && !row.isOutdated) this.#place(document, row)
    this.#offerTotals(document)
  }

  /** Drops the rows of a document that `keeps` rejects, and the document with the last of them. */
  prune(api: string, keeps: (labels: RequestLabels) => boolean): void {
    const document = this.documents.get(api)
    if (document === undefined) return
    document.edition += 1
    for (const row of document.rows.values())
      if (!keeps({ api, ...row.place })) this.#drop(document, row)
    if (document.rows.size > 0) return
    if (document.other !== undefined && keeps({ api, ...document.other.place })) return
    this.#dropOther(document)
    this.#removeDocument(document)
  }

  /** The document comes from this resource now: its rows count as those of its namespace. */
  assign(api: string, resource: string | undefined): void {
    const document = this.documents.get(api)
    if (document === undefined || document.resource === resource) return
    const before = document.group
    document.resource = resource
    const after = this.#groupOf({ resource })
    if (before === after) return
    const { size } = document
    for (let count = size; count > 0; count--) this.#count(document, -1)
    const isOwner = this.#disown(document)
    this.#leave(document)
    document.group = after
    this.#join(document)
    for (let count = size; count > 0; count--) this.#count(document, 1)
    if (isOwner) this.#own(document)
  }

  #addDocument(labels: RequestLabels): CountedDocument {
    const document = new CountedDocument(labels, { places: this, group: this.#groupOf(labels) })
    this.documents.set(labels.api, document)
    this.#join(document)
    return document
  }

  #removeDocument(document: CountedDocument): void {
    this.documents.delete(document.api)
    if (this.#disown(document)) this.#keepTotals(document.api, document.totals)
    this.#leave(document)
  }

  #rowOf(document: CountedDocument, { version, path, method }: RequestLabels): CountedRow {
    const place = { version, path, method }
    const known = document.rows.get(keyOf(place))
    if (known !== undefined) return known
    const row = new CountedRow(place, document)
    this.#place(document, row)
    return row
  }

  #restOf(document: CountedDocument): CountedRow {
    if (document.other !== undefined) return document.other
    return this.#makeRoom(document) ? this.#addOther(document) : this.#otherOf(document)
  }

  #place(document: CountedDocument, row: CountedRow): void {
    const key = keyOf(row.place)
    const known = document.rows.get(key)
    if (known !== undefined) row.giveWay(known)
    else if (!this.#makeRoom(document)) row.giveWay(this.#otherOf(document))
    else {
      row.takeSeries(this.#takeFormer(document.api, row.place))
      document.rows.set(key, row)
      this.#count(document, 1)
    }
  }

  /** It has totals of its own from now on, where there is room. */
  #offerTotals(document: CountedDocument): void {
    const { api, group } = document
    if (document.size === 0 || group.owners.has(document)) return
    if (!this.#makeRoomForTotals(group)) return
    document.totals = this.#formerTotals.get(api) ?? this.#options.createTotals()
    this.#formerTotals.delete(api)
    this.#own(document)
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
    if (this.#disown(document)) this.#loseTotals(document)
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
    other.takeSeries(this.#takeFormer(document.api, OTHER_PLACE))
    document.other = other
    this.#count(document, 1)
    return other
  }

  #replace(document: CountedDocument, row: CountedRow, successor: CountedRow): void {
    row.giveWay(successor)
    this.#drop(document, row)
  }

  #drop(document: CountedDocument, row: CountedRow): void {
    if (!document.rows.delete(keyOf(row.place))) return
    this.#count(document, -1)
    this.#keepRow(document.api, row)
  }

  #dropOther(document: CountedDocument): void {
    const { other } = document
    if (other === undefined) return
    document.other = undefined
    this.#count(document, -1)
    this.#keepRow(document.api, other)
  }

  #keepRow(api: string, row: CountedRow): void {
    if (row.total > 0) this.#formerRows.set(formerKeyOf(api, row.place), row)
  }

  #takeFormer(api: string, place: RowPlace): CountedRow | undefined {
    const key = formerKeyOf(api, place)
    const former = this.#formerRows.get(key)
    this.#formerRows.delete(key)
    return former
  }

  #keepTotals(api: string, totals: RequestTotals): void {
    if (totals.total > 0) this.#formerTotals.set(api, totals)
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
    const lost = document.totals
    document.totals = this.others.document.totals
    lost.giveWay(document.totals)
    this.#keepTotals(document.api, lost)
  }

  #own(document: CountedDocument): void {
    document.group.owners.add(document)
    this.#byTotals.grow(document.group)
    this.#totals += 1
  }

  /** @returns whether it had totals of its own */
  #disown(document: CountedDocument): boolean {
    if (!document.group.owners.delete(document)) return false
    this.#byTotals.shrink(document.group)
    this.#totals -= 1
    return true
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

  #join({ group }: CountedDocument): void {
    group.size += 1
    this.#groups.set(group.namespace, group)
  }

  #leave({ group }: CountedDocument): void {
    group.size -= 1
    if (group.size === 0) this.#groups.delete(group.namespace)
  }
}

/** @example namespaceOf('shop/orders') // 'shop' */
export const namespaceOf = (resource: string): string => resource.split('/', 1)[0] ?? ''

const keyOf = ({ version, path, method }: RowPlace): string => `${method} ${path} ${version}`

const formerKeyOf = (api: string, place: RowPlace): string => `${api} ${keyOf(place)}`

/** There is no bound on them. */
const rowsWithoutDocument = (totals: RequestTotals): RowDocument => ({
  totals,
  edition: 0,
  scrapes: { count: 0 },
  findPlace: () => undefined,
})

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
