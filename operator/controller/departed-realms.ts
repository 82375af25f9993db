// Adds to the caches of a source the Realms that were deleted a moment ago: their last good versions serve for a while, so
// that a Realm deleted by mistake can be created again before anybody notices.

import type { Clock } from '../../base/clock.ts'
import { changedKeys } from '../edited-map.ts'
import type { DepartedRealm, ResourceCache, ResourceSource } from '../resource/resource-source.ts'
import { isToBeDeletedNow, type RealmResource } from '../resource/resource.ts'

interface DepartedOptions {
  readonly clock: Clock
  /** How long a deleted Realm serves; 0: it is revoked. */
  readonly servedMs: number
}

/** Whoever holds data planes back from deleting must not outlast it: longer than a guard of deletes waits. */
const REVOKED_MS = 10 * 60_000
/** Whoever creates and deletes Realms all day does not fill the memory: of more, the oldest ends at once. */
const MAX_OF_NAMESPACE = 500
/** More than the quota of a namespace lets it have. */
const MAX_REVOKED_OF_NAMESPACE = 1000

interface Departure extends DepartedRealm {
  readonly untilMs: number
}

/**
 * What a source itself doubts (a CRD that is gone, a watch that fails) it keeps in its caches: that is no departure.
 * @example withDepartedRealms(source, { clock: SYSTEM_CLOCK, servedMs: 60_000 })
 */
export const withDepartedRealms = (
  source: ResourceSource,
  options: DepartedOptions,
): ResourceSource => new SourceWithDepartures(source, options)

class SourceWithDepartures implements ResourceSource {
  readonly #source: ResourceSource
  readonly #options: DepartedOptions
  #onChange: () => void = () => undefined
  #resources: ResourceCache['resources'] = new Map()
  /** By key of the resource, in the order in which they went. */
  readonly #departures = new Map<string, Departure>()
  /** The same map while nobody comes or goes. */
  #told: ReadonlyMap<string, DepartedRealm> = new Map()
  /** Grows when departures end. */
  #revision = 0
  #made: { readonly of: ResourceCache; readonly cache: ResourceCache } | undefined
  #cancelEnd: (() => void) | undefined

  constructor(source: ResourceSource, options: DepartedOptions) {
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
      ...(this.#told.size > 0 && { departed: this.#told }),
    }
    this.#made = { of, cache }
    return cache
  }

  #compare(cache: ResourceCache): void {
    for (const key of changedKeys(this.#resources, cache.resources)) {
      const [before, now] = [this.#resources.get(key), cache.resources.get(key)]
      if (before?.kind !== 'Realm') continue
      if (isGone(before, now?.kind === 'Realm' ? now : undefined)) this.#depart(key, before, cache)
    }
    this.#resources = cache.resources
  }

  #depart(key: string, resource: RealmResource, { deletedNow }: ResourceCache): void {
    const { clock, servedMs } = this.#options
    const isRevoked =
      servedMs === 0 ||
      isToBeDeletedNow(resource) ||
      deletedNow?.has(resource.metadata.uid) === true
    const known = this.#departures.get(key)
    // Of another class it goes twice: when it is given that, and when it is not looked at any more.
    if (known?.resource.metadata.uid === resource.metadata.uid && !isRevoked) return
    const untilMs = clock.now() + (isRevoked ? REVOKED_MS : servedMs)
    this.#departures.delete(key)
    this.#departures.set(key, { resource, isRevoked, untilMs })
    this.#crowdOut(resource.metadata.namespace)
    this.#awaitEnd()
  }

  #crowdOut(namespace: string): void {
    const own = [...this.#departures].filter(
      ([, { resource }]) => resource.metadata.namespace === namespace,
    )
    // What is revoked serves no more, and holds no secrets: it is to be remembered until every gateway knows.
    const [revoked, serving] = [true, false].map((is) =>
      own.filter(([, { isRevoked }]) => isRevoked === is),
    )
    for (const [key] of revoked?.slice(0, -MAX_REVOKED_OF_NAMESPACE) ?? [])
      this.#departures.delete(key)
    for (const [key] of serving?.slice(0, -MAX_OF_NAMESPACE) ?? []) this.#departures.delete(key)
  }

  /** After every change of the departures. */
  #awaitEnd(): void {
    this.#told = new Map(this.#departures)
    this.#cancelEnd?.()
    this.#cancelEnd = undefined
    if (this.#departures.size === 0) return
    const { clock } = this.#options
    const nextMs = Math.min(...[...this.#departures.values()].map(({ untilMs }) => untilMs))
    this.#cancelEnd = clock.after(Math.max(0, nextMs - clock.now()), () => {
      this.#setBack(nextMs - clock.now())
      this.#end(clock.now())
    })
  }

  /** The time has passed, whatever the clock says by now: one that was set back gives no more of it to those that wait. */
  #setBack(backMs: number): void {
    if (backMs <= 0) return
    for (const [key, departure] of this.#departures)
      this.#departures.set(key, { ...departure, untilMs: departure.untilMs - backMs })
  }

  #end(nowMs: number): void {
    for (const [key, { untilMs }] of this.#departures)
      if (untilMs <= nowMs) this.#departures.delete(key)
    this.#revision += 1
    this.#made = undefined
    this.#awaitEnd()
    this.#onChange()
  }
}

/** Deleted, made anew, or given another class: then it is in the caches until its status says so. */
const isGone = (before: RealmResource, now: RealmResource | undefined): boolean =>
  now?.metadata.uid !== before.metadata.uid || now.className !== before.className
