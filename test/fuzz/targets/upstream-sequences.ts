// Bytes are a sequence of requests by several callers to an upstream that answers each as the bytes say: in pieces, cut
// off, with left-over bytes, too early. Each request ends once, with its own response, whole or not at all, and nothing
// of it is left.

import { setImmediate, setTimeout } from 'node:timers/promises'
import { MemoryBudget } from '../../../dataplane/memory/memory-budget.ts'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import { createPoolScope, type PoolScope } from '../../../dataplane/upstream/limiter.ts'
import { createUpstream } from '../../../dataplane/upstream/pooled-upstream.ts'
import type { Upstream } from '../../../dataplane/upstream/upstream.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import type { Checker, FuzzTarget, Random } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'
import { Caller } from '../sequences/caller.ts'
import { describeSequence } from '../sequences/describe.ts'
import { watchIntervals } from '../sequences/intervals.ts'
import { judge } from '../sequences/judge.ts'
import {
  planSequence,
  RECORD_BYTES,
  type RequestPlan,
  type SequencePlan,
} from '../sequences/plan.ts'
import { ScriptedUpstream } from '../sequences/scripted-upstream.ts'
import { after } from '../sequences/waits.ts'

/** Ticks of the event loop, of 10 ms at least, without any event: it hangs. A machine at a halt has none. */
const TICK_MS = 10
const HANGING_TICKS = 400
/** Of requests whose upstream stalls, and of all others. */
const STALLED_MS = 30
const PATIENT_MS = 600_000
const SHORT_BYTES = 200_000
/** What a client keeps of read buffers for later, and the size of the smaller ones. */
const MOST_KEPT_BYTES = 8 << 20
const READ_BYTES = 64 << 10
/** A list of deadlines needs some time to stop. */
const DEADLINES_EVERY = 50

interface Memories {
  readonly ample: MemoryBudget
  readonly short: MemoryBudget
}

class Sequences implements Checker {
  readonly #server: ScriptedUpstream
  readonly #memory: Memories
  readonly #upstreams: Readonly<Record<keyof Memories, Upstream>>
  readonly #openIntervals = watchIntervals()
  #sequence = 0

  constructor(server: ScriptedUpstream, extraCa: readonly string[]) {
    this.#server = server
    this.#memory = {
      ample: new MemoryBudget({ size: Infinity }),
      short: new MemoryBudget({ size: SHORT_BYTES }),
    }
    const open = (memory: MemoryBudget): Upstream =>
      createUpstream({ guard: createGuard(), memory, extraCa, maxAgeMs: 0 })
    this.#upstreams = { ample: open(this.#memory.ample), short: open(this.#memory.short) }
  }

  async check(input: Buffer): Promise<string> {
    const plan = planSequence(input)
    const kind = plan.isMemoryShort ? 'short' : 'ample'
    const run = new SequenceRun(plan, {
      server: this.#server,
      upstream: this.#upstreams[kind],
      prefix: `s${++this.#sequence}`,
    })
    try {
      const words = await run.all()
      await this.#checkNothingLeft(kind)
      return words
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${describeSequence(plan)}`, { cause: error })
    } finally {
      this.#server.closeConnections()
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#upstreams.ample.close(), this.#upstreams.short.close()])
    await this.#server.close()
  }

  async #checkNothingLeft(kind: keyof Memories): Promise<void> {
    const upstream = this.#upstreams[kind]
    this.#server.closeConnections()
    for (let turn = 0; upstream.stats().length > 0 || this.#server.open > 0; turn++) {
      if (turn > 2000)
        throw new Error(`left open: ${JSON.stringify(upstream.stats())} ${this.#server.open}`)
      await setImmediate()
    }
    const { held } = this.#memory[kind]
    if (held % READ_BYTES !== 0 || held < 0 || held > MOST_KEPT_BYTES)
      throw new Error(`left of memory: ${held}`)
    if (this.#sequence % DEADLINES_EVERY === 0) await this.#checkNoDeadlines()
  }

  async #checkNoDeadlines(): Promise<void> {
    for (let ticks = 0; this.#openIntervals() > 0; ticks++) {
      if (ticks > HANGING_TICKS) throw new Error('a deadline is left')
      await setTimeout(TICK_MS)
    }
  }
}

interface RunTools {
  readonly server: ScriptedUpstream
  readonly upstream: Upstream
  readonly prefix: string
}

class SequenceRun {
  readonly #plan: SequencePlan
  readonly #tools: RunTools
  readonly #scope: PoolScope
  readonly #pathOf: (number: number) => string
  readonly #callers: Caller[] = []
  readonly #faults: string[] = []
  #idleTicks = 0

  constructor(plan: SequencePlan, tools: RunTools) {
    this.#plan = plan
    this.#tools = tools
    this.#scope = createPoolScope(plan.poolSize)
    this.#pathOf = tools.server.begin(tools.prefix, plan.callers.flat())
  }

  async all(): Promise<string> {
    const watchdog = this.#startWatchdog()
    const all = Promise.all(this.#plan.callers.map((requests) => this.#sendAll([...requests])))
    try {
      await Promise.race([all, watchdog.hangs])
    } finally {
      watchdog.stop()
    }
    // What comes late comes now.
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    for (const caller of this.#callers) caller.check()
    const [fault] = [...this.#tools.server.faults, ...this.#faults]
    if (fault !== undefined) throw new Error(fault)
    if (this.#scope.size > 0) throw new Error('a slot of the pool is left in use')
    return this.#words()
  }

  #sendAll(requests: RequestPlan[]): Promise<void> {
    return new Promise((resolve) => {
      const sendNext = (): void => {
        const plan = requests.shift()
        if (plan === undefined) resolve()
        else
          this.#send(plan, () => {
            after(plan.caller.nextAfter, sendNext)
          })
      }
      sendNext()
    })
  }

  #send(plan: RequestPlan, then: () => void): void {
    const { server, upstream } = this.#tools
    const { turn } = server
    const caller = new Caller(plan, {
      onFault: (fault) => this.#faults.push(fault),
      onProgress: () => {
        this.#idleTicks = 0
        const [{ running } = { running: 0 }] = upstream.stats()
        if (running > this.#plan.poolSize) this.#faults.push(`${running} requests run at once`)
      },
      onOver: () => {
        const fault = judge(caller, {
          served: server.servedOf(plan.number),
          mayHaveMetClosing: server.mayHaveMet(turn),
        })
        if (fault !== undefined) this.#faults.push(`request ${plan.number} ${fault}`)
        then()
      },
    })
    this.#callers.push(caller)
    caller.send((request, sink) =>
      upstream.send(
        {
          ...request,
          origin: server.origin(this.#plan.isSecure),
          path: this.#pathOf(plan.number),
          connectTimeoutMs: PATIENT_MS,
          timeoutMs: plan.response.stalls ? STALLED_MS : PATIENT_MS,
          scope: this.#scope,
        },
        sink,
      ),
    )
  }

  #startWatchdog(): { readonly hangs: Promise<never>; stop(): void } {
    let timer: NodeJS.Timeout | undefined
    const hangs = new Promise<never>((_, reject) => {
      timer = setInterval(() => {
        if (++this.#idleTicks < HANGING_TICKS) return
        const open = this.#callers.filter(({ result }) => result === undefined)
        const numbers = open.map(({ plan }) => plan.number).join()
        const [fault = ''] = [...this.#tools.server.faults, ...this.#faults]
        reject(new Error(`it hangs: requests ${numbers} do not end. ${fault}`))
      }, TICK_MS)
    })
    return {
      hangs,
      stop: () => {
        clearInterval(timer)
      },
    }
  }

  #words(): string {
    const results = this.#callers.map(({ result }) =>
      typeof result === 'object' ? result.code : 'end',
    )
    return [...new Set(results)].sort().join()
  }
}

const MOST_REQUESTS = 10

/** Each sequence has its own share of zeros, the plain choices: without them no connection would live for long. */
const randomSequence = (random: Random): Buffer => {
  const plainness = random()
  const records = 2 + Math.floor(random() * MOST_REQUESTS)
  return Buffer.from(
    Array.from({ length: records * RECORD_BYTES }, () =>
      random() < plainness ? 0 : Math.floor(random() * 256),
    ),
  )
}

const plain = (first: number): Buffer => {
  const sequence = Buffer.alloc(5 * RECORD_BYTES)
  sequence[0] = first
  return sequence
}

export const upstreamSequences: FuzzTarget = {
  name: 'upstream-sequences',
  seeds: [plain(0), plain(1)],
  mutate: (input, random, pool) =>
    random() < 0.7
      ? randomSequence(random)
      : mutateBytes(input, { random, pool, maxBytes: 16 * RECORD_BYTES }),
  open: async () => {
    const ca = createCertificateAuthority('upstreams')
    const server = new ScriptedUpstream(ca.issue('upstream.test'))
    await server.listen()
    return new Sequences(server, [ca.cert])
  },
}
