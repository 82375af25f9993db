// Data planes that are fakes on loopback, and a fleet that brings them into line: what tests of the fleet
// start from. Everything it opens is closed by `closeAll`.

import assert from 'node:assert/strict'
import type { DataPlane, DataPlaneReport, DataPlanes } from '../../../operator/data-plane.ts'
import type { DesiredSet } from '../../../operator/desired-set.ts'
import { type Clock, SYSTEM_CLOCK } from '../../../base/clock.ts'
import { Fleet, type FleetOptions } from '../../../operator/fleet/fleet.ts'
import { staticDataPlanes } from '../../../operator/fleet/static-data-planes.ts'
import { startEpoch } from '../../../operator/epoch.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { aDesiredSet, aDocument } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import { FakeDataPlane } from '../../support/fake-data-plane.ts'
import type { ManualClock } from '../../support/manual-clock.ts'

const closing: (() => PromiseLike<void>)[] = []

export const closeAll = async (): Promise<void> => {
  for (const close of closing.splice(0).reverse()) await close()
}

export const closeLater = (close: () => PromiseLike<void>): void => {
  closing.push(close)
}

export const aPlane = async (...how: Parameters<typeof FakeDataPlane.start>) => {
  const plane = await FakeDataPlane.start(...how)
  closeLater(() => plane.close())
  return plane
}

export const planes = (count: number): Promise<readonly FakeDataPlane[]> =>
  Promise.all(Array.from({ length: count }, () => aPlane()))

/** Waits are short, whatever was asked; `now` is real. */
export const HASTY: Clock = {
  ...SYSTEM_CLOCK,
  after: (ms, callback) => SYSTEM_CLOCK.after(Math.min(ms, 20), callback),
}

/** Checks until it passes; before each look `stepMs` go by on a clock that else stands still. */
export const whileTimePasses = (
  clock: ManualClock,
  check: () => void,
  stepMs = 25,
): Promise<void> =>
  eventually(
    () => {
      clock.advance(stepMs)
      check()
    },
    { withinMs: 15_000, everyMs: 5 },
  )

/** Is back when all has arrived that was sent to it before. */
export const roundTrip = async ({ url }: FakeDataPlane): Promise<void> => {
  const response = await fetch(`${url}/api_specs?view=state`)
  await response.text()
}

/** Of a response that does not come. */
export const NEVER = new Promise<never>(() => undefined)

export interface FleetRig {
  readonly fleet: Fleet
  readonly reports: DataPlaneReport[]
}

export const aFleet = (
  fakes: readonly FakeDataPlane[],
  more: Partial<FleetOptions> = {},
): FleetRig => {
  const reports: DataPlaneReport[] = []
  const fleet = new Fleet({
    dataPlanes: staticDataPlanes(fakes.map(({ url }) => url)),
    manager: 'svc-operator',
    epochSource: startEpoch(() => Date.now()),
    credentials: () => Promise.resolve({ tls: {} }),
    log: createSilentLog(),
    onReport: (report) => reports.push(report),
    confirmDeletes: () => Promise.resolve(true),
    clock: HASTY,
    pollMs: 20,
    // A test of a time-out says so: all else holds however slow the machine is.
    timeoutMs: 20_000,
    ...more,
  })
  fleet.start()
  closeLater(() => fleet.stop())
  return { fleet, reports }
}

/** Data planes as a test tells them, one list after the other. */
export class ToldDataPlanes implements DataPlanes {
  #onChange: ((dataPlanes: readonly DataPlane[]) => void) | undefined

  #isTold = false

  start(onChange: (dataPlanes: readonly DataPlane[]) => void): void {
    this.#onChange = onChange
  }

  synced(): boolean {
    return this.#isTold
  }

  stop(): void {
    this.#onChange = undefined
  }

  tell(dataPlanes: readonly DataPlane[]): void {
    this.#isTold = true
    this.#onChange?.(dataPlanes)
  }
}

export const named = (
  name: string,
  { url }: FakeDataPlane,
  more: Partial<DataPlane> = {},
): DataPlane => ({ name, url, labels: {}, ...more })

export const report = (fleet: Fleet, index = 0): DataPlaneReport => {
  const found = fleet.reports()[index]
  if (found === undefined) throw new Error('no such data plane')
  return found
}

export const synced = (fleet: Fleet, index = 0): Promise<void> =>
  eventually(
    () => {
      const { phase, ready, message } = report(fleet, index)
      assert.deepEqual({ phase, ready, message }, { phase: 'synced', ready: true, message: '' })
    },
    { withinMs: 15_000, everyMs: 5 },
  )

export const allSynced = (fleet: Fleet): Promise<void> =>
  eventually(
    () => {
      const phases = fleet.reports().map(({ phase }) => phase)
      assert.deepEqual(
        phases,
        phases.map(() => 'synced'),
      )
    },
    { withinMs: 15_000, everyMs: 5 },
  )

export const many = (count: number, version = 1): DesiredSet =>
  aDesiredSet(
    Array.from({ length: count }, (_, i) => aDocument(`d${String(i).padStart(4, '0')}`)),
    { version },
  )

/** The next desired set: what is not named stays the same object. */
export const edited = (
  before: DesiredSet,
  ...documents: readonly ReturnType<typeof aDocument>[]
): DesiredSet => ({
  ...before,
  version: before.version + 1,
  documents: new Map([
    ...before.documents,
    ...documents.map((document) => [document.id, document] as const),
  ]),
})

/** Ids put, call by call. */
export const putsOf = ({ syncs }: FakeDataPlane): readonly (readonly string[])[] =>
  syncs.map(({ specs }) => specs?.put?.map(({ id }) => id) ?? []).filter((ids) => ids.length > 0)
