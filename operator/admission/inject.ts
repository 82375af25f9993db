// Computes the JSON patch that puts a gateway beside the application of a Pod, or the reason why there is none. Pure.
// Only adds: everything in the Pod stays as it is, but for its termination grace period.

import { childPointer } from '../../base/json-pointer.ts'
import { mapAt, mapsAt, memberAt, numberAt, textAt } from '../../language/expression/members.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { Pod, PodSpec } from '../kubernetes/objects.ts'
import { GROUP } from '../resource/resource.ts'
import { DATA_PLANE_LABEL, SIDECAR_CONTAINER } from '../source/read-pod.ts'
import { ANNOTATIONS, readWiring, type Wiring } from './inject-annotations.ts'
import { gatewayContainer, gatewayVolumes } from './inject-container.ts'
import { annotationOf, containerNamed, declaredPorts, labelOf } from './inject-pod.ts'
import { refusalOfPod, refusalOfWiring } from './inject-refusal.ts'
import type { SidecarSettings } from './inject-settings.ts'

export interface InjectOptions {
  readonly settings: SidecarSettings
  /** `--manager` of the operator. */
  readonly manager: string
}

/** RFC 6902. */
export interface PatchOperation {
  readonly op: 'add'
  readonly path: string
  readonly value: Value
}

export type Injection =
  | {
      readonly injection: 'patch'
      readonly patch: readonly PatchOperation[]
      readonly warnings: readonly string[]
    }
  /** Not wanted, or injected already. */
  | { readonly injection: 'none' }
  | { readonly injection: 'refused'; readonly reason: string }

/** On a pod: `"true"` or `"false"`; on a namespace: `"true"`. */
export const INJECT_LABEL = `${GROUP}/inject`

/**
 * An annotation of the object that stands for a static pod, which a node runs by itself: injection cannot change that
 * pod.
 */
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

/**
 * The caller has checked that the pod or its namespace is labelled; the pod's own `"false"` counts here all the same.
 * Idempotent: `inject(apply(pod, patch))` is `none`.
 * @example inject(pod, { settings, manager: 'svc-operator' })
 */
export const inject = (pod: Pod, options: InjectOptions): Injection => {
  if (!isMap(memberAt(pod, 'metadata')) || !isMap(memberAt(pod, 'spec')))
    return { injection: 'refused', reason: 'it is not a Pod' }
  if (labelOf(pod, INJECT_LABEL) === 'false' || isMirror(pod)) return { injection: 'none' }
  const pool = labelOf(pod, DATA_PLANE_LABEL)
  if (pool !== undefined && pool !== SIDECAR_POOL) {
    const reason = `label ${DATA_PLANE_LABEL} is '${pool.slice(0, 63)}', so it is a gateway itself`
    return { injection: 'refused', reason }
  }
  const reason = refusalOfPod(pod)
  if (reason !== undefined) return { injection: 'refused', reason }
  return containerNamed(pod, 'initContainers', SIDECAR_CONTAINER) === undefined
    ? injectAnew(pod, options)
    : complete(pod, options)
}

const isMirror = (pod: Pod): boolean => annotationOf(pod, MIRROR_ANNOTATION) !== undefined

const SIDECAR_POOL = 'sidecar'

const injectAnew = (pod: Pod, { settings, manager }: InjectOptions): Injection => {
  const read = readWiring(pod, settings.resources)
  if ('problem' in read) return { injection: 'refused', reason: read.problem }
  const { wiring } = read
  const reason = refusalOfWiring(pod, wiring, settings)
  if (reason !== undefined) return { injection: 'refused', reason }
  const spec = mapAt(pod, 'spec')
  const container = gatewayContainer({
    settings,
    wiring,
    manager,
    isProcessShared: (['shareProcessNamespace', 'hostPID'] as const).some(
      (name) => memberAt(spec, name) === true,
    ),
    isBoundAsPod: isMap(memberAt(spec, 'resources')),
  })
  const pause = wiring.hasAppPreStop ? pauseOf(pod, settings) : undefined
  const isWithPause = pause !== undefined && pause.patch.length > 0
  const patch = [
    ...labelPatch(pod),
    ...addAll('/spec/initContainers', memberAt(spec, 'initContainers'), [container], 'first'),
    ...addAll(
      '/spec/volumes',
      memberAt(spec, 'volumes'),
      missing(spec, 'volumes', gatewayVolumes(settings)),
    ),
    ...pullSecretPatch(spec, settings),
    ...(isWithPause ? [...pause.patch, gracePatch(pause.graceSeconds)] : []),
  ]
  return { injection: 'patch', patch, warnings: warningsOf(pod, wiring) }
}

/**
 * The gateway is there already, injected or written by hand: it stays as it is. Other webhooks may have added
 * containers since.
 */
const complete = (pod: Pod, { settings }: InjectOptions): Injection => {
  const isWithPause =
    annotationOf(pod, ANNOTATIONS.appPreStop) !== 'false' &&
    graceOf(pod) >= settings.appPreStopSeconds
  const patch = [...labelPatch(pod), ...(isWithPause ? preStopPatch(pod, settings) : [])]
  return patch.length === 0 ? { injection: 'none' } : { injection: 'patch', patch, warnings: [] }
}

const labelPatch = (pod: Pod): readonly PatchOperation[] => {
  if (labelOf(pod, DATA_PLANE_LABEL) === SIDECAR_POOL) return []
  if (!isMap(memberAt(mapAt(pod, 'metadata'), 'labels')))
    return [add('/metadata/labels', { [DATA_PLANE_LABEL]: SIDECAR_POOL })]
  return [add(childPointer('/metadata/labels', DATA_PLANE_LABEL), SIDECAR_POOL)]
}

/**
 * The preStop wait is part of the time that a pod has to end, so that time grows by it and the application keeps all it
 * had. A pod with no time to end gets no wait.
 */
const pauseOf = (
  pod: Pod,
  settings: SidecarSettings,
): { readonly patch: readonly PatchOperation[]; readonly graceSeconds: number } | undefined => {
  const graceSeconds = graceOf(pod)
  // The API server would not accept a number that JavaScript can't represent exactly, and would reject the pod.
  if (graceSeconds <= 0 || graceSeconds > Number.MAX_SAFE_INTEGER - 60) return undefined
  return {
    patch: preStopPatch(pod, settings),
    graceSeconds: graceSeconds + settings.appPreStopSeconds,
  }
}

const graceOf = (pod: Pod): number => {
  return numberAt(mapAt(pod, 'spec'), 'terminationGracePeriodSeconds') ?? DEFAULT_GRACE_SECONDS
}

/** The default of Kubernetes. */
const DEFAULT_GRACE_SECONDS = 30

const gracePatch = (seconds: number): PatchOperation =>
  add('/spec/terminationGracePeriodSeconds', seconds)

const preStopPatch = (
  pod: Pod,
  { appPreStopSeconds: seconds }: SidecarSettings,
): readonly PatchOperation[] => {
  const containers = memberAt(mapAt(pod, 'spec'), 'containers')
  if (seconds === 0 || !isList(containers)) return []
  const preStop = { sleep: { seconds } }
  return containers.flatMap((container, index) => {
    if (!isMap(container)) return []
    const path = `/spec/containers/${index}/lifecycle`
    const lifecycle = memberAt(container, 'lifecycle')
    if (!isMap(lifecycle)) return [add(path, { preStop })]
    return memberAt(lifecycle, 'preStop') === undefined ? [add(`${path}/preStop`, preStop)] : []
  })
}

const pullSecretPatch = (
  spec: PodSpec,
  { imagePullSecrets }: SidecarSettings,
): readonly PatchOperation[] => {
  const wanted = imagePullSecrets.map((name) => ({ name }))
  return addAll(
    '/spec/imagePullSecrets',
    memberAt(spec, 'imagePullSecrets'),
    missing(spec, 'imagePullSecrets', wanted),
  )
}

/** Compared by name. */
const missing = (
  spec: PodSpec,
  list: 'volumes' | 'imagePullSecrets',
  wanted: readonly ValueMap[],
): readonly ValueMap[] => {
  const known = new Set(mapsAt(spec, list).map((each) => textAt(each, 'name')))
  return wanted.filter((each) => !known.has(textAt(each, 'name')))
}

const addAll = (
  path: string,
  existing: Value | undefined,
  items: readonly Value[],
  place: 'first' | 'last' = 'last',
): readonly PatchOperation[] => {
  if (items.length === 0) return []
  if (!isList(existing)) return [add(path, items)]
  return items.map((item) => add(`${path}/${place === 'first' ? '0' : '-'}`, item))
}

const add = (path: string, value: Value): PatchOperation => ({ op: 'add', path, value })

const warningsOf = (pod: Pod, { appPorts, warnings }: Wiring): readonly string[] => {
  const declared = new Set(declaredPorts(pod).map(({ port }) => port))
  const unknown = appPorts.filter((port) => !declared.has(port))
  if (unknown.length === 0) return warnings
  const words = `no container declares port ${unknown.join(', ')} of annotation ${ANNOTATIONS.appPort}: is it the application's?`
  return [...warnings, words]
}
