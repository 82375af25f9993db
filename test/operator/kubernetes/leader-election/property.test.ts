// Whatever happens to candidates, network and API server: never two that act at a time, and who comes later is above
// who was before.

import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { Travel } from './fake-leases.ts'
import { type Contender, Contest } from './rig.ts'

const MISHAPS = ['freeze', 'outage', 'cut', 'kill', 'stop', 'jump', 'challenge', 'delete'] as const

interface Mishap {
  readonly what: (typeof MISHAPS)[number]
  readonly atMs: number
  readonly who: number
  /** Of a freeze, an outage, and of one that is cut off alone. */
  readonly forMs: number
}

interface Story {
  readonly seed: number
  /** Of the clocks of those who are there from the beginning. */
  readonly rates: readonly number[]
  /** Which part of the requests fails or is slow. */
  readonly failure: number
  readonly mishaps: readonly Mishap[]
}

const STORY_MS = 120_000
const CALM_MS = 60_000

const aStory = (kinds: readonly Mishap['what'][]): fc.Arbitrary<Story> =>
  fc.record({
    seed: fc.nat(2 ** 31 - 1),
    // 15 s by a clock that is 5 % too fast are longer than 10 s by one that is 5 % too slow.
    rates: fc.array(fc.double({ min: 0.95, max: 1.05, noNaN: true }), {
      minLength: 2,
      maxLength: 4,
    }),
    failure: fc.constantFrom(0, 0.1, 0.5),
    mishaps: fc.array(
      fc.record({
        what: fc.constantFrom(...kinds),
        atMs: fc.nat(STORY_MS),
        who: fc.nat(3),
        forMs: fc.oneof(
          fc.integer({ min: 100, max: 8_000 }),
          fc.integer({ min: 8_000, max: 40_000 }),
        ),
      }),
      { maxLength: 8 },
    ),
  })

interface Act {
  readonly name: string
  readonly epoch: number
}

class Telling {
  readonly acts: Act[] = []
  readonly #story: Story
  readonly #contest: Contest
  readonly #gone = new Set<Contender>()
  readonly #cutUntilMs = new Map<string, number>()

  constructor(story: Story) {
    this.#story = story
    this.#contest = new Contest(story.seed)
  }

  async run(): Promise<readonly Act[]> {
    const { rates, mishaps } = this.#story
    for (const [i, rate] of rates.entries()) await this.#join(`op${i}`, rate)
    for (const mishap of mishaps) {
      this.#contest.time.at(mishap.atMs, () => {
        this.#befall(mishap)
      })
    }
    await this.#contest.pass(STORY_MS + CALM_MS, () => {
      this.#expectLeaders(this.#contest.leaders().slice(0, 1))
    })
    const left = this.#contest.contenders.filter((each) => !this.#gone.has(each))
    if (left.length > 0 && this.#contest.leaders().length === 0) throw new Error('no replica leads')
    for (const { process } of this.#contest.contenders) process.kill()
    return this.acts
  }

  async #join(name: string, rate: number): Promise<void> {
    const contender = await this.#contest.add(name, { rate, travel: () => this.#travel(name) })
    this.#keepActing(contender)
  }

  /** A program that does something while it leads: it asks for the epoch, as every call to a data plane does. */
  #keepActing(contender: Contender): void {
    const { clock } = contender.process
    const act = (): void => {
      const { epochSource } = contender
      const epoch = epochSource?.epoch('gateway')
      if (epoch !== undefined && contender.epochSource === epochSource) {
        this.acts.push({ name: contender.name, epoch })
        this.#expectLeaders([contender])
      }
      clock.after(500 + this.#contest.random() * 2_000, act)
    }
    clock.after(0, act)
  }

  #expectLeaders(expected: readonly Contender[]): void {
    const names = (all: readonly Contender[]): string => all.map(({ name }) => name).join(' and ')
    const found = names(this.#contest.leaders())
    if (found !== names(expected)) {
      throw new Error(`at ${this.#contest.time.nowMs} lead ${found}, not ${names(expected)}`)
    }
  }

  #travel(name: string): Travel {
    const { random, time } = this.#contest
    const quick = { thereMs: random() * 50, backMs: random() * 50 }
    if (time.nowMs < (this.#cutUntilMs.get(name) ?? 0)) return { ...quick, fate: 'lost_there' }
    if (time.nowMs > STORY_MS || random() >= this.#story.failure) return quick
    const kinds: readonly Travel[] = [
      { ...quick, fate: 'lost_there' },
      { ...quick, fate: 'lost_back' },
      { ...quick, fate: 500 },
      { ...quick, fate: 429 },
      { ...quick, thereMs: random() * 4_000, backMs: random() * 4_000 },
      // Given up long before it is carried out.
      { ...quick, thereMs: random() * 60_000 },
      { ...quick, backMs: random() * 60_000 },
    ]
    return kinds[Math.floor(random() * kinds.length)] ?? quick
  }

  #befall({ what, who, forMs }: Mishap): void {
    const { contenders, leases, time, random } = this.#contest
    // It is the leader whom it matters for.
    const [leader] = this.#contest.leaders()
    const contender = who < 2 && leader !== undefined ? leader : contenders[who % contenders.length]
    if (contender === undefined || this.#gone.has(contender)) return
    const { process, epochSource } = contender
    const happen = {
      freeze: () => {
        process.freeze()
        time.at(time.nowMs + forMs, () => {
          process.thaw()
        })
      },
      outage: () => {
        leases.pausedUntilMs = time.nowMs + forMs
      },
      cut: () => {
        this.#cutUntilMs.set(contender.name, time.nowMs + forMs)
      },
      kill: () => {
        this.#gone.add(contender)
        process.kill()
        void this.#join(`${contender.name}+`, 1)
      },
      stop: () => {
        process.deliver(() => {
          this.#gone.add(contender)
          contender.epochSource = undefined
          void contender.leadership.stop()
        })
      },
      jump: () => {
        process.wallOffsetMs += (random() - 0.5) * 100_000
      },
      challenge: () => {
        process.deliver(() => {
          void epochSource?.challenge(
            epochSource.epoch('gateway') + Math.floor(random() * 5),
            'gateway',
          )
        })
      },
      delete: () => {
        leases.remove()
      },
    } satisfies Record<Mishap['what'], () => void>
    happen[what]()
  }
}

it('never two act at a time, and who comes later is above who was before', async () => {
  const kinds = MISHAPS.filter((what) => what !== 'delete')
  await fc.assert(
    fc.asyncProperty(aStory(kinds), async (story) => {
      let last: Act = { name: '', epoch: 0 }
      for (const act of await new Telling(story).run()) {
        expect(act.epoch).toBeGreaterThanOrEqual(last.epoch + (act.name === last.name ? 0 : 1))
        last = act
      }
    }),
    { numRuns: 40 },
  )
}, 120_000)

it('never two act at a time, also when the Lease is deleted again and again', async () => {
  await fc.assert(
    fc.asyncProperty(aStory([...MISHAPS, 'delete', 'delete']), async (story) => {
      expect((await new Telling(story).run()).length).toBeGreaterThanOrEqual(0)
    }),
    { numRuns: 40 },
  )
}, 120_000)
