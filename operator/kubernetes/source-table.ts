// What the watches hold, again and again, in; one cache of resources after another out. Pure: keeps a resource
// whose departure is not believed, and one whose newest version refers to what nobody knows yet.

import { isDeepStrictEqual } from 'node:util'
import { EMPTY_CACHE, type ResourceCache, type SourceNote } from '../resource/resource-source.ts'
import { keyOf, type Resource } from '../resource/resource.ts'
import { isSameValue } from '../resource/same-value.ts'
import { type ObjectReference, referencesOf } from './referenced-objects.ts'

export interface Listing {
  /** ApiSpecifications and Realms as they stand there, by key. */
  readonly listed: ReadonlyMap<string, Resource>
  /** Keys of resources that are gone, and nobody doubts it. */
  readonly believed: ReadonlySet<string>
  /** Namespaces, and what is referred to. */
  readonly others: Iterable<Resource>
  /** What there is to say of a reference is known. */
  readonly covers: (reference: ObjectReference) => boolean
  readonly forbidden: ReadonlyMap<string, string>
  readonly holdDeletes: string | undefined
  readonly notes: readonly SourceNote[]
}

interface Standing {
  /** As the watch had it. */
  readonly listed: Resource
  /** As the cache has it: the same object until it says something else. */
  readonly published: Resource
}

export class SourceTable {
  #standing: ReadonlyMap<string, Standing> = new Map()
  #others: ReadonlyMap<string, Resource> = new Map()
  readonly #references = new WeakMap<Resource, readonly ObjectReference[]>()
  #cache: ResourceCache = EMPTY_CACHE

  get cache(): ResourceCache {
    return this.#cache
  }

  /** Keys of ApiSpecifications and Realms that the cache has and the watches have not. */
  missing(listed: ReadonlyMap<string, Resource>): readonly string[] {
    return [...this.#standing.keys()].filter((key) => !listed.has(key))
  }

  /** What the resources refer to, those of the cache and the newest ones. */
  *references(listed: ReadonlyMap<string, Resource>): Iterable<ObjectReference> {
    for (const resource of listed.values()) yield* this.referencesOf(resource)
    for (const { published } of this.#standing.values()) yield* this.referencesOf(published)
  }

  referencesOf(resource: Resource): readonly ObjectReference[] {
    const known = this.#references.get(resource)
    if (known !== undefined) return known
    const references = referencesOf(resource)
    this.#references.set(resource, references)
    return references
  }

  /** @returns keys of resources whose newest version waits for what it refers to */
  update(listing: Listing): readonly string[] {
    const standing = new Map<string, Standing>()
    const waiting: string[] = []
    for (const [key, resource] of listing.listed) {
      const next = this.#stand(key, resource, listing.covers)
      if (next?.listed !== resource) waiting.push(key)
      if (next !== undefined) standing.set(key, next)
    }
    for (const [key, before] of this.#standing) {
      if (!listing.listed.has(key) && !listing.believed.has(key)) standing.set(key, before)
    }
    const isNewHere = (key: string): boolean => !standing.has(key)
    this.#others = this.#settleOthers(listing.others)
    this.#standing = standing
    this.#publish(listing, waiting.some(isNewHere) ? NEW_WAITS : undefined)
    return waiting
  }

  #stand(key: string, resource: Resource, covers: Listing['covers']): Standing | undefined {
    const before = this.#standing.get(key)
    if (before?.listed === resource) return before
    if (!this.referencesOf(resource).every(covers)) return before
    return { listed: resource, published: settle(before?.published, resource) }
  }

  #settleOthers(others: Iterable<Resource>): ReadonlyMap<string, Resource> {
    const next = new Map<string, Resource>()
    for (const resource of others) {
      const key = keyOf(resource)
      next.set(key, settle(this.#others.get(key), resource))
    }
    return next
  }

  #publish({ forbidden, holdDeletes, notes }: Listing, hold: string | undefined): void {
    const resources = new Map<string, Resource>(this.#others)
    for (const [key, { published }] of this.#standing) resources.set(key, published)
    const before = this.#cache
    const reason = holdDeletes ?? hold
    const isSame =
      before.holdDeletes === reason &&
      sameResources(before.resources, resources) &&
      isDeepStrictEqual(before.forbidden ?? new Map(), forbidden) &&
      isDeepStrictEqual(before.notes, notes)
    // The first cache is news also when it is empty.
    if (isSame && before.version > 0) return
    this.#cache = {
      version: before.version + 1,
      resources,
      forbidden,
      notes,
      ...(reason !== undefined && { holdDeletes: reason }),
    }
  }
}

const NEW_WAITS = 'a new resource refers to what is not known yet: in a moment it will be'

/** The object of before, or the part of it that was checked, where it says the same. */
const settle = (before: Resource | undefined, next: Resource): Resource => {
  if (before === undefined || before === next) return next
  if (isSameValue(wordsOf(before), wordsOf(next))) return before
  if (!('checked' in before && 'checked' in next) || before.kind !== next.kind) return next
  return isSameValue(before.checked, next.checked)
    ? ({ ...next, checked: before.checked } as Resource)
    : next
}

/**
 * What a resource says: its version changes with every word of others into its status. Of a Secret it is part of
 * what is said, as it stands for the values in digests.
 */
const wordsOf = (resource: Resource): unknown =>
  resource.kind === 'Secret'
    ? resource
    : { ...resource, metadata: { ...resource.metadata, resourceVersion: '' } }

const sameResources = (
  left: ReadonlyMap<string, Resource>,
  right: ReadonlyMap<string, Resource>,
): boolean =>
  left.size === right.size && [...left].every(([key, entry]) => right.get(key) === entry)
