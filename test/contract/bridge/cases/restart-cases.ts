// A router that is restarted while requests come, fifty a second, from before its first session on: what comes while a
// session is being opened gets a response; what comes in the back-off after a failed attempt fails at once.

import type { Perform } from '../../../../dataplane/actions/performer.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Probe } from '../../../dataplane/actions/exchange-probe.ts'
import { exchangeOf, worldOf } from '../../../dataplane/actions/wamp/wamp-fixture.ts'
import type { BridgeCase } from '../bridge-case.ts'
import type { LinkPhase } from '../bridge-rig.ts'

const EVERY_MS = 20
const ENOUGH = 10
/** Longer than any router takes to start. */
const PATIENCE_MS = 60_000

export const RESTART_CASES: readonly BridgeCase[] = [
  {
    name: 'a restart at 50 requests a second fails what was sent, and what comes during back-off',
    same: {
      beforeTheFirstSession: ['answered'],
      afterTheLoss: ['answered'],
      duringBackOff: ['wamp.error.net_failure at once'],
      afterIt: ['answered'],
      cutOff: [],
    },
    run: async ({ bridge, router }) => {
      using requests = new Requests()
      const { client } = await bridge({ join: false, onPhase: requests.turn })
      const { perform } = worldOf(
        { type: 'wamp_call', procedure: 'wamp.session.count' },
        { client, poolSize: 10_000 },
        { timeout: PATIENCE_MS, connect_timeout: PATIENCE_MS },
      )
      requests.start(perform)
      await requests.until('open 1', ENOUGH)
      await router.stop({ kill: true })
      await requests.until('back-off 1', ENOUGH)
      await router.restart()
      await requests.until('open 2', ENOUGH)
      return {
        beforeTheFirstSession: await requests.outcomes(/^opening 0$/),
        afterTheLoss: await requests.outcomes(/^opening 1$/),
        duringBackOff: await requests.outcomes(/^back-off/),
        afterIt: await requests.outcomes(/^open 2$/),
        // What was sent to the router that went: answered, or lost with it.
        cutOff: (await requests.outcomes(/^open 1$/)).filter(
          (outcome) => !['answered', 'wamp.error.net_failure'].includes(outcome),
        ),
      }
    },
  },
]

interface Asked {
  /** In which it came, with the number of sessions until then. */
  readonly phase: string
  readonly exchange: Probe
  readonly isAtOnce: boolean
}

class Requests implements Disposable {
  readonly #asked: Asked[] = []
  #phase: LinkPhase = 'opening'
  #sessions = 0
  #perform: Perform | undefined
  #timer: NodeJS.Timeout | undefined

  readonly turn = (phase: LinkPhase): void => {
    if (phase === 'open') this.#sessions++
    this.#phase = phase
    // However slow the machine is, somebody comes in each of them.
    setImmediate(() => {
      if (this.#phase === phase) this.#ask()
    })
  }

  start(perform: Perform): void {
    this.#perform = perform
    this.#ask()
    this.#timer = setInterval(() => {
      this.#ask()
    }, EVERY_MS)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#perform = undefined
  }

  until(phase: string, count: number): Promise<void> {
    return eventually(
      () => {
        const now = this.#asked.filter((each) => each.phase === phase).length
        if (now < count) throw new Error(`${now} requests came in ${phase}`)
      },
      { withinMs: PATIENCE_MS },
    )
  }

  /** Each once; resolves when all of that phase are there. */
  outcomes(phase: RegExp): Promise<readonly string[]> {
    return eventually(() => {
      const some = this.#asked.filter((each) => phase.test(each.phase))
      return [...new Set(some.map(outcomeOf))]
    })
  }

  #ask(): void {
    if (this.#perform === undefined) return
    const exchange = exchangeOf()
    const phase = `${this.#phase} ${this.#sessions}`
    this.#perform(exchange)
    this.#asked.push({ phase, exchange, isAtOnce: exchange.failures.length > 0 })
  }
}

const outcomeOf = ({ exchange, isAtOnce }: Asked): string => {
  const [failure] = exchange.failures
  if (failure !== undefined) return failure.error_uri + (isAtOnce ? ' at once' : '')
  if (exchange.results.length === 0) throw new Error('one is not answered yet')
  return 'answered'
}
