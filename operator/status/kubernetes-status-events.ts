// The status of the operator, again and again, in; an Event for what is new of a resource or a data plane out.

import type { OperatorStatus } from '../controller/controller.ts'
import type { EventRecorder } from '../kubernetes/event-recorder.ts'
import type { ResourceStatus } from '../reconcile/status-book.ts'
import { eventsOf, type Told, toldBefore } from './kubernetes-events.ts'
import { podEventsOf, type ToldPods } from './pod-events.ts'

export interface StatusEvents {
  /** After every change. Nothing is told of while another operator leads. */
  update(status: OperatorStatus): void
  /** Our turn begins: what stands in the API was told by whoever led before. */
  start(): void
  stop(): void
}

interface Seen {
  readonly status: ResourceStatus
  readonly told: Told
}

/** Starts and stops the recorder too. */
export const createStatusEvents = (recorder: EventRecorder): StatusEvents => {
  const state = { isLeading: false, seen: new Map<string, Seen>(), pods: NO_PODS }
  return {
    update: ({ isReady, resources, dataPlanes }) => {
      if (!state.isLeading || !isReady) return
      const seen = new Map<string, Seen>()
      for (const [key, status] of resources) {
        const before = state.seen.get(key)
        seen.set(key, before?.status === status ? before : look(recorder, before?.told, status))
      }
      state.seen = seen
      const { events, told } = podEventsOf(state.pods, dataPlanes)
      for (const event of events) recorder.record(event)
      state.pods = told
    },
    start: () => {
      state.isLeading = true
      state.seen = new Map()
      state.pods = NO_PODS
      recorder.start()
    },
    stop: () => {
      state.isLeading = false
      state.seen = new Map()
      state.pods = NO_PODS
      recorder.stop()
    },
  }
}

const NO_PODS: ToldPods = new Map()

const look = (recorder: EventRecorder, before: Told | undefined, status: ResourceStatus): Seen => {
  const { events, told } = eventsOf(before ?? toldBefore(status.verdict.resource), status)
  for (const event of events) recorder.record(event)
  return { status, told }
}
