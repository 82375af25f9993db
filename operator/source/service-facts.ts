// Reads from a Service and its EndpointSlices which addresses and ports its requests should go to. Pure: the one place
// that decides for which Services gateways balance in place of kube-proxy.

import { isIP } from 'node:net'
import { listAt, mapAt, mapsAt, memberAt, textAt } from '../../language/expression/members.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import type { ServiceEndpoints, ServicePortEndpoints } from '../../language/wire/wire.ts'
import type {
  Endpoint,
  EndpointConditions,
  EndpointSlice,
  Port,
  Service,
  ServiceSpec,
} from '../kubernetes/objects.ts'
import { ANNOTATIONS } from '../resource/resource.ts'

/** 'own address': gateways connect to its own address, as they do without this. */
export type ServiceFacts =
  | 'own address'
  | {
      /** `clusterIPs`; the first decides the address family of the Pods that are used. */
      readonly addresses: readonly string[]
      /** The TCP ports. */
      readonly ports: readonly { readonly name: string; readonly port: number }[]
    }

export interface SliceFacts {
  readonly addressType: string
  readonly ports: readonly { readonly name: string; readonly port: number }[]
  readonly endpoints: readonly EndpointFacts[]
}

interface EndpointFacts {
  readonly address: string
  /** According to the API server it is a Pod of this namespace. */
  readonly isPod: boolean
  readonly state: 'ready' | 'terminating' | 'neither'
}

/** Beyond it a gateway would leave some out, while kube-proxy spreads over all. */
const MOST_ENDPOINTS = 250
const MOST_PORTS = 100

/**
 * Only a plain ClusterIP Service with a selector: ExternalName leads elsewhere, names of headless ones resolve to their
 * Pods anyway, hand-made slices may be anything. Session affinity, and Pods of the same node alone, are left to
 * kube-proxy.
 */
export const readService = (service: Service): ServiceFacts => {
  const spec = mapAt(service, 'spec')
  const metadata = mapAt(service, 'metadata')
  const annotations = mapAt(metadata, 'annotations')
  const addresses = clusterAddresses(spec)
  const isBalanced =
    (textAt(spec, 'type') || 'ClusterIP') !== 'ExternalName' &&
    addresses.length > 0 &&
    Object.keys(mapAt(spec, 'selector')).length > 0 &&
    (textAt(spec, 'sessionAffinity') || 'None') === 'None' &&
    (textAt(spec, 'internalTrafficPolicy') || 'Cluster') === 'Cluster' &&
    textAt(annotations, ANNOTATIONS.endpoints) !== 'off' &&
    !isOfOtherProxy(metadata)
  if (!isBalanced) return 'own address'
  return { addresses, ports: portsOf(mapsAt(spec, 'ports')).slice(0, MOST_PORTS) }
}

/** Its Pods may be in other clusters too, or be chosen by rules that only another proxy knows. */
const isOfOtherProxy = (metadata: ValueMap): boolean =>
  textAt(mapAt(metadata, 'labels'), 'service.kubernetes.io/service-proxy-name') !== '' ||
  ['service.cilium.io/global', 'io.cilium/global-service'].some(
    (each) => textAt(mapAt(metadata, 'annotations'), each) === 'true',
  )

/** undefined: a kind of address that gateways do not dial. */
export const readSlice = (slice: EndpointSlice): SliceFacts | undefined => {
  const addressType = textAt(slice, 'addressType')
  const namespace = textAt(mapAt(slice, 'metadata'), 'namespace')
  return {
    addressType,
    ports: portsOf(mapsAt(slice, 'ports')),
    endpoints: mapsAt(slice, 'endpoints').flatMap((each) => readEndpoint(each, namespace)),
  }
}

/**
 * The ready endpoints; where none is, those that serve while they terminate.
 * @param service `namespace/name`
 * @param former addresses of a Service of this name that was deleted: names may still resolve to them
 */
export const endpointsOf = (
  service: string,
  facts: ServiceFacts,
  slices: Iterable<SliceFacts>,
  former: readonly string[] = [],
): ServiceEndpoints | 'own address' => {
  if (facts === 'own address') return facts
  const { addresses, ports } = facts
  const family = `IPv${isIP(addresses[0] ?? '')}`
  const known = [...slices]
  const fit = known.filter(({ addressType }) => addressType === family)
  // An endpoint that is not a Pod was added by hand, and would get no requests beside the others.
  const isOfPods = known.every(
    ({ addressType, endpoints }) =>
      addressType.startsWith('IPv') && endpoints.every(({ isPod }) => isPod),
  )
  if (!isOfPods) return 'own address'
  return {
    service,
    addresses: [...new Set([...addresses, ...former])],
    ports: ports.map((port) => {
      const isEmpty = !known.some((slice) => hasEndpoints(port.name, slice))
      return { ...portEndpoints(port, fit), ...(isEmpty && { isEmpty }) }
    }),
  }
}

/** Whether kube-proxy, too, has a Pod for the port, of whatever address family. */
const hasEndpoints = (name: string, { ports, endpoints }: SliceFacts): boolean =>
  ports.some((each) => each.name === name) && endpoints.some(({ state }) => state !== 'neither')

const portEndpoints = (
  { name, port }: { readonly name: string; readonly port: number },
  slices: readonly SliceFacts[],
): ServicePortEndpoints => {
  const ready = targetsOf(name, slices, 'ready')
  const targets = ready.length > 0 ? ready : targetsOf(name, slices, 'terminating')
  const count = targets.reduce((sum, { addresses }) => sum + addresses.length, 0)
  return { port, targets: count > MOST_ENDPOINTS ? [] : targets }
}

/** In a fixed order, so that equal targets are recognised. */
const targetsOf = (
  name: string,
  slices: readonly SliceFacts[],
  state: EndpointFacts['state'],
): ServicePortEndpoints['targets'] => {
  const byPort = new Map<number, Set<string>>()
  for (const { ports, endpoints } of slices) {
    const target = ports.find((each) => each.name === name)?.port
    if (target === undefined) continue
    const addresses = byPort.get(target) ?? new Set()
    for (const each of endpoints) if (each.state === state) addresses.add(each.address)
    if (addresses.size > 0) byPort.set(target, addresses)
  }
  return [...byPort]
    .sort(([left], [right]) => left - right)
    .map(([port, addresses]) => ({ port, addresses: [...addresses].sort() }))
}

const clusterAddresses = (spec: ServiceSpec): readonly string[] => {
  const list = listAt(spec, 'clusterIPs')
  const all = list.length > 0 ? list : [textAt(spec, 'clusterIP')]
  return all.filter((each): each is string => typeof each === 'string' && isIP(each) !== 0)
}

/** A port without a number means any: no Service has such. Without a protocol it is TCP. */
const portsOf = (
  ports: readonly Port[],
): readonly { readonly name: string; readonly port: number }[] =>
  ports.flatMap((each) => {
    const port = memberAt(each, 'port')
    const isTcp = (textAt(each, 'protocol') || 'TCP') === 'TCP'
    return isTcp && isPort(port) ? [{ name: textAt(each, 'name'), port }] : []
  })

const isPort = (value: Value | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535

/** All addresses of one endpoint belong to the same Pod: the first is used. */
const readEndpoint = (endpoint: Endpoint, namespace: string): readonly EndpointFacts[] => {
  const [address] = listAt(endpoint, 'addresses')
  if (typeof address !== 'string') return []
  const target = mapAt(endpoint, 'targetRef')
  const isPod =
    isIP(address) !== 0 &&
    textAt(target, 'kind') === 'Pod' &&
    textAt(target, 'namespace') === namespace
  return [{ address, isPod, state: stateOf(mapAt(endpoint, 'conditions')) }]
}

/** A missing condition counts as ready, and as serving where it is ready. */
const stateOf = (conditions: EndpointConditions): EndpointFacts['state'] => {
  const isReady = memberAt(conditions, 'ready') !== false
  if (isReady) return 'ready'
  const isServing = memberAt(conditions, 'serving') === true
  return isServing && memberAt(conditions, 'terminating') === true ? 'terminating' : 'neither'
}
