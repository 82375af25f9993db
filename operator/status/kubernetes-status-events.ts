// Records Events for what each new status of the operator changes about resources and data planes, while it leads.

import type { Clock } from '../../base/clock.ts'
import type { OperatorStatus } from '../controller/controller.ts'
import { changedKeys } from '../edited-map.ts'
import type { EventRecorder } from '../kubernetes/events/recorder.ts'
import {
  eventsOf,
  REFERENCES_GRACE_MS,
  type Reported,
  reportedBefore,
} from './kubernetes-events.ts'
import { podEventsOf, type ReportedPods } from './pod-events.ts'

const NO_PODS: ReportedPods = new Map()

const NO_RESOURCES: OperatorStatus['resources'] = new Map()

type Recorder = Pick<EventRecorder, 'record' | 'start' | 'stop'>

/** Starts and stops the recorder too. */
export class StatusEvents {
  readonly #recorder: Recorder
  readonly #clock: Pick<Clock, 'now' | 'after'>
  readonly #reported = new Map<string, Reported>()
  #isLeading = false
  #resources = NO_RESOURCES
  #pods = NO_PODS
  #cancelNext: (() => void) | undefined

  constructor(recorder: Recorder, clock: Pick<Clock, 'now' | 'after'>) {
    this.#recorder = recorder
    this.#clock = clock
  }

  /** Call it after every change. Nothing is recorded while another operator leads. */
  update({ isReady, resources, dataPlanes }: OperatorStatus): void {
    if (!this.#isLeading || !isReady) return
    const changed = changedKeys(this.#resources, resources)
    this.#resources = resources
    for (const key of changed) this.#record(key)
    const { events, reported } = podEventsOf(this.#pods, dataPlanes)
    for (const event of events) this.#recorder.record(event)
    this.#pods = reported
  }

  /** Our leader term begins: what the statuses in the API say was reported by an earlier leader. */
  lead(): void {
    this.#forget()
    this.#isLeading = true
    this.#recorder.start()
  }

  follow(): void {
    this.#forget()
    this.#isLeading = false
    this.#recorder.stop()
  }

  #record(key: string): void {
    const status = this.#resources.get(key)
    if (status === undefined) {
      this.#reported.delete(key)
      return
    }
    const before = this.#reported.get(key) ?? reportedBefore(status.result.resource)
    const { events, reported } = eventsOf(before, status, this.#clock.now())
    this.#reported.set(key, reported)
    for (const event of events) this.#recorder.record(event)
    if (reported.waiting !== undefined) this.#recordLater()
  }

  /** One timer serves all that wait: each is looked at again after at most twice its grace period. */
  #recordLater(): void {
    this.#cancelNext ??= this.#clock.after(REFERENCES_GRACE_MS, () => {
      this.#cancelNext = undefined
      for (const [key, { waiting }] of [...this.#reported])
        if (waiting !== undefined) this.#record(key)
    })
  }

  #forget(): void {
    this.#cancelNext?.()
    this.#cancelNext = undefined
    this.#reported.clear()
    this.#resources = NO_RESOURCES
    this.#pods = NO_PODS
  }
}
