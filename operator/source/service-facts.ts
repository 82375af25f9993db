// A Service and its EndpointSlices, as the API has them, in; which addresses and ports its requests should go to, out.
// Pure: the one place that says for which Services gateways balance in place of kube-proxy.

import { isIP } from 'node:net'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { ServiceEndpoints, ServicePortEndpoints } from '../../language/wire/wire.ts'
import { ANNOTATIONS } from '../resource/resource.ts'
import { ownMember } from '../resource/shape.ts'

/** 'own address': it is to be reached by that, as ever. */
export type ServiceFacts =
  | 'own address'
  | {
      /** `clusterIPs`; the first tells of which family Pods are used. */
      readonly addresses: readonly string[]
      /** Of TCP. */
      readonly ports: readonly { readonly name: string; readonly port: number }[]
    }

export interface SliceFacts {
  readonly addressType: string
  readonly ports: readonly { readonly name: string; readonly port: number }[]
  readonly endpoints: readonly EndpointFacts[]
}

interface EndpointFacts {
  readonly address: string
  /** The API server says of which Pod of this namespace it is. */
  readonly isPod: boolean
  readonly state: 'ready' | 'terminating' | 'neither'
}

/** Beyond it a gateway would leave some out: kube-proxy spreads over all. */
const MOST_ENDPOINTS = 250
const MOST_PORTS = 100

/**
 * No other than a plain ClusterIP Service with a selector: ExternalName leads elsewhere, the names of headless ones stand
 * for their Pods anyway, hand-made slices for anything. Who wants session affinity, or Pods of the same node alone, gets it
 * from kube-proxy.
 */
export const readService = (service: ValueMap): ServiceFacts => {
  const spec = mapMember(service, 'spec')
  const annotations = mapMember(mapMember(service, 'metadata'), 'annotations')
  const addresses = clusterAddresses(spec)
  const isBalanced =
    (textMember(spec, 'type') || 'ClusterIP') !== 'ExternalName' &&
    addresses.length > 0 &&
    Object.keys(mapMember(spec, 'selector')).length > 0 &&
    (textMember(spec, 'sessionAffinity') || 'None') === 'None' &&
    (textMember(spec, 'internalTrafficPolicy') || 'Cluster') === 'Cluster' &&
    textMember(annotations, ANNOTATIONS.endpoints) !== 'off'
  if (!isBalanced) return 'own address'
  return { addresses, ports: portsOf(spec).slice(0, MOST_PORTS) }
}

/** undefined: of a kind of address that no gateway dials. */
export const readSlice = (slice: ValueMap): SliceFacts | undefined => {
  const addressType = textMember(slice, 'addressType')
  const namespace = textMember(mapMember(slice, 'metadata'), 'namespace')
  return {
    addressType,
    ports: portsOf(slice),
    endpoints: mapsOf(slice, 'endpoints').flatMap((each) => readEndpoint(each, namespace)),
  }
}

/**
 * Those that are ready; where none is, those that serve while they terminate.
 * @param service `namespace/name`
 */
export const endpointsOf = (
  service: string,
  facts: ServiceFacts,
  slices: Iterable<SliceFacts>,
): ServiceEndpoints | 'own address' => {
  if (facts === 'own address') return facts
  const { addresses, ports } = facts
  const family = `IPv${isIP(addresses[0] ?? '')}`
  const known = [...slices]
  const fit = known.filter(({ addressType }) => addressType === family)
  // What isn't a Pod was put there by hand. Beside the others it would get nothing.
  const isOfPods = known.every(
    ({ addressType, endpoints }) =>
      addressType.startsWith('IPv') && endpoints.every(({ isPod }) => isPod),
  )
  if (!isOfPods) return 'own address'
  return { service, addresses, ports: ports.map((port) => portEndpoints(port, fit)) }
}

const portEndpoints = (
  { name, port }: { readonly name: string; readonly port: number },
  slices: readonly SliceFacts[],
): ServicePortEndpoints => {
  const ready = targetsOf(name, slices, 'ready')
  const targets = ready.length > 0 ? ready : targetsOf(name, slices, 'terminating')
  const count = targets.reduce((sum, { addresses }) => sum + addresses.length, 0)
  return { port, targets: count > MOST_ENDPOINTS ? [] : targets }
}

/** In a fixed order: what says the same is the same. */
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

const clusterAddresses = (spec: ValueMap): readonly string[] => {
  const list = ownMember(spec, 'clusterIPs')
  const all = list !== undefined && isList(list) ? list : [textMember(spec, 'clusterIP')]
  return all.filter((each): each is string => typeof each === 'string' && isIP(each) !== 0)
}

/** A port without a number is any: no Service has such. Without a protocol it is TCP. */
const portsOf = (map: ValueMap): readonly { readonly name: string; readonly port: number }[] =>
  mapsOf(map, 'ports').flatMap((each) => {
    const port = ownMember(each, 'port')
    const isTcp = (textMember(each, 'protocol') || 'TCP') === 'TCP'
    return isTcp && isPort(port) ? [{ name: textMember(each, 'name'), port }] : []
  })

const isPort = (value: Value | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535

/** All addresses of one are the same Pod's: the first is used. */
const readEndpoint = (endpoint: ValueMap, namespace: string): readonly EndpointFacts[] => {
  const [address] = ownList(endpoint, 'addresses')
  if (typeof address !== 'string') return []
  const target = mapMember(endpoint, 'targetRef')
  const isPod =
    isIP(address) !== 0 &&
    textMember(target, 'kind') === 'Pod' &&
    textMember(target, 'namespace') === namespace
  return [{ address, isPod, state: stateOf(mapMember(endpoint, 'conditions')) }]
}

/** What is left out counts as ready, and as serving where it is ready. */
const stateOf = (conditions: ValueMap): EndpointFacts['state'] => {
  const isReady = ownMember(conditions, 'ready') !== false
  if (isReady) return 'ready'
  const isServing = ownMember(conditions, 'serving') === true
  return isServing && ownMember(conditions, 'terminating') === true ? 'terminating' : 'neither'
}

const ownList = (map: ValueMap, name: string): readonly Value[] => {
  const list = ownMember(map, name)
  return list !== undefined && isList(list) ? list : []
}

const mapsOf = (map: ValueMap, name: string): readonly ValueMap[] =>
  ownList(map, name).filter(isMap)

const mapMember = (map: ValueMap, name: string): ValueMap => {
  const member = ownMember(map, name)
  return isMap(member) ? member : {}
}

const textMember = (map: ValueMap, name: string): string => {
  const member = ownMember(map, name)
  return typeof member === 'string' ? member : ''
}
