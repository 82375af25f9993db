// Makes one cache of resources after another from what the watches list, at the cost of what has changed. Keeps a
// resource whose deletion is not confirmed, and one whose newest version refers to objects that are not known yet;
// changes of statuses are added to the next cache, and make none of their own.

import { isDeepStrictEqual } from 'node:util'
import { changedKeys, edited } from '../edited-map.ts'
import { EMPTY_CACHE, type ResourceCache, type SourceNote } from '../resource/resource-source.ts'
import { keyOf, type Resource } from '../resource/resource.ts'
import { isSameValue } from '../resource/same-value.ts'
import { type ObjectReference, referencesOf, type WantedObject } from './referenced-objects.ts'
import { isSameButVersion, hasSameContent } from './same-except-status.ts'
import { WantedReferences } from './wanted-references.ts'
import type { Change } from './change.ts'

export interface Listing {
  /** Keys of resources whose deletion is confirmed. */
  readonly confirmed: ReadonlySet<string>
  /** Namespaces, and the objects that are referred to, as far as they are other ones than at the last update. */
  readonly others: Iterable<Change<Resource>>
  /** What a reference refers to is known. */
  readonly covers: (reference: ObjectReference) => boolean
  /** The same map while it says the same. */
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

type Resources = ReadonlyMap<string, Resource>

export class SourceTable {
  /** ApiSpecifications and Realms as the watches have them, by key. */
  #listed: Resources = new Map()
  readonly #standing = new Map<string, Standing>()
  /** Keys of resources that are listed in another version than the cache has. */
  readonly #pending = new Set<string>()
  /** Keys of resources that the cache has and the watches have not. */
  readonly #missing = new Set<string>()
  readonly #references = new WeakMap<Resource, readonly ObjectReference[]>()
  readonly #wanted = new WantedReferences()
  #cache: ResourceCache = EMPTY_CACHE
  /** What `#cache` does not have yet. */
  #edits = new Map<string, Resource | undefined>()
  /** Uids, in the order of their deletion. */
  #deletedNow: ReadonlySet<string> = new Set()

  /** A change of statuses makes another object of the same version, when it is read. */
  get cache(): ResourceCache {
    if (this.#edits.size > 0) this.#cache = { ...this.#cache, resources: this.#takeEdits() }
    return this.#cache
  }

  /** Costs the same however many resources there are. */
  get facts(): Omit<ResourceCache, 'resources'> {
    return this.#cache
  }

  /** It was deleted, and marked for immediate deletion; the next cache says so. */
  deletedNow({ metadata: { uid } }: Resource): void {
    this.#deletedNow = new Set([...this.#deletedNow, uid].slice(-MAX_DELETED_NOW))
  }

  /** Takes what the watches have now, for the next update. */
  list(listed: Resources): void {
    const before = this.#listed
    this.#listed = listed
    for (const key of changedKeys(before, listed)) {
      const resource = listed.get(key)
      this.#replaceReferences(before.get(key), resource)
      if (resource === undefined) this.#pending.delete(key)
      else this.#pending.add(key)
      if (resource === undefined && this.#standing.has(key)) this.#missing.add(key)
      else this.#missing.delete(key)
    }
  }

  /** Keys of ApiSpecifications and Realms that the cache has and the watches have not. */
  get missing(): readonly string[] {
    return [...this.#missing]
  }

  /** References of resources that are listed in another generation than the cache has. */
  *changedReferences(): Iterable<readonly ObjectReference[]> {
    for (const key of this.#pending) {
      const [known, resource] = [this.#standing.get(key)?.published, this.#listed.get(key)]
      const hasChanged = known?.metadata.generation !== resource?.metadata.generation
      if (known !== undefined && resource !== undefined && hasChanged)
        yield this.#referencesOf(resource)
    }
  }

  /** What the resources refer to, those of the cache and the newest ones. The same map while it is the same. */
  get wantedObjects(): ReadonlyMap<string, WantedObject> {
    return this.#wanted.wanted
  }

  /**
   * Takes a version of a resource that differs from the one before only in status.
   * @returns the resource as it is in the cache from now on; undefined: nothing has changed, or it waits for the next update
   */
  renew(resource: Resource): Resource | undefined {
    const key = keyOf(resource)
    const before = this.#standing.get(key)
    if (before === undefined || !hasSameContent(before.listed, resource)) return undefined
    const published = settle(before.published, resource)
    this.#stand(key, { listed: resource, published })
    return published === before.published ? undefined : published
  }

  update(listing: Listing): Updated {
    const renewed: Resource[] = []
    for (const key of this.#pending) {
      const resource = this.#listed.get(key)
      if (resource === undefined || !this.#isCovered(key, resource, listing.covers)) continue
      this.#pending.delete(key)
      const before = this.#standing.get(key)?.published
      const published = settle(before, resource)
      this.#stand(key, { listed: resource, published })
      if (isRenewal(before, published)) renewed.push(published)
    }
    this.#removeMissing(listing.confirmed)
    for (const { before, after } of listing.others) this.#takeOther(before, after)
    const waiting = [...this.#pending]
    const newResources = waiting.flatMap((key) =>
      this.#standing.has(key) ? [] : (this.#listed.get(key)?.metadata.namespace ?? []),
    )
    this.#publish(listing, listing.waitsFor(new Set(newResources)) ? NEW_WAITS : undefined)
    return { waiting, renewed }
  }

  #isCovered(key: string, resource: Resource, covers: Listing['covers']): boolean {
    if (this.#standing.get(key)?.listed === resource) return true
    return this.#referencesOf(resource).every(covers)
  }

  #stand(key: string, next: Standing): void {
    const before = this.#standing.get(key)
    this.#standing.set(key, next)
    if (before?.published === next.published) return
    this.#edits.set(key, next.published)
    this.#replaceReferences(before?.published, next.published)
  }

  #removeMissing(confirmed: Listing['confirmed']): void {
    for (const key of this.#missing) {
      const before = this.#standing.get(key)
      // A deletion that was marked as immediate before does not wait for the state of the CRD.
      const isGone = confirmed.has(key) || this.#deletedNow.has(before?.listed.metadata.uid ?? '')
      if (!isGone) continue
      this.#missing.delete(key)
      this.#standing.delete(key)
      this.#edits.set(key, undefined)
      this.#replaceReferences(before?.published, undefined)
    }
  }

  #takeOther(before: Resource | undefined, after: Resource | undefined): void {
    const some = after ?? before
    if (some === undefined) return
    const key = keyOf(some)
    const known = this.#edits.has(key) ? this.#edits.get(key) : this.#cache.resources.get(key)
    const next = after && settle(known, after)
    if (next !== known) this.#edits.set(key, next)
  }

  #replaceReferences(before: Resource | undefined, after: Resource | undefined): void {
    // Added first: what both refer to stays wanted.
    if (after !== undefined) this.#wanted.add(this.#referencesOf(after))
    if (before !== undefined) this.#wanted.remove(this.#referencesOf(before))
  }

  #referencesOf(resource: Resource): readonly ObjectReference[] {
    const known = this.#references.get(resource)
    if (known !== undefined) return known
    const references = referencesOf(resource)
    this.#references.set(resource, references.length === 0 ? NO_REFERENCES : references)
    return references
  }

  #publish({ forbidden, holdDeletes, notes }: Listing, hold: string | undefined): void {
    const before = this.#cache
    const reason = holdDeletes ?? hold
    const isSame =
      before.holdDeletes === reason &&
      !this.#hasNews() &&
      (before.forbidden === forbidden ||
        isDeepStrictEqual(before.forbidden ?? new Map(), forbidden)) &&
      isDeepStrictEqual(before.notes, notes)
    // The first cache counts as a change even if it is empty.
    const hasChanged = !isSame || before.version === 0
    this.#cache = {
      version: before.version + (hasChanged ? 1 : 0),
      resources: this.#takeEdits(),
      forbidden,
      notes,
      ...(this.#deletedNow.size > 0 && { deletedNow: this.#deletedNow }),
      ...(reason !== undefined && { holdDeletes: reason }),
    }
  }

  /** Whether an edit is more than a change of a status. */
  #hasNews(): boolean {
    for (const [key, after] of this.#edits) {
      const before = this.#cache.resources.get(key)
      if (before === undefined && after === undefined) continue
      if (before === undefined || after === undefined || !hasSameContent(before, after)) return true
    }
    return false
  }

  #takeEdits(): Resources {
    const resources = edited(this.#cache.resources, this.#edits)
    this.#edits = new Map()
    return resources
  }
}

const NO_REFERENCES: readonly ObjectReference[] = []

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
