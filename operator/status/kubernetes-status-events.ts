// Turns each new status of the operator into Events of what is new of a resource or a data plane.

import type { Clock } from '../../base/clock.ts'
import type { OperatorStatus } from '../controller/controller.ts'
import { changedKeys } from '../edited-map.ts'
import type { EventRecorder } from '../kubernetes/events/recorder.ts'
import { eventsOf, REFERENCES_GRACE_MS, type Told, toldBefore } from './kubernetes-events.ts'
import { podEventsOf, type ToldPods } from './pod-events.ts'

export interface StatusEvents {
  /** After every change. Nothing is told of while another operator leads. */
  update(status: OperatorStatus): void
  /** Our leader term begins: what stands in the API was told by whoever led before. */
  start(): void
  stop(): void
}

/** Starts and stops the recorder too. */
export const createStatusEvents = (
  recorder: EventRecorder,
  clock: Pick<Clock, 'now' | 'after'>,
): StatusEvents => new Teller(recorder, clock)

const NO_PODS: ToldPods = new Map()

const NO_RESOURCES: OperatorStatus['resources'] = new Map()

class Teller implements StatusEvents {
  readonly #recorder: EventRecorder
  readonly #clock: Pick<Clock, 'now' | 'after'>
  readonly #told = new Map<string, Told>()
  #isLeading = false
  #resources = NO_RESOURCES
  #pods = NO_PODS
  #cancelNext: (() => void) | undefined

  constructor(recorder: EventRecorder, clock: Pick<Clock, 'now' | 'after'>) {
    this.#recorder = recorder
    this.#clock = clock
  }

  update({ isReady, resources, dataPlanes }: OperatorStatus): void {
    if (!this.#isLeading || !isReady) return
    const changed = changedKeys(this.#resources, resources)
    this.#resources = resources
    for (const key of changed) this.#look(key)
    const { events, told } = podEventsOf(this.#pods, dataPlanes)
    for (const event of events) this.#recorder.record(event)
    this.#pods = told
  }

  start(): void {
    this.#forget()
    this.#isLeading = true
    this.#recorder.start()
  }

  stop(): void {
    this.#forget()
    this.#isLeading = false
    this.#recorder.stop()
  }

  #look(key: string): void {
    const status = this.#resources.get(key)
    if (status === undefined) {
      this.#told.delete(key)
      return
    }
    const before = this.#told.get(key) ?? toldBefore(status.verdict.resource)
    const { events, told } = eventsOf(before, status, this.#clock.now())
    this.#told.set(key, told)
    for (const event of events) this.#recorder.record(event)
    if (told.waiting !== undefined) this.#lookLater()
  }

  /** One timer for all that wait: each is looked at again no later than twice its grace. */
  #lookLater(): void {
    this.#cancelNext ??= this.#clock.after(REFERENCES_GRACE_MS, () => {
      this.#cancelNext = undefined
      for (const [key, { waiting }] of [...this.#told]) if (waiting !== undefined) this.#look(key)
    })
  }

  #forget(): void {
    this.#cancelNext?.()
    this.#cancelNext = undefined
    this.#told.clear()
    this.#resources = NO_RESOURCES
    this.#pods = NO_PODS
  }
}
