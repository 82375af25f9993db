// Finds the Services that literal hosts of documents name. Pure. A Service that may not be watched, because of a bound
// or of the namespaces that the operator serves, is reached by its own address.

import { readServiceKey } from '../../language/service-name.ts'
import type { DataPlane } from '../data-plane.ts'
import type { DesiredDocument } from '../desired-set.ts'

export interface ServiceScope {
  readonly clusterDomain: string
  /** In which the operator may look. */
  readonly namespaces: readonly string[] | 'all'
}

/** Two watches each. */
const MOST_OF_NAMESPACE = 200
const MOST_IN_ALL = 2000

export class WantedServices {
  readonly #scope: ServiceScope
  /** Goes with the document. */
  readonly #known = new WeakMap<DesiredDocument, readonly string[]>()
  #wanted: ReadonlySet<string> = new Set()
  #selected = new WeakMap<ReadonlyMap<string, DesiredDocument>, ReadonlySet<string>>()

  constructor(scope: ServiceScope) {
    this.#scope = scope
  }

  /**
   * Of all documents. Of more than there may be those stay that were wanted before.
   * @returns `namespace/name`
   */
  update(documents: Iterable<DesiredDocument>): ReadonlySet<string> {
    const before = this.#wanted
    const counts = new Map<string, number>()
    const wanted = new Set<string>()
    const postponed: (readonly [namespace: string, key: string])[] = []
    const add = (namespace: string, key: string): void => {
      const count = counts.get(namespace) ?? 0
      if (wanted.has(key) || wanted.size >= MOST_IN_ALL || count >= MOST_OF_NAMESPACE) return
      counts.set(namespace, count + 1)
      wanted.add(key)
    }
    for (const document of documents)
      for (const key of this.#namedBy(document))
        if (before.has(key)) add(document.namespace, key)
        else postponed.push([document.namespace, key])
    for (const [namespace, key] of postponed) add(namespace, key)
    this.#wanted = wanted
    this.#selected = new WeakMap()
    return wanted
  }

  /**
   * Those of its documents; a sidecar hears of Services of its own namespace alone. Looked for once for all data planes that
   * are alike.
   * @param documents of its selection, which no data plane of another namespace shares
   */
  for(
    { namespace }: Pick<DataPlane, 'namespace'>,
    documents: ReadonlyMap<string, DesiredDocument>,
  ): ReadonlySet<string> {
    const known = this.#selected.get(documents)
    if (known !== undefined) return known
    const services = new Set<string>()
    this.#selected.set(documents, services)
    for (const document of documents.values())
      for (const key of this.#namedBy(document))
        if (this.#wanted.has(key) && (namespace === undefined || namespaceOf(key) === namespace))
          services.add(key)
    return services
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

const namespaceOf = (key: string): string => key.split('/', 1)[0] ?? ''
