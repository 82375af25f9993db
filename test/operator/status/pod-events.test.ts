import { describe, expect, it } from '@jest/globals'
import type { DataPlanePhase, DataPlaneReport } from '../../../operator/data-plane.ts'
import type { EventFacts } from '../../../operator/kubernetes/events/object.ts'
import { StatusEvents } from '../../../operator/status/kubernetes-status-events.ts'
import { podEventsOf, type ReportedPods } from '../../../operator/status/pod-events.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { statusOf } from './resource-status.ts'

const REFUSES = 'it refuses what another data plane serves: a (/paths: not to my taste)'

const report = (phase: DataPlanePhase, message = '', incarnation = 'uid-1/x'): DataPlaneReport => ({
  dataPlane: { name: 'gateways/gw-1', url: 'http://127.0.0.1:1', labels: {}, incarnation },
  phase,
  message,
  ready: phase === 'synced',
  documents: new Map(),
  realms: new Map(),
  realmsGiven: new Set(),
  rejected: { documents: new Map(), realms: new Map() },
})

const WITHHELD = report('withheld', REFUSES)

describe('a data plane that is kept out of service', () => {
  it('is reported at its Pod, in the words of the data plane', () => {
    expect(podEventsOf(new Map(), [WITHHELD]).events).toEqual([
      {
        regarding: {
          apiVersion: 'v1',
          kind: 'Pod',
          namespace: 'gateways',
          name: 'gw-1',
          uid: 'uid-1',
        },
        type: 'Warning',
        reason: 'Withheld',
        action: 'Complete',
        note: REFUSES,
      },
    ])
  })

  it.each<[string, readonly (readonly DataPlaneReport[])[], readonly number[]]>([
    ['again: nothing', [[WITHHELD], [WITHHELD]], [1, 0]],
    ['something else', [[WITHHELD], [report('withheld', `${REFUSES}, b`)]], [1, 1]],
    ['another container', [[WITHHELD], [report('withheld', REFUSES, 'uid-1/y')]], [1, 1]],
    ['not reached between', [[WITHHELD], [report('unreachable', 'x')], [WITHHELD]], [1, 0, 0]],
    ['in service between', [[WITHHELD], [report('synced')], [WITHHELD]], [1, 0, 1]],
    ['gone between', [[WITHHELD], [], [WITHHELD]], [1, 0, 1]],
    ['all is well', [[report('connecting')], [report('synced')]], [0, 0]],
  ])('%s', (_title, steps, expected) => {
    let reported: ReportedPods = new Map()
    const counts = steps.map((reports) => {
      const next = podEventsOf(reported, reports)
      reported = next.reported
      return next.events.length
    })
    expect(counts).toEqual(expected)
  })

  it('is reported by the leader', () => {
    const recorded: EventFacts[] = []
    const recorder = {
      record: (event: EventFacts) => recorded.push(event),
      start: () => undefined,
      stop: () => undefined,
      facts: { queued: 0, sent: 0, dropped: 0 },
    }
    const events = new StatusEvents(recorder, createManualClock())
    const status = { ...statusOf(), dataPlanes: [WITHHELD] }
    events.update(status)
    expect(recorded).toEqual([])
    events.lead()
    events.update(status)
    events.update(status)
    expect(recorded.map(({ regarding }) => regarding.name)).toEqual(['gw-1'])
  })
})
