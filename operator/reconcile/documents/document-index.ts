// Finds the documents that a change beside them may concern: by namespace, by realm, and by the Secrets and ConfigMaps that
// they refer to.

import { KeyIndex } from '../key-index.ts'
import { type ApiSpecificationResource, resourceKey } from '../../resource/resource.ts'
import type { ReadDocument } from './read-document.ts'

/** What has changed beside the documents themselves. */
export interface ChangesBeside {
  readonly namespaces: Iterable<string>
  readonly realmUris: Iterable<string>
  /** Keys of Secrets and ConfigMaps. */
  readonly references: Iterable<string>
}

interface Place {
  readonly namespace: string
  readonly realmUri: string
  readonly servedRealmUri: string
  readonly references: readonly string[]
}

export class DocumentIndex {
  readonly #places = new Map<string, Place>()
  readonly #byNamespace = new KeyIndex()
  readonly #byRealm = new KeyIndex()
  readonly #byReference = new KeyIndex()

  /** @param served the uri of the realm of its last good version, which may be another than the one that is wanted */
  put(
    key: string,
    resource: ApiSpecificationResource,
    { read, served }: { readonly read: ReadDocument; readonly served: string | undefined },
  ): void {
    this.forget(key)
    const { namespace } = resource.metadata
    const realmUri = 'document' in read ? (read.realmUri ?? '') : ''
    const servedRealmUri = served ?? realmUri
    const references = referencesOf(resource)
    this.#places.set(key, { namespace, realmUri, servedRealmUri, references })
    this.#byNamespace.add(namespace, key)
    this.#byRealm.add(realmUri, key)
    this.#byRealm.add(servedRealmUri, key)
    for (const reference of references) this.#byReference.add(reference, key)
  }

  forget(key: string): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    this.#places.delete(key)
    this.#byNamespace.remove(place.namespace, key)
    this.#byRealm.remove(place.realmUri, key)
    this.#byRealm.remove(place.servedRealmUri, key)
    for (const reference of place.references) this.#byReference.remove(reference, key)
  }

  hasNamespace(namespace: string): boolean {
    return this.#byNamespace.has(namespace)
  }

  *concernedBy({ namespaces, realmUris, references }: ChangesBeside): Iterable<string> {
    for (const namespace of namespaces) yield* this.#byNamespace.of(namespace)
    for (const uri of realmUris) yield* this.#byRealm.of(uri)
    for (const reference of references) yield* this.#byReference.of(reference)
  }
}

const referencesOf = ({
  checked,
  metadata: { namespace },
}: ApiSpecificationResource): readonly string[] => {
  if ('problems' in checked) return NONE
  const { documentFrom, variablesFrom = [] } = checked.spec
  const secrets = variablesFrom.map(({ secretRef }) =>
    resourceKey('Secret', namespace, secretRef.name),
  )
  if (documentFrom === undefined) return secrets.length === 0 ? NONE : secrets
  return [...secrets, resourceKey('ConfigMap', namespace, documentFrom.configMap.name)]
}

const NONE: readonly string[] = []
