// Adds recently deleted Realms to the caches of a source: their last good versions go on serving for a while, so that a
// Realm that was deleted by mistake can be created again without an outage.

import type { Clock } from '../../base/clock.ts'
import { changedKeys } from '../edited-map.ts'
import type { DeletedRealm, ResourceCache, ResourceSource } from '../resource/resource-source.ts'
import { isToBeDeletedNow, type RealmResource } from '../resource/resource.ts'

interface DeletedRealmOptions {
  readonly clock: Clock
  /** How long a deleted Realm serves; 0: it is revoked. */
  readonly servedMs: number
}

/** Longer than a guard of deletes may delay the removal from data planes. */
const REVOKED_MS = 10 * 60_000
/** Bounds the memory of a tenant who creates and deletes Realms all day: beyond it the oldest one ends at once. */
const MAX_OF_NAMESPACE = 500
/** Larger than the quota of a namespace. */
const MAX_REVOKED_OF_NAMESPACE = 1000

interface Deletion extends DeletedRealm {
  readonly untilMs: number
}

/**
 * Resources that a source does not trust to be gone (a deleted CRD, a watch that fails) stay in its caches, and do not
 * count as deleted.
 * @example new SourceWithDeletedRealms(source, { clock: SYSTEM_CLOCK, servedMs: 60_000 })
 */
export class SourceWithDeletedRealms implements ResourceSource {
  readonly #source: ResourceSource
  readonly #options: DeletedRealmOptions
  #onChange: () => void = () => undefined
  #resources: ResourceCache['resources'] = new Map()
  /** Deletions by key of the resource, in their order. */
  readonly #deletions = new Map<string, Deletion>()
  /** A copy for caches; the same map while nothing changes. */
  #published: ReadonlyMap<string, DeletedRealm> = new Map()
  /** Grows when deletions end. */
  #revision = 0
  #made: { readonly of: ResourceCache; readonly cache: ResourceCache } | undefined
  #cancelEnd: (() => void) | undefined

  constructor(source: ResourceSource, options: DeletedRealmOptions) {
    this.#source = source
    this.#options = options
  }

  start(...[onChange, onRenewed]: Parameters<ResourceSource['start']>): Promise<void> {
    this.#onChange = onChange
    return this.#source.start(onChange, onRenewed)
  }

  synced(): boolean {
    return this.#source.synced()
  }

  current(): ResourceCache {
    const of = this.#source.current()
    if (this.#made?.of === of) return this.#made.cache
    this.#compare(of)
    return this.#make(of)
  }

  confirm(): Promise<boolean> {
    return this.#source.confirm()
  }

  stop(): Promise<void> {
    this.#cancelEnd?.()
    return this.#source.stop()
  }

  #make(of: ResourceCache): ResourceCache {
    const cache = {
      ...of,
      version: of.version + this.#revision,
      ...(this.#published.size > 0 && { deletedRealms: this.#published }),
    }
    this.#made = { of, cache }
    return cache
  }

  #compare(cache: ResourceCache): void {
    const namespaces = new Set<string>()
    for (const key of changedKeys(this.#resources, cache.resources)) {
      const [before, now] = [this.#resources.get(key), cache.resources.get(key)]
      if (before?.kind !== 'Realm') continue
      if (!isGone(before, now?.kind === 'Realm' ? now : undefined)) continue
      this.#add(key, before, cache)
      namespaces.add(before.metadata.namespace)
    }
    this.#resources = cache.resources
    if (namespaces.size === 0) return
    this.#dropOldest(namespaces)
    this.#awaitEnd()
  }

  #add(key: string, resource: RealmResource, { deletedNow }: ResourceCache): void {
    const { clock, servedMs } = this.#options
    const isRevoked =
      servedMs === 0 ||
      isToBeDeletedNow(resource) ||
      deletedNow?.has(resource.metadata.uid) === true
    const known = this.#deletions.get(key)
    // A Realm that is given another class is deleted twice: then, and when its status says that it was released.
    if (known?.resource.metadata.uid === resource.metadata.uid && !isRevoked) return
    const untilMs = clock.now() + (isRevoked ? REVOKED_MS : servedMs)
    this.#deletions.delete(key)
    this.#deletions.set(key, { resource, isRevoked, untilMs })
  }

  #dropOldest(namespaces: ReadonlySet<string>): void {
    const all = [...this.#deletions].filter(([, { resource }]) =>
      namespaces.has(resource.metadata.namespace),
    )
    for (const own of Map.groupBy(
      all,
      ([, { resource }]) => resource.metadata.namespace,
    ).values()) {
      // Revoked Realms serve no more and hold no secrets, but must be remembered until every gateway has removed them.
      const revoked = own.filter(([, { isRevoked }]) => isRevoked)
      const serving = own.filter(([, { isRevoked }]) => !isRevoked)
      for (const [key] of revoked.slice(0, -MAX_REVOKED_OF_NAMESPACE)) this.#deletions.delete(key)
      for (const [key] of serving.slice(0, -MAX_OF_NAMESPACE)) this.#deletions.delete(key)
    }
  }

  /** Call it after every change of the deletions. */
  #awaitEnd(): void {
    this.#published = new Map(this.#deletions)
    this.#cancelEnd?.()
    this.#cancelEnd = undefined
    if (this.#deletions.size === 0) return
    const { clock } = this.#options
    let nextMs = Infinity
    for (const { untilMs } of this.#deletions.values()) nextMs = Math.min(nextMs, untilMs)
    this.#cancelEnd = clock.after(Math.max(0, nextMs - clock.now()), () => {
      this.#setBack(nextMs - clock.now())
      this.#end(clock.now())
    })
  }

  /** Moves the ends if the clock was set back while the timer ran, so that Realms do not serve longer. */
  #setBack(backMs: number): void {
    if (backMs <= 0) return
    for (const [key, deletion] of this.#deletions)
      this.#deletions.set(key, { ...deletion, untilMs: deletion.untilMs - backMs })
  }

  #end(nowMs: number): void {
    for (const [key, { untilMs }] of this.#deletions)
      if (untilMs <= nowMs) this.#deletions.delete(key)
    this.#revision += 1
    this.#made = undefined
    this.#awaitEnd()
    this.#onChange()
  }
}

/** Whether it was deleted, recreated or given another class; the last stays in the caches until its status says so. */
const isGone = (before: RealmResource, now: RealmResource | undefined): boolean =>
  now?.metadata.uid !== before.metadata.uid || now.className !== before.className
