// Operators that contend for one Lease in a simulated world, and who of them believed to lead when.

import { createLeaseLeadership } from '../../../../operator/kubernetes/leader-election/election.ts'
import type { LeaseLeadership } from '../../../../operator/kubernetes/leader-election/leadership.ts'
import { LEASE_FORMAT } from '../../../../operator/resource/lease-format.ts'
import type { EpochSource } from '../../../../operator/epoch.ts'
import { createSilentLog, type Log } from '../../../../telemetry/log.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { FakeLeases, type Travel } from './fake-leases.ts'
import { SimulatedProcess, SimulatedTime } from '../simulated-time.ts'

export interface Contender {
  readonly name: string
  readonly process: SimulatedProcess
  readonly leadership: LeaseLeadership
  /** What it has been told, oldest first. */
  readonly terms: { readonly beganMs: number; readonly epoch: number; endedMs?: number }[]
  /** While its leader term lasts, as far as it was told. */
  epochSource: EpochSource | undefined
}

export interface ContenderOptions {
  readonly rate?: number
  readonly travel?: () => Travel
  readonly log?: Log
  readonly times?: {
    readonly durationMs?: number
    readonly renewDeadlineMs?: number
    readonly retryMs?: number
  }
}

export class Contest {
  readonly time = new SimulatedTime()
  readonly leases = new FakeLeases(this.time)
  readonly contenders: Contender[] = []
  readonly random: () => number

  constructor(seed = 1) {
    this.random = seededRandom(seed)
  }

  async add(name: string, options: ContenderOptions = {}): Promise<Contender> {
    const { rate = 1, travel, log = createSilentLog(), times = {} } = options
    const process = new SimulatedProcess({ time: this.time, rate, random: this.random })
    const leadership = createLeaseLeadership({
      api: this.leases.for(process, travel),
      namespace: 'svc',
      name: 'lease',
      format: LEASE_FORMAT,
      identity: name,
      clock: process.clock,
      monotonicMs: process.monotonicMs,
      log,
      ...times,
    })
    const contender: Contender = { name, process, leadership, terms: [], epochSource: undefined }
    this.contenders.push(contender)
    await leadership.start({
      onLead: (epochSource) => {
        if (contender.epochSource !== undefined) throw new Error(`${name} was notified twice`)
        contender.epochSource = epochSource
        contender.terms.push({ beganMs: this.time.nowMs, epoch: epochSource.epoch('gateway') })
      },
      onLose: () => {
        if (contender.epochSource === undefined) throw new Error(`${name} lost what it had not`)
        contender.epochSource = undefined
        const term = contender.terms.at(-1)
        if (term !== undefined) term.endedMs = this.time.nowMs
      },
    })
    return contender
  }

  /** Those who may act at this moment, for all they know. */
  leaders(): readonly Contender[] {
    return this.contenders.filter(
      ({ epochSource, process }) =>
        epochSource !== undefined && !process.isFrozen && !process.isDead,
    )
  }

  async pass(ms: number, afterEach?: () => void): Promise<void> {
    await this.time.runUntil(this.time.nowMs + ms, afterEach)
  }

  /** Time passes until the promise has settled. */
  async during<T>(promise: Promise<T>): Promise<T> {
    const progress = { isDone: false }
    void promise.finally(() => {
      progress.isDone = true
    })
    for (let steps = 0; !progress.isDone && steps < 1000; steps += 1) await this.pass(100)
    return promise
  }
}
