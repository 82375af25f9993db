// Sorts the resources of each cache by their role in the reconciliation, and finds what differs from the previous cache, at
// a cost in proportion to what has changed.

import { changedKeys, edited } from '../edited-map.ts'
import { EMPTY_CACHE, type ResourceCache } from '../resource/resource-source.ts'
import {
  type ApiSpecificationResource,
  isOfClass,
  type RealmResource,
  type Resource,
  resourceKey,
} from '../resource/resource.ts'

/** What differs from the previous cache. */
export interface CacheChanges {
  /** Keys of ApiSpecifications of our class, now or before. */
  readonly documents: ReadonlySet<string>
  /** Keys of resources that are leaving our class, or were. */
  readonly leaving: ReadonlySet<string>
  /** Names. */
  readonly namespaces: ReadonlySet<string>
  /** Keys of Secrets and ConfigMaps. */
  readonly references: ReadonlySet<string>
  /** Something that Realms may depend on has changed. */
  readonly isNewToRealms: boolean
}

export class CacheReader {
  readonly #className: string
  #cache: ResourceCache = EMPTY_CACHE
  #specifications: ReadonlyMap<string, ApiSpecificationResource> = new Map()
  #realms: ReadonlyMap<string, RealmResource> = new Map()
  #leaving: ReadonlyMap<string, ApiSpecificationResource | RealmResource> = new Map()
  #namespaces: ReadonlySet<string> = new Set()

  /** @param className resources of another class are ignored */
  constructor(className: string) {
    this.#className = className
  }

  get cache(): ResourceCache {
    return this.#cache
  }

  /** The resources by key. */
  get specifications(): ReadonlyMap<string, ApiSpecificationResource> {
    return this.#specifications
  }

  /** The resources by key. */
  get realms(): ReadonlyMap<string, RealmResource> {
    return this.#realms
  }

  /** Resources that have left our class while their status is still one that an operator has written. */
  get leaving(): ReadonlyMap<string, ApiSpecificationResource | RealmResource> {
    return this.#leaving
  }

  /** Names of all namespaces; the same set while they are the same. */
  get namespaces(): ReadonlySet<string> {
    return this.#namespaces
  }

  read(cache: ResourceCache): CacheChanges {
    const before = this.#cache
    this.#cache = cache
    const edits = new EditsByKind()
    for (const key of changedKeys(before.resources, cache.resources)) {
      const resource = cache.resources.get(key)
      for (const each of [before.resources.get(key), resource]) if (each) edits.note(key, each)
      if (resource !== undefined) this.#sort(key, resource, edits)
    }
    for (const key of changedKeys(before.forbidden ?? NONE, cache.forbidden ?? NONE))
      edits.references.add(key)
    this.#specifications = edited(this.#specifications, edits.specifications)
    this.#realms = edited(this.#realms, edits.realms)
    this.#leaving = edited(this.#leaving, edits.leaving)
    this.#followNamespaces(edits.namespaces)
    const { specifications, leaving, namespaces, references } = edits
    return {
      documents: new Set(specifications.keys()),
      leaving: new Set(leaving.keys()),
      namespaces,
      references,
      isNewToRealms:
        edits.realms.size + namespaces.size + references.size > 0 ||
        before.deletedRealms !== cache.deletedRealms ||
        before.realmKeys !== cache.realmKeys,
    }
  }

  #sort(key: string, resource: Resource, edits: EditsByKind): void {
    if (resource.kind !== 'Realm' && resource.kind !== 'ApiSpecification') return
    if (!isOfClass(resource, this.#className)) {
      if (resource.writtenBy !== undefined) edits.leaving.set(key, resource)
    } else if (resource.kind === 'Realm') edits.realms.set(key, resource)
    else edits.specifications.set(key, resource)
  }

  #followNamespaces(changed: ReadonlySet<string>): void {
    const isThere = (name: string): boolean =>
      this.#cache.resources.has(resourceKey('Namespace', '', name))
    if ([...changed].every((name) => isThere(name) === this.#namespaces.has(name))) return
    const names = new Set(this.#namespaces)
    for (const name of changed) {
      if (isThere(name)) names.add(name)
      else names.delete(name)
    }
    this.#namespaces = names
  }
}

const NONE: ReadonlyMap<string, string> = new Map()

class EditsByKind {
  readonly specifications = new Map<string, ApiSpecificationResource | undefined>()
  readonly realms = new Map<string, RealmResource | undefined>()
  readonly leaving = new Map<string, ApiSpecificationResource | RealmResource | undefined>()
  readonly namespaces = new Set<string>()
  readonly references = new Set<string>()

  /** Call it with a resource that was added, changed or removed, before and after. */
  note(key: string, { kind, metadata }: Resource): void {
    switch (kind) {
      case 'ApiSpecification':
        this.specifications.set(key, undefined)
        this.leaving.set(key, undefined)
        break
      case 'Realm':
        this.realms.set(key, undefined)
        this.leaving.set(key, undefined)
        break
      case 'Namespace':
        this.namespaces.add(metadata.name)
        break
      case 'Secret':
      case 'ConfigMap':
        this.references.add(key)
    }
  }
}
