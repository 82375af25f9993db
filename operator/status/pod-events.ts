// Decides which Events to record for the Pods of data planes that are kept out of service. Pure.

import type { DataPlaneReport } from '../data-plane.ts'
import type { EventFacts } from '../kubernetes/events/object.ts'
import { podOf } from '../source/read-pod.ts'

/** Name of a data plane that is kept out of service → what its latest Event has reported. */
export type ReportedPods = ReadonlyMap<string, string>

/**
 * A data plane that rejects what others serve is kept out of service. That is reported once, and again when it rejects
 * something else or has restarted.
 * @example podEventsOf(new Map(), reports).events.map(({ reason }) => reason) // ['Withheld']
 */
export const podEventsOf = (
  reported: ReportedPods,
  reports: readonly DataPlaneReport[],
): { readonly events: readonly EventFacts[]; readonly reported: ReportedPods } => {
  const events: EventFacts[] = []
  const next = new Map<string, string>()
  for (const { dataPlane, phase, message } of reports) {
    const { name, incarnation = '' } = dataPlane
    const before = reported.get(name)
    if (phase === 'withheld') {
      const words = `${incarnation} ${message}`
      next.set(name, words)
      if (words === before) continue
      const event = { reason: 'Withheld', action: 'Complete', note: message } as const
      events.push({ regarding: podOf(dataPlane), type: 'Warning', ...event })
    } else if (before !== undefined && !SETTLED.has(phase)) next.set(name, before)
  }
  return { events, reported: next }
}

/** A data plane that can't be reached for a while is still kept out of service. */
const SETTLED: ReadonlySet<DataPlaneReport['phase']> = new Set(['synced', 'holding'])
