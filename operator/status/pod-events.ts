// Makes an Event for the Pod of a data plane where a person has to act, by what was reported before. Pure.

import type { DataPlaneReport } from '../data-plane.ts'
import type { EventFacts } from '../kubernetes/events/object.ts'
import { podOf } from '../source/read-pod.ts'

/** Name of a data plane → what was said of it last. Only of those that are kept out of service. */
export type ToldPods = ReadonlyMap<string, string>

/**
 * One that is kept out of service, since it refuses what another serves: once, and again when it refuses something else
 * or another process runs in it.
 * @example podEventsOf(new Map(), reports).events.map(({ reason }) => reason) // ['Withheld']
 */
export const podEventsOf = (
  told: ToldPods,
  reports: readonly DataPlaneReport[],
): { readonly events: readonly EventFacts[]; readonly told: ToldPods } => {
  const events: EventFacts[] = []
  const next = new Map<string, string>()
  for (const { dataPlane, phase, message } of reports) {
    const { name, incarnation = '' } = dataPlane
    const before = told.get(name)
    if (phase === 'withheld') {
      const words = `${incarnation} ${message}`
      next.set(name, words)
      if (words === before) continue
      const event = { reason: 'Withheld', action: 'Complete', note: message } as const
      events.push({ regarding: podOf(dataPlane), type: 'Warning', ...event })
    } else if (before !== undefined && !SETTLED.has(phase)) next.set(name, before)
  }
  return { events, told: next }
}

/** One that can't be reached for a while is still kept out. */
const SETTLED: ReadonlySet<DataPlaneReport['phase']> = new Set(['synced', 'holding'])
