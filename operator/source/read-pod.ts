// Reads from a Pod the data plane that runs in it, or why it can't be reached. Pure; nothing else of the Pod is kept.

import {
  mapAt,
  mapsAt,
  memberAt,
  numberAt,
  textAt,
  textsAt,
} from '../../language/expression/members.ts'
import type { DataPlane } from '../data-plane.ts'
import { GROUP } from '../resource/resource.ts'
import type { EventSubject } from '../kubernetes/events/object.ts'
import type { Container, ObjectMeta, Pod, PodSpec, PodStatus } from '../kubernetes/objects.ts'

/** The label of Pods that are data planes. */
export const DATA_PLANE_LABEL = `${GROUP}/data-plane`
/** Its value for a data plane beside an application. */
const SIDECAR = 'sidecar'
/** Name of the container that the webhook adds to the pod of an application. */
export const SIDECAR_CONTAINER = 'svc-gateway'
const PORT_NAME = 'management'

export type PodReading =
  | { readonly reading: 'data-plane'; readonly dataPlane: DataPlane }
  /** Not of the shared pool, and sidecars of its namespace are not wanted. */
  | { readonly reading: 'foreign' }
  /** It has no address, or is ending: it can't be connected to. */
  | { readonly reading: 'unready' }
  /** It can't become one without a change. */
  | { readonly reading: 'error'; readonly message: string }

export interface PodPlaces {
  /** Namespaces of the shared pool. */
  readonly namespaces: readonly string[]
  readonly sidecarNamespaces: readonly string[] | 'all'
  /** http: to loopback only, as realms contain secrets. */
  readonly scheme: 'https' | 'http'
}

/** @example readPod(pod, { namespaces: ['gateways'], sidecarNamespaces: 'all', scheme: 'https' }) */
export const readPod = (pod: Pod, places: PodPlaces): PodReading => {
  const metadata = mapAt(pod, 'metadata')
  const status = mapAt(pod, 'status')
  if (isEnding(metadata, status)) return { reading: 'unready' }
  const namespace = textAt(metadata, 'namespace')
  const labels = textsAt(metadata, 'labels')
  const pool = poolOf(namespace, labels, places)
  if (pool === 'none') return { reading: 'foreign' }
  const name = `${namespace}/${textAt(metadata, 'name')}`
  const found = managementPort(mapAt(pod, 'spec'))
  if (found === undefined) {
    const message = `Pod ${name} has no containerPort named ${PORT_NAME}, so it can't be reached: give its management port that name`
    return { reading: 'error', message }
  }
  const ip = textAt(status, 'podIP')
  if (ip === '') return { reading: 'unready' }
  if (places.scheme === 'http' && !isLoopback(ip)) {
    const message = `Pod ${name} is at ${ip}: plain http is allowed to loopback only, as realms contain secrets`
    return { reading: 'error', message }
  }
  const dataPlane: DataPlane = {
    name,
    url: `${places.scheme}://${ip.includes(':') ? `[${ip}]` : ip}:${found.port}`,
    labels,
    ...(pool === 'sidecar' && { namespace }),
    incarnation: `${textAt(metadata, 'uid')}/${containerId(status, found.container)}`,
    serverName: `${namespace}.${GROUP}`,
  }
  return { reading: 'data-plane', dataPlane }
}

/** The Pod of a data plane that `readPod` has found, for Events about it. */
export const podOf = ({ name, incarnation = '' }: DataPlane): EventSubject => {
  const [namespace = '', podName = ''] = name.split('/')
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    namespace,
    name: podName,
    uid: incarnation.split('/')[0] ?? '',
  }
}

/** A pod that ends serves what it has loaded to its end. */
const isEnding = (metadata: ObjectMeta, status: PodStatus): boolean =>
  memberAt(metadata, 'deletionTimestamp') !== undefined ||
  ['Succeeded', 'Failed'].includes(textAt(status, 'phase'))

const poolOf = (
  namespace: string,
  labels: Readonly<Record<string, string>>,
  { namespaces, sidecarNamespaces }: PodPlaces,
): 'shared' | 'sidecar' | 'none' => {
  if (namespaces.includes(namespace) && labels[DATA_PLANE_LABEL] !== SIDECAR) return 'shared'
  return sidecarNamespaces === 'all' || sidecarNamespaces.includes(namespace) ? 'sidecar' : 'none'
}

interface FoundPort {
  readonly container: string
  readonly port: number
}

/** A native sidecar is an init container; an application may use the same name for a port, too. */
const managementPort = (spec: PodSpec): FoundPort | undefined => {
  const containers = [...mapsAt(spec, 'initContainers'), ...mapsAt(spec, 'containers')]
  const ports = containers.flatMap(portsOf)
  return ports.find(({ container }) => container === SIDECAR_CONTAINER) ?? ports[0]
}

const portsOf = (container: Container): readonly FoundPort[] =>
  mapsAt(container, 'ports').flatMap((each) => {
    const port = numberAt(each, 'containerPort')
    if (textAt(each, 'name') !== PORT_NAME || port === undefined) return []
    return [{ container: textAt(container, 'name'), port }]
  })

/** Empty while the container has not been started: it changes with the start. */
const containerId = (status: PodStatus, container: string): string => {
  const states = [
    ...mapsAt(status, 'containerStatuses'),
    ...mapsAt(status, 'initContainerStatuses'),
  ]
  const state = states.find((each) => textAt(each, 'name') === container)
  return state === undefined ? '' : textAt(state, 'containerID')
}

const isLoopback = (ip: string): boolean => ip === '::1' || /^127(?:\.\d{1,3}){3}$/.test(ip)
