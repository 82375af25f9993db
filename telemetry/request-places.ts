// Decides which operations and documents have series of their own, as there is a bound on both: those that are called
// first. The other operations of a document count together, and so do all documents beyond the bound.

import { OTHER, OTHER_API, type RequestLabels } from './request-counts.ts'
import { CountedRow, type RequestTotals, type RowPlace } from './request-row.ts'

export interface PlacesOptions {
  /** Operations of one document. */
  readonly maxRowsOfDocument: number
  /** Operations of all documents. */
  readonly maxRows: number
  /** Each has one row more, for the rest of its operations. */
  readonly maxDocuments: number
  readonly createTotals: () => RequestTotals
}

export class CountedDocument {
  readonly api: string
  resource: string | undefined
  readonly rows = new Map<string, CountedRow>()
  /** Counts the operations that have no series of their own. */
  readonly other: CountedRow

  constructor({ api, resource }: Pick<RequestLabels, 'api' | 'resource'>, totals: RequestTotals) {
    this.api = api
    this.resource = resource
    this.other = new CountedRow(OTHER_PLACE, totals)
  }

  get totals(): RequestTotals {
    return this.other.totals
  }

  *allRows(): Iterable<CountedRow> {
    yield* this.rows.values()
    yield this.other
  }
}

export class RequestPlaces {
  /** Counts documents that have no series of their own. */
  readonly others: CountedRow
  /** Counts requests that no document has served. */
  readonly unmatched: CountedRow
  /** Those that were called, as far as there is room. */
  readonly documents = new Map<string, CountedDocument>()
  readonly #options: PlacesOptions
  #rows = 0

  constructor(options: PlacesOptions) {
    this.#options = options
    this.others = new CountedRow(OTHER_PLACE, options.createTotals())
    this.unmatched = new CountedRow(NO_PLACE, options.createTotals())
  }

  /** @returns what counts the operation: a row of its own, the rest of its document, or that of all */
  rowFor(labels: RequestLabels): CountedRow {
    if (labels.api === '') return this.unmatched
    // Of another process, whose documents had no place.
    if (labels.api === OTHER_API) return this.others
    const document = this.documents.get(labels.api) ?? this.#addDocument(labels)
    if (document === undefined) return this.others
    return labels.path === OTHER ? document.other : this.#rowOf(document, labels)
  }

  /** The document is another version, of this resource: it counts on, without the rows that `keeps` rejects. */
  replace(
    api: string,
    resource: string | undefined,
    keeps: (labels: RequestLabels) => boolean,
  ): void {
    const document = this.documents.get(api)
    if (document === undefined) return
    document.resource = resource
    for (const [key, { place }] of document.rows)
      if (!keeps({ api, ...place })) {
        document.rows.delete(key)
        this.#rows -= 1
      }
  }

  remove(api: string): void {
    this.#rows -= this.documents.get(api)?.rows.size ?? 0
    this.documents.delete(api)
  }

  #addDocument(labels: RequestLabels): CountedDocument | undefined {
    if (this.documents.size >= this.#options.maxDocuments) return undefined
    const document = new CountedDocument(labels, this.#options.createTotals())
    this.documents.set(labels.api, document)
    return document
  }

  #rowOf(document: CountedDocument, { version, path, method }: RequestLabels): CountedRow {
    const key = `${method} ${path} ${version}`
    const known = document.rows.get(key)
    if (known !== undefined) return known
    const { maxRows, maxRowsOfDocument } = this.#options
    if (this.#rows >= maxRows || document.rows.size >= maxRowsOfDocument) return document.other
    const row = new CountedRow({ version, path, method }, document.totals)
    document.rows.set(key, row)
    this.#rows += 1
    return row
  }
}

/** @example namespaceOf('shop/orders') // 'shop' */
export const namespaceOf = (resource: string): string => resource.split('/', 1)[0] ?? ''

const OTHER_PLACE: RowPlace = { version: OTHER, path: OTHER, method: OTHER }
const NO_PLACE: RowPlace = { version: '', path: '', method: '' }
