import { afterEach, describe, expect, it } from '@jest/globals'
import type { Fleet, FleetOptions } from '../../../operator/fleet/fleet.ts'
import type { EpochSource } from '../../../operator/epoch.ts'
import { aDesiredSet, aDocument } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import type { FakeDataPlane } from '../../support/fake-data-plane.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  aFleet,
  allSynced,
  aPlane,
  closeAll,
  many,
  report,
  roundTrip,
  whileTimePasses,
} from './rig.ts'

afterEach(closeAll)

const tenureOf = (epoch: number): EpochSource => ({
  epoch: () => epoch,
  challenge: () => Promise.resolve(false),
})

const epochsOf = ({ calls }: FakeDataPlane): readonly number[] =>
  calls.flatMap(({ sync, status }) => (sync === undefined || status !== 200 ? [] : [sync.epoch]))

/** Wherever a fleet waits for something, or a data plane is about to do something, it passes here. */
class KillPoint {
  readonly #at: number
  #passed = 0
  /** By the fleet itself. */
  passedByFleet = 0
  kill: () => void = () => undefined

  constructor(at: number) {
    this.#at = at
  }

  get passed(): number {
    return this.#passed
  }

  pass(isFleet: boolean): void {
    this.#passed += 1
    if (isFleet) this.passedByFleet += 1
    if (this.#passed === this.#at) this.kill()
  }
}

const DESIRED = many(450)
/** What the one that comes after wants: less, other and more. */
const NEXT = aDesiredSet(
  [
    ...[...many(440).documents.values()].map((document) =>
      document.id < 'd0010' ? { ...document, digest: 'next' } : document,
    ),
    aDocument('more'),
  ],
  { version: 9 },
)

interface Scene {
  readonly fakes: readonly FakeDataPlane[]
  readonly point: KillPoint
  readonly first: Fleet
  /** When `stop()` of the first has resolved. */
  readonly stopped: Promise<undefined>
}

/** The first fleet at work on two data planes; it is stopped when the point is passed so often. */
const begin = async (at: number): Promise<Scene> => {
  const point = new KillPoint(at)
  const fakes = [await aPlane(), await aPlane()]
  for (const fake of fakes) {
    fake.onMoment = () => {
      point.pass(false)
    }
  }
  const stopped = Promise.withResolvers<undefined>()
  const state: { fleet?: Fleet; isDue: boolean } = { isDue: false }
  point.kill = () => {
    state.isDue = true
    if (state.fleet !== undefined) stopped.resolve(state.fleet.stop().then(() => undefined))
  }
  const { fleet: first } = aFleet(fakes, {
    credentials: async () => {
      point.pass(true)
      await Promise.resolve()
      point.pass(true)
      return { tls: {} }
    },
    onReport: () => {
      point.pass(true)
    },
    epochSource: {
      epoch: () => {
        point.pass(true)
        return 1
      },
      challenge: () => Promise.resolve(false),
    },
    timeoutMs: 10_000,
  })
  state.fleet = first
  if (state.isDue) point.kill()
  first.apply(DESIRED)
  return { fakes, point, first, stopped: stopped.promise }
}

describe('a fleet that is stopped', () => {
  it('passes many points at which that may happen', async () => {
    const { first, point } = await begin(Infinity)
    await allSynced(first)
    expect(point.passed).toBeGreaterThan(50)
  })

  it.each(Array.from({ length: 56 }, (_, i) => [i + 1]))(
    'at point %d sends nothing more, and the next one makes all right',
    async (at) => {
      const { fakes, point, first, stopped } = await begin(at)
      await stopped
      const passed = point.passedByFleet
      expect(first.reports()).toEqual([])
      const { fleet: second } = aFleet(fakes, {
        epochSource: tenureOf(2),
        pollMs: 10_000,
        timeoutMs: 10_000,
      })
      second.apply(NEXT)
      await allSynced(second)
      for (const fake of fakes) {
        expect(fake.complete).toBe(true)
        expect(new Map([...fake.specs].map(([id, { digest }]) => [id, digest]))).toEqual(
          new Map([...NEXT.documents].map(([id, { digest }]) => [id, digest])),
        )
        // What the first had on its way may still be refused, never be done, once the second is there.
        const epochs = epochsOf(fake)
        expect(epochs).toEqual(epochs.toSorted((left, right) => left - right))
        expect(fake.epoch).toBe(2)
      }
      // No credentials, epoch or report were asked for or sent on behalf of the first.
      expect(point.passedByFleet).toBe(passed)
    },
  )

  const never = (reached: () => void) => (): Promise<never> => {
    reached()
    return new Promise(() => undefined)
  }

  it.each<[string, (plane: FakeDataPlane, reached: () => void) => Partial<FleetOptions>]>([
    ['credentials that never come', (_, reached) => ({ credentials: never(reached) })],
    [
      'a response to a challenge that never comes',
      (plane, reached) => {
        plane.epoch = 5
        return { epochSource: { epoch: () => 1, challenge: never(reached) } }
      },
    ],
    [
      'a data plane that hangs',
      (plane, reached) => {
        plane.isHanging = true
        plane.onMoment = reached
        return {}
      },
    ],
    [
      'a live listing that never ends',
      (plane, reached) => {
        for (let i = 0; i < 30; i++) {
          plane.specs.set(`x${i}`, { digest: 'x', managedBy: 'svc-operator', warnings: [] })
        }
        return { confirmDeletes: never(reached) }
      },
    ],
  ])('while it waits for %s: at once', async (_name, prepare) => {
    const plane = await aPlane()
    const state = { isReached: false }
    const options = prepare(plane, () => {
      state.isReached = true
    })
    const clock = createManualClock()
    const { fleet } = aFleet([plane], { timeoutMs: 60_000, ...options, clock })
    fleet.apply(many(1))
    const expectReached = (): void => {
      expect(state.isReached).toBe(true)
    }
    await whileTimePasses(clock, expectReached, 30_000)
    const before = plane.calls.length
    await fleet.stop()
    expect(clock.pending).toBe(0)
    plane.isHanging = false
    await roundTrip(plane)
    expect(plane.calls.length).toBe(before + 1)
  })

  it('while backing off or polling: at once, and it tells nothing more', async () => {
    const [well, ill] = [await aPlane(), await aPlane()]
    await ill.close()
    const clock = createManualClock()
    const { fleet, reports } = aFleet([well, ill], { clock })
    fleet.apply(many(1))
    await eventually(() => {
      expect(fleet.reports().map(({ phase }) => phase)).toEqual(['synced', 'unreachable'])
    })
    expect(report(fleet, 1).ready).toBe(false)
    const before = reports.length
    await fleet.stop()
    expect([reports.length, clock.pending]).toEqual([before, 0])
  })
})
