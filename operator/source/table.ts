// What the watches hold, again and again, in; one cache of resources after another out. Pure: keeps a resource
// whose departure is not believed, and one whose newest version refers to what nobody knows yet. What operators wrote
// into statuses comes along with the next cache, and makes none.

import { isDeepStrictEqual } from 'node:util'
import { EMPTY_CACHE, type ResourceCache, type SourceNote } from '../resource/resource-source.ts'
import { keyOf, type Resource } from '../resource/resource.ts'
import { isSameValue } from '../resource/same-value.ts'
import { type ObjectReference, referencesOf } from './referenced-objects.ts'
import { isSameButVersion, saysSame } from './same-except-status.ts'

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
  /** Whether deletes wait for new resources of these namespaces, which wait for what they refer to. */
  readonly waitsFor: (namespaces: ReadonlySet<string>) => boolean
  readonly notes: readonly SourceNote[]
}

interface Standing {
  /** As the watch had it. */
  readonly listed: Resource
  /** As the cache has it: the same object until it, or its status, says something else. */
  readonly published: Resource
}

export interface Updated {
  /** Keys of resources whose newest version waits for what it refers to. */
  readonly waiting: readonly string[]
  /** Resources that say what they said before, and whose status says something else. */
  readonly renewed: readonly Resource[]
}

export class SourceTable {
  #standing = new Map<string, Standing>()
  #others: ReadonlyMap<string, Resource> = new Map()
  readonly #references = new WeakMap<Resource, readonly ObjectReference[]>()
  #cache: ResourceCache = EMPTY_CACHE
  /** Uids, in the order of their end. */
  #deletedNow: ReadonlySet<string> = new Set()
  /** Statuses that the cache has not yet. */
  #hasRenewed = false

  /** What operators wrote into statuses makes another object of the same version; it is made when it is asked for. */
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

  /** It is gone, and was to be gone at once; the next cache says so. */
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
   * One resource in a version that says what the one before said.
   * @returns as the cache has it from now on; undefined: nothing of it is new, or it waits for a whole update
   */
  renew(resource: Resource): Resource | undefined {
    const key = keyOf(resource)
    const before = this.#standing.get(key)
    if (before === undefined || !saysSame(before.listed, resource)) return undefined
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
      if (listing.listed.has(key) || listing.believed.has(key)) continue
      // Whoever said beforehand that it is to be gone at once does not wait for what a CRD says.
      if (!this.#deletedNow.has(before.listed.metadata.uid)) standing.set(key, before)
    }
    const newcomers = waiting.flatMap((key) =>
      standing.has(key) ? [] : (listing.listed.get(key)?.metadata.namespace ?? []),
    )
    this.#others = this.#settleOthers(listing.others)
    this.#standing = standing
    this.#publish(listing, listing.waitsFor(new Set(newcomers)) ? NEW_WAITS : undefined)
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
    // The first cache is news also when it is empty.
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
  before !== undefined && before !== now && saysSame(before, now)

/** Each is asked for once, as soon as it is missed. */
const MAX_DELETED_NOW = 1_000

const NEW_WAITS = 'a new resource refers to what is not known yet: in a moment it will be'

/** The object of before, or the part of it that was checked, where it says the same. */
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
    if (known === undefined || !saysSame(known, resource)) return false
  }
  return true
}
