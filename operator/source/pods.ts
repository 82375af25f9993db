// Watches the Pods labelled as data planes and lists them in the form of the fleet. Never connects to a pod.

import { isSameMap } from '../../base/same-entries.ts'
import { isDeepStrictEqual } from 'node:util'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import type { DataPlane, DataPlanes } from '../data-plane.ts'
import type { SourceNote } from '../resource/resource-source.ts'
import { type KubernetesApi, TYPES } from '../kubernetes/client/api.ts'
import { DATA_PLANE_LABEL, type PodPlaces, readPod } from './read-pod.ts'
import type { CreateReflector } from './referenced-object.ts'
import { createReflector } from '../kubernetes/watch/reflector.ts'
import { failureNote } from './notes.ts'
import { Watches } from './watches.ts'
import type { WatchLog } from '../kubernetes/watch/watch-log.ts'

export interface PodDataPlanesOptions extends PodPlaces {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly log: Log
  readonly watchLog?: WatchLog
  readonly createReflector?: CreateReflector
}

export interface PodDataPlanes extends DataPlanes {
  /**
   * Every watch has listed once; `onChange` is not called before, since no data plane and none known are two things.
   */
  synced(): boolean
  /** What can't be read, and pods that can't be reached as they are. */
  notes(): readonly SourceNote[]
}

type PodFacts = { readonly dataPlane: DataPlane } | { readonly error: string }

const PAGE = 500

/**
 * One watch over all namespaces where sidecars may be anywhere, else one for each.
 * @example createPodDataPlanes({ api, namespaces: ['gateways'], sidecarNamespaces: [], scheme: 'https', clock, log })
 */
export const createPodDataPlanes = (options: PodDataPlanesOptions): PodDataPlanes => {
  const { namespaces, sidecarNamespaces, scheme, ...watching } = options
  let known: ReadonlyMap<string, DataPlane> = new Map()
  let isReported = false
  let onChange: (dataPlanes: readonly DataPlane[]) => void = () => undefined
  const pods = new Watches<PodFacts>({
    createReflector,
    ...watching,
    type: TYPES.pods,
    namespaces: sidecarNamespaces === 'all' ? 'all' : [...namespaces, ...sidecarNamespaces],
    // A tenant may take away the right to read its sidecars, but not the one to read the shared pool.
    mayLack: (namespace) => !namespaces.includes(namespace),
    labelSelector: DATA_PLANE_LABEL,
    pageSize: PAGE,
    read: (pod) => factsOf(pod, { namespaces, sidecarNamespaces, scheme }),
    onChange: () => {
      if (!pods.hasSynced) return
      const next = settle(known, pods.items())
      if (isReported && isSameMap(known, next)) return
      known = next
      isReported = true
      onChange([...next.values()])
    },
  })
  return {
    start: (callback) => {
      onChange = callback
      pods.start()
    },
    stop: () => {
      onChange = () => undefined
      void pods.stop()
    },
    synced: () => pods.hasSynced,
    notes: () => [...pods.facts().flatMap(failureNote), ...warningNotes(pods.items())],
  }
}

const factsOf = (pod: ValueMap, places: PodPlaces): PodFacts | undefined => {
  const read = readPod(pod, places)
  if (read.reading === 'error') return { error: read.message }
  return read.reading === 'data-plane' ? { dataPlane: read.dataPlane } : undefined
}

/** Data planes by name, in the order of names; the same object where nothing changed that is used. */
const settle = (
  known: ReadonlyMap<string, DataPlane>,
  items: Iterable<PodFacts>,
): ReadonlyMap<string, DataPlane> => {
  const planes = [...items].flatMap((facts) => ('dataPlane' in facts ? [facts.dataPlane] : []))
  planes.sort((left, right) => (left.name < right.name ? -1 : 1))
  return new Map(
    planes.map((plane) => {
      const before = known.get(plane.name)
      return [plane.name, isDeepStrictEqual(before, plane) && before ? before : plane]
    }),
  )
}

const warningNotes = (items: Iterable<PodFacts>): readonly SourceNote[] =>
  [...items].flatMap((facts) =>
    'error' in facts ? [{ severity: 'warning' as const, message: facts.error }] : [],
  )
