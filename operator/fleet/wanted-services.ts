// Finds the Services that constant hosts of documents name, as documents change. A Service beyond the bounds, or outside the
// namespaces that the operator serves, is not watched: it is reached by its own address.

import { readServiceKey } from '../../language/service-name.ts'
import type { DataPlane } from '../data-plane.ts'
import type { DesiredDocument } from '../desired-set.ts'
import { changedKeys } from '../edited-map.ts'
import type { Selection } from './sync/selection.ts'

export interface ServiceScope {
  readonly clusterDomain: string
  /** The namespaces that the operator may watch. */
  readonly namespaces: readonly string[] | 'all'
}

/** Each needs two watches. */
const MOST_OF_NAMESPACE = 200
const MOST_IN_ALL = 2000

type Documents = ReadonlyMap<string, DesiredDocument>

/** The Services of successive selections. */
interface Selected {
  documents: Documents
  /** Service → how many of the documents name it. */
  readonly counts: Map<string, number>
  services: ReadonlySet<string> | undefined
}

export class WantedServices {
  readonly #scope: ServiceScope
  /** The Services that a document names. */
  readonly #known = new WeakMap<DesiredDocument, readonly string[]>()
  #documents: Documents = new Map()
  /** Namespace of documents and service, with a tab between them → how many of the documents name it. */
  readonly #counts = new Map<string, number>()
  #wanted: ReadonlySet<string> = new Set()
  #selected = new WeakMap<object, Selected>()

  constructor(scope: ServiceScope) {
    this.#scope = scope
  }

  /**
   * The Services of all documents, at a cost in proportion to what has changed. Beyond the bounds, Services that were wanted
   * before stay.
   * @returns `namespace/name`; the same set while nothing changes
   */
  update(documents: Documents): ReadonlySet<string> {
    let isOther = false
    for (const { namespace, key, by } of this.#changes(this.#documents, documents)) {
      const place = `${namespace}\t${key}`
      if (count(this.#counts, place, by)) isOther = true
    }
    this.#documents = documents
    if (isOther) {
      this.#wanted = this.#choose()
      this.#selected = new WeakMap()
    }
    return this.#wanted
  }

  /**
   * The Services of the data plane's documents; for a sidecar only those of its own namespace. Computed once for all data
   * planes with the same selection.
   * @param selection of the data plane, which no data plane of another namespace shares
   */
  for(
    { namespace }: Pick<DataPlane, 'namespace'>,
    { documents, line }: Pick<Selection, 'documents' | 'line'>,
  ): ReadonlySet<string> {
    const known = this.#selected.get(line) ?? { documents: new Map(), counts: new Map() }
    const selected: Selected = { services: undefined, ...known }
    if (selected.documents !== documents) {
      for (const { key, by } of this.#changes(selected.documents, documents))
        if (count(selected.counts, key, by)) selected.services = undefined
    }
    const isOurs = (key: string): boolean =>
      this.#wanted.has(key) && (namespace === undefined || namespaceOf(key) === namespace)
    const services = selected.services ?? new Set([...selected.counts.keys()].filter(isOurs))
    this.#selected.set(line, { ...selected, documents, services })
    return services
  }

  /** Services that were wanted before take precedence. */
  #choose(): ReadonlySet<string> {
    const counts = new Map<string, number>()
    const wanted = new Set<string>()
    const places = Array.from(this.#counts.keys(), (place) => {
      const [namespace = '', key = ''] = place.split('\t')
      return { namespace, key, isKnown: this.#wanted.has(key) }
    })
    for (const isKnown of [true, false]) {
      for (const { namespace, key } of places.filter((each) => each.isKnown === isKnown)) {
        const number = counts.get(namespace) ?? 0
        if (wanted.has(key) || wanted.size >= MOST_IN_ALL || number >= MOST_OF_NAMESPACE) continue
        counts.set(namespace, number + 1)
        wanted.add(key)
      }
    }
    return wanted
  }

  *#changes(
    before: Documents,
    after: Documents,
  ): Iterable<{ readonly namespace: string; readonly key: string; readonly by: 1 | -1 }> {
    for (const id of changedKeys(before, after)) {
      for (const [document, by] of [
        [after.get(id), 1],
        [before.get(id), -1],
      ] as const) {
        if (document === undefined) continue
        const { namespace } = document
        for (const key of this.#namedBy(document)) yield { namespace, key, by }
      }
    }
  }

  #namedBy(document: DesiredDocument): readonly string[] {
    const known = this.#known.get(document)
    if (known !== undefined) return known
    const named = servicesNamedBy(document, this.#scope)
    this.#known.set(document, named)
    return named
  }
}

/**
 * A document that is confined to its namespace reaches no Service of another.
 * @internal for tests
 */
export const servicesNamedBy = (
  { forwardHosts = [], confinedTo }: DesiredDocument,
  { clusterDomain, namespaces }: ServiceScope,
): readonly string[] => {
  const keys = new Set<string>()
  for (const host of forwardHosts) {
    const key = readServiceKey(host, clusterDomain)
    if (key === undefined) continue
    const namespace = namespaceOf(key)
    const isOurs = namespaces === 'all' || namespaces.includes(namespace)
    if (isOurs && (confinedTo === undefined || confinedTo === namespace)) keys.add(key)
  }
  return [...keys]
}

/** @returns whether the key was added or removed */
const count = (counts: Map<string, number>, key: string, by: 1 | -1): boolean => {
  const before = counts.get(key) ?? 0
  if (before + by === 0) counts.delete(key)
  else counts.set(key, before + by)
  return before === 0 || before + by === 0
}

const namespaceOf = (key: string): string => key.split('/', 1)[0] ?? ''
