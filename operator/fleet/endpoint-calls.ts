// Plans the calls that bring a gateway's knowledge of Services up to date, by the difference or as a whole. Pure.

import type { EndpointsRequest, ServiceEndpoints } from '../../language/wire/wire.ts'
import type { ServiceState } from '../service-endpoints.ts'

export type EndpointsContent = Required<Pick<EndpointsRequest, 'put' | 'delete'>> &
  Pick<EndpointsRequest, 'only'>

export interface EndpointsPlan {
  /** In order. */
  readonly calls: readonly EndpointsContent[]
  /** What it knows when it has accepted them all. */
  readonly sent: ReadonlyMap<string, ServiceEndpoints>
}

export interface EndpointsFacts {
  /** As far as it is known. */
  readonly sent: ReadonlyMap<string, ServiceEndpoints>
  readonly wanted: Iterable<string>
  readonly stateOf: (service: string) => ServiceState
  /** Everything is sent, whatever was sent before, and all else is to be forgotten. */
  readonly isWhole: boolean
  /** Characters of one in a call. */
  readonly sizeOf: (endpoints: ServiceEndpoints) => number
}

/** Characters of one call, give or take a Service. */
const CALL_LENGTH = 256 * 1024

export const planEndpointCalls = (facts: EndpointsFacts): EndpointsPlan => {
  const { sent, isWhole, stateOf } = facts
  const next = new Map<string, ServiceEndpoints>()
  const kept = new Set<string>()
  for (const service of facts.wanted) {
    const state = stateOf(service)
    // What it has from a leader before this one may serve until more is known.
    if (state === 'unknown') kept.add(service)
    else if (state !== 'own address' && state !== 'absent') next.set(service, state)
    const before = sent.get(service)
    if (state === 'unknown' && before !== undefined) next.set(service, before)
  }
  const put = [...next.values()].filter((each) => isWhole || sent.get(each.service) !== each)
  const gone = [...sent.keys()].filter((service) => !next.has(service))
  const parts = split(put, facts.sizeOf)
  const last = { put: parts.pop() ?? [], delete: isWhole ? [] : gone }
  const calls: EndpointsContent[] = parts.map((part) => ({ put: part, delete: [] }))
  if (isWhole) calls.push({ ...last, only: [...new Set([...next.keys(), ...kept])] })
  else if (last.put.length + last.delete.length > 0) calls.push(last)
  return { calls, sent: next }
}

const split = (
  put: readonly ServiceEndpoints[],
  sizeOf: (endpoints: ServiceEndpoints) => number,
): ServiceEndpoints[][] => {
  const parts: ServiceEndpoints[][] = []
  let room = 0
  for (const each of put) {
    if (room <= 0) {
      parts.push([])
      room = CALL_LENGTH
    }
    parts.at(-1)?.push(each)
    room -= sizeOf(each)
  }
  return parts
}
