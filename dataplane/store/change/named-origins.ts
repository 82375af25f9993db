// Lists the origins that the `forward` operations of a compiled document name literally, not those that requests
// contribute to. Their number is bounded.

import { upstreamHostsOf } from '../../../language/compile/action.ts'
import type { CompiledApi } from '../../../language/compile/compiled.ts'
import { readOrigin } from '../../../language/upstream-origin.ts'

const MOST_ORIGINS = 32

/** Lists those of active versions, in the order in which the document first names them. */
export const namedOrigins = ({ versions }: CompiledApi): readonly string[] => {
  const hosts = versions
    .filter(({ isActive }) => isActive)
    .flatMap(({ paths }) => paths)
    .flatMap(({ operations }) => Object.values(operations))
    .flatMap(({ action }) => upstreamHostsOf(action))
  const origins = new Set<string>()
  for (const { template: host } of hosts) {
    if (origins.size === MOST_ORIGINS) break
    if (host.kind !== 'constant' || typeof host.value !== 'string') continue
    const reading = readOrigin(host.value)
    if (reading.ok) origins.add(reading.origin)
  }
  return [...origins]
}
