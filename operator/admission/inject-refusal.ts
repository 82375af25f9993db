// Explains why a gateway cannot be put beside the application of a Pod, and what to do about it. Pure.

import { mapAt, mapsAt, memberAt, textAt } from '../../language/expression/members.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Pod, PodSpec } from '../kubernetes/objects.ts'
import { SIDECAR_CONTAINER } from '../source/read-pod.ts'
import { ANNOTATIONS, type Wiring } from './inject-annotations.ts'
import { gatewayVolumes, HEALTH_PORT, MANAGEMENT_PORT } from './inject-container.ts'
import { containerNamed, declaredPorts } from './inject-pod.ts'
import type { SidecarSettings } from './inject-settings.ts'

/** Reasons in the pod itself, whatever its annotations say. */
export const refusalOfPod = (pod: Pod): string | undefined => {
  const spec = mapAt(pod, 'spec')
  if (memberAt(spec, 'hostNetwork') === true)
    return 'it uses the network of its node (hostNetwork), whose ports are shared by pods: forward to it from a gateway of the shared pool'
  if (isForWindows(spec)) return 'the gateway runs on Linux only'
  const init = containerNamed(pod, 'initContainers', SIDECAR_CONTAINER)
  const isOther = init !== undefined && textAt(init, 'restartPolicy') !== 'Always'
  if (isOther || containerNamed(pod, 'containers', SIDECAR_CONTAINER) !== undefined)
    return `one of its own containers is called ${SIDECAR_CONTAINER}: rename it, or make it an init container with restartPolicy Always if it is the gateway`
  return undefined
}

const isForWindows = (spec: PodSpec): boolean =>
  textAt(mapAt(spec, 'os'), 'name') === 'windows' ||
  textAt(mapAt(spec, 'nodeSelector'), 'kubernetes.io/os') === 'windows'

/** Reasons in the wiring of this gateway. */
export const refusalOfWiring = (
  pod: Pod,
  wiring: Wiring,
  settings: SidecarSettings,
): string | undefined => portRefusal(pod, wiring) ?? volumeRefusal(pod, settings)

const portRefusal = (pod: Pod, { port, appPorts }: Wiring): string | undefined => {
  const own = [port, MANAGEMENT_PORT, HEALTH_PORT]
  if (own.indexOf(port) !== own.lastIndexOf(port))
    return `annotation ${ANNOTATIONS.port} is ${port}, where the gateway's ${port === HEALTH_PORT ? 'probes are' : 'management API is'}: choose another`
  const appPort = appPorts.find((each) => own.includes(each))
  if (appPort !== undefined)
    return `annotation ${ANNOTATIONS.appPort} is ${appPort}, which is a port of the gateway: ${appPort === port ? `set ${ANNOTATIONS.port} to another` : 'let the application listen elsewhere'}`
  const taken = declaredPorts(pod).find((each) => own.includes(each.port))
  if (taken === undefined) return undefined
  const remedy =
    taken.port === port
      ? `set annotation ${ANNOTATIONS.port} to a free one`
      : 'let the application listen elsewhere'
  return `its container ${taken.container.slice(0, 63)} has port ${taken.port}, which the gateway needs: ${remedy}`
}

const volumeRefusal = (pod: Pod, settings: SidecarSettings): string | undefined => {
  const existing = mapsAt(mapAt(pod, 'spec'), 'volumes')
  const other = gatewayVolumes(settings).find((volume) =>
    existing.some(
      (each) => textAt(each, 'name') === textAt(volume, 'name') && !isDeepStrictEqual(each, volume),
    ),
  )
  return (
    other &&
    `one of its own volumes is called ${textAt(other, 'name')}, as a volume of the gateway is: rename it`
  )
}
