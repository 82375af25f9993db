// The status of the operator, again and again, in; an Event for what is new of a resource or a data plane out.

import type { OperatorStatus } from '../controller/controller.ts'
import { changedKeys } from '../edited-map.ts'
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

/** Starts and stops the recorder too. */
export const createStatusEvents = (recorder: EventRecorder): StatusEvents => {
  const state = { isLeading: false, resources: NO_RESOURCES, pods: NO_PODS }
  const seen = new Map<string, Told>()
  return {
    update: ({ isReady, resources, dataPlanes }) => {
      if (!state.isLeading || !isReady) return
      for (const key of changedKeys(state.resources, resources)) {
        const status = resources.get(key)
        if (status === undefined) seen.delete(key)
        else seen.set(key, look(recorder, seen.get(key), status))
      }
      state.resources = resources
      const { events, told } = podEventsOf(state.pods, dataPlanes)
      for (const event of events) recorder.record(event)
      state.pods = told
    },
    start: () => {
      state.isLeading = true
      seen.clear()
      state.resources = NO_RESOURCES
      state.pods = NO_PODS
      recorder.start()
    },
    stop: () => {
      state.isLeading = false
      seen.clear()
      state.resources = NO_RESOURCES
      state.pods = NO_PODS
      recorder.stop()
    },
  }
}

const NO_PODS: ToldPods = new Map()

const NO_RESOURCES: OperatorStatus['resources'] = new Map()

const look = (recorder: EventRecorder, before: Told | undefined, status: ResourceStatus): Told => {
  const { events, told } = eventsOf(before ?? toldBefore(status.verdict.resource), status)
  for (const event of events) recorder.record(event)
  return told
}
