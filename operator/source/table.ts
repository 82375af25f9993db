// Makes one cache of resources after another from what the watches list. Pure: keeps a resource whose deletion is not
// confirmed, and one whose newest version refers to objects that are not known yet. Changes of statuses are added to
// the next cache, and make none of their own.

import { isDeepStrictEqual } from 'node:util'
import { EMPTY_CACHE, type ResourceCache, type SourceNote } from '../resource/resource-source.ts'
import { keyOf, type Resource } from '../resource/resource.ts'
import { isSameValue } from '../resource/same-value.ts'
import { type ObjectReference, referencesOf } from './referenced-objects.ts'
import { isSameButVersion, hasSameContent } from './same-except-status.ts'

export interface Listing {
  /** ApiSpecifications and Realms as the watches have them, by key. */
  readonly listed: ReadonlyMap<string, Resource>
  /** Keys of resources whose deletion is confirmed. */
  readonly confirmed: ReadonlySet<string>
  /** Namespaces, and the objects that are referred to. */
  readonly others: Iterable<Resource>
  /** The answer for a reference is known. */
  readonly covers: (reference: ObjectReference) => boolean
  readonly forbidden: ReadonlyMap<string, string>
  readonly holdDeletes: string | undefined
  /** Whether deletes wait for new resources of these namespaces, which wait for the objects they refer to. */
  readonly waitsFor: (namespaces: ReadonlySet<string>) => boolean
  readonly notes: readonly SourceNote[]
}

interface Standing {
  /** As the watch had it. */
  readonly listed: Resource
  /** As the cache has it: the same object until its content, or its status, changes. */
  readonly published: Resource
}

export interface Updated {
  /** Keys of resources whose newest version waits for objects that it refers to. */
  readonly waiting: readonly string[]
  /** Resources of which only the status has changed. */
  readonly renewed: readonly Resource[]
}

export class SourceTable {
  #standing = new Map<string, Standing>()
  #others: ReadonlyMap<string, Resource> = new Map()
  readonly #references = new WeakMap<Resource, readonly ObjectReference[]>()
  #cache: ResourceCache = EMPTY_CACHE
  /** Uids, in the order of their deletion. */
  #deletedNow: ReadonlySet<string> = new Set()
  /** Some statuses are not in the cache yet. */
  #hasRenewed = false

  /** A change of statuses makes another object of the same version, when it is read. */
  get cache(): ResourceCache {
    if (this.#hasRenewed) {
      this.#hasRenewed = false
      this.#cache = { ...this.#cache, resources: this.#resources() }
    }
    return this.#cache
  }

  /** Costs the same however many resources there are. */
  get facts(): Omit<ResourceCache, 'resources'> {
    return this.#cache
  }

  /** An ApiSpecification or a Realm, as the cache has it. */
  find(key: string): Resource | undefined {
    return this.#standing.get(key)?.published
  }

  /** It was deleted, and marked for immediate deletion; the next cache says so. */
  deletedNow({ metadata: { uid } }: Resource): void {
    this.#deletedNow = new Set([...this.#deletedNow, uid].slice(-MAX_DELETED_NOW))
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

  /**
   * Takes a version of a resource that differs from the one before only in status.
   * @returns as the cache has it from now on; undefined: nothing of it is new, or it waits for a whole update
   */
  renew(resource: Resource): Resource | undefined {
    const key = keyOf(resource)
    const before = this.#standing.get(key)
    if (before === undefined || !hasSameContent(before.listed, resource)) return undefined
    const published = settle(before.published, resource)
    this.#standing.set(key, { listed: resource, published })
    if (published === before.published) return undefined
    this.#hasRenewed = true
    return published
  }

  update(listing: Listing): Updated {
    const standing = new Map<string, Standing>()
    const waiting: string[] = []
    const renewed: Resource[] = []
    for (const [key, resource] of listing.listed) {
      const before = this.#standing.get(key)?.published
      const next = this.#stand(key, resource, listing.covers)
      if (next?.listed !== resource) waiting.push(key)
      if (next === undefined) continue
      standing.set(key, next)
      if (isRenewal(before, next.published)) renewed.push(next.published)
    }
    for (const [key, before] of this.#standing) {
      if (listing.listed.has(key) || listing.confirmed.has(key)) continue
      // A deletion that was marked as immediate before does not wait for the state of the CRD.
      if (!this.#deletedNow.has(before.listed.metadata.uid)) standing.set(key, before)
    }
    const newResources = waiting.flatMap((key) =>
      standing.has(key) ? [] : (listing.listed.get(key)?.metadata.namespace ?? []),
    )
    this.#others = this.#settleOthers(listing.others)
    this.#standing = standing
    this.#publish(listing, listing.waitsFor(new Set(newResources)) ? NEW_WAITS : undefined)
    return { waiting, renewed }
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
    const resources = this.#resources()
    const before = this.#cache
    const reason = holdDeletes ?? hold
    const isSame =
      before.holdDeletes === reason &&
      sameResources(before.resources, resources) &&
      isDeepStrictEqual(before.forbidden ?? new Map(), forbidden) &&
      isDeepStrictEqual(before.notes, notes)
    // The first cache is news even when it is empty.
    const hasChanged = !isSame || before.version === 0
    this.#hasRenewed = false
    this.#cache = {
      version: before.version + (hasChanged ? 1 : 0),
      resources,
      forbidden,
      notes,
      ...(this.#deletedNow.size > 0 && { deletedNow: this.#deletedNow }),
      ...(reason !== undefined && { holdDeletes: reason }),
    }
  }

  #resources(): ReadonlyMap<string, Resource> {
    const resources = new Map<string, Resource>(this.#others)
    for (const [key, { published }] of this.#standing) resources.set(key, published)
    return resources
  }
}

const isRenewal = (before: Resource | undefined, now: Resource): boolean =>
  before !== undefined && before !== now && hasSameContent(before, now)

/** Each is checked once, as soon as it is missing. */
const MAX_DELETED_NOW = 1_000

const NEW_WAITS = 'a new resource refers to objects that have not been read yet'

/** The object of before, or its checked part, where it is the same. */
const settle = (before: Resource | undefined, next: Resource): Resource => {
  if (before === undefined || before === next) return next
  if (isSameButVersion(before, next)) return before
  if (!('checked' in before && 'checked' in next) || before.kind !== next.kind) return next
  return isSameValue(before.checked, next.checked)
    ? ({ ...next, checked: before.checked } as Resource)
    : next
}

const sameResources = (
  before: ReadonlyMap<string, Resource>,
  after: ReadonlyMap<string, Resource>,
): boolean => {
  if (before.size !== after.size) return false
  for (const [key, resource] of after) {
    const known = before.get(key)
    if (known === undefined || !hasSameContent(known, resource)) return false
  }
  return true
}
