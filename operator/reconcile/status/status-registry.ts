// Makes the status of every resource from its result and the reports of data planes. It keeps conditions from one update
// to the next, so that a `lastTransitionTime` moves only with its status. The time is passed in.

import type { DataPlaneReport } from '../../data-plane.ts'
import { changedKeys, edited } from '../../edited-map.ts'
import { FleetView, type Subject } from './fleet-view.ts'
import { isGood } from './programmed.ts'
import { type Entry, isWaiting, makeEntry, type ResourceStatus } from './status-entry.ts'
import { hostsWithoutService } from './unknown-services.ts'
import type { ResourceResult } from '../resource-result.ts'

export type { ResourceStatus } from './status-entry.ts'

/**
 * The work is in proportion to what has changed: results and reports are compared by identity. Measured with 1,000
 * documents × 100 data planes: a report with one change costs 0.3 ms, a data plane that becomes ready or stops being so
 * 0.9 ms, one that loses everything it had loaded 3 ms.
 */
export class StatusRegistry {
  readonly #view = new FleetView()
  readonly #entries = new Map<string, Entry>()
  readonly #waiting = new Set<string>()
  readonly #clusterDomain: string
  #absent: ReadonlySet<string> = new Set()
  #results: ReadonlyMap<string, ResourceResult> = new Map()
  #statuses: ReadonlyMap<string, ResourceStatus> = new Map()

  constructor(clusterDomain = 'cluster.local') {
    this.#clusterDomain = clusterDomain
  }

  /**
   * Statuses by key of the resource. A status that has not changed is the same object, and so is the map. The first status of a
   * resource continues the one in the resource, so that a new registry, after a restart or a change of leaders, causes no
   * needless writes.
   */
  update(
    results: ReadonlyMap<string, ResourceResult>,
    reports: readonly DataPlaneReport[],
    nowMs: number,
    absentServices: ReadonlySet<string> = this.#absent,
  ): ReadonlyMap<string, ResourceStatus> {
    const open = new Set(this.#waiting)
    for (const key of this.#view.take(reports)) open.add(key)
    const edits = this.#takeResults(results, open)
    this.#takeServices(absentServices, open)
    for (const key of open) {
      const result = results.get(key)
      if (result !== undefined) edits.set(key, this.#makeStatus(key, result, nowMs))
    }
    this.#statuses = edited(this.#statuses, edits)
    return this.#statuses
  }

  /** Some status may change although nothing happens, such as once a data plane has differed for long enough. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** @returns the statuses of removed resources, as undefined */
  #takeResults(
    results: ReadonlyMap<string, ResourceResult>,
    open: Set<string>,
  ): Map<string, ResourceStatus | undefined> {
    const gone = new Map<string, ResourceStatus | undefined>()
    if (results === this.#results) return gone
    for (const key of changedKeys(this.#results, results)) {
      const result = results.get(key)
      this.#view.watch(key, result && subjectOf(result))
      if (result !== undefined) {
        open.add(key)
        continue
      }
      this.#entries.delete(key)
      this.#waiting.delete(key)
      gone.set(key, undefined)
    }
    this.#results = results
    return gone
  }

  #takeServices(absent: ReadonlySet<string>, open: Set<string>): void {
    if (absent === this.#absent) return
    const before = this.#absent
    this.#absent = absent
    const changed = new Set(
      [...absent, ...before].filter((key) => !absent.has(key) || !before.has(key)),
    )
    for (const [key, { forwardHosts = [] }] of this.#results)
      if (hostsWithoutService(forwardHosts, changed, this.#clusterDomain).length > 0) open.add(key)
  }

  #makeStatus(key: string, result: ResourceResult, nowMs: number): ResourceStatus {
    const before = this.#entries.get(key)
    const { forwardHosts = [] } = result
    const unserved = hostsWithoutService(forwardHosts, this.#absent, this.#clusterDomain)
    const entry = makeEntry(result, this.#view.look(key), { before, nowMs, unserved })
    if (entry === before) return entry.status
    this.#entries.set(key, entry)
    if (isWaiting(entry)) this.#waiting.add(key)
    else this.#waiting.delete(key)
    return entry.status
  }
}

/** Data planes are not sent a version that is not valid: they are asked about the one that serves. */
const subjectOf = (result: ResourceResult): Subject | undefined => {
  const { resource, id, serving, realmNamespace, routerRealm } = result
  const { namespace } = resource.metadata
  if (id === undefined) return undefined
  if (resource.kind === 'Realm') return { kind: 'realm', uri: id, namespace }
  const digest = isGood(result) ? result.digest : serving?.digest
  if (digest === undefined) return undefined
  const selector = 'spec' in resource.checked ? resource.checked.spec.dataPlaneSelector : undefined
  return {
    ...({ kind: 'document', id, digest, namespace } as const),
    ...(selector !== undefined && { selector }),
    ...(realmNamespace !== undefined && { realmNamespace }),
    ...(routerRealm !== undefined && { routerRealm }),
  }
}
